import { expect, test } from 'bun:test';
import { ERROR_CODES, BerthError } from '#kernel/errors';
import { CAPABILITIES } from '#kernel/scope';
import { DEFAULT_CONFIG } from '#kernel/config';
import { ALWAYS_EXCLUDED } from '#kernel/source-rules';
import { PHASES } from '#modules/operations';
import { COMMAND_NAMES } from '#cli/commands/index';
import { createWorld } from './world.ts';

const world = createWorld();
const guide = await world.call('GET /skill.md', { token: null });

/** Rows of the table whose heading begins with `heading`, as cells. */
const tableAfter = (heading: string): string[][] => {
  const section = guide.text.split(`\n## ${heading}`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
};

test('it is served without a token, with its version', () => {
  expect(guide.status).toBe(200);
  expect(guide.headers.get('x-service-skill-version')).toBe('v0.1');
  expect(guide.headers.get('content-type')).toStartWith('text/markdown');
});

test('a version can be pinned, and an unknown one is refused', async () => {
  expect((await world.call('GET /skill.md?v=1', { token: null })).text).toBe(guide.text);
  const unknown = await world.call('GET /skill.md?v=2', { token: null });
  expect([unknown.status, unknown.body.code]).toEqual([400, 'INVALID_INPUT']);
});

test('the address under which it was asked for is filled in', async () => {
  expect(guide.text).toContain('export SERVICE_ENDPOINT=http://berth.test\n');
  expect(guide.text).not.toContain('{base_url}');
  const behindTls = await world.call('GET /skill.md', { token: null, headers: { 'x-forwarded-proto': 'https' } });
  expect(behindTls.text).toContain('https://berth.test/v1/openapi');
});

test('every error code is explained, with its status', () => {
  const rows = new Map(
    tableAfter('Errors').map(([code = '', status = '', ...rest]) => [code, { status: Number(status), rest }]),
  );
  expect([...rows.keys()].sort()).toEqual([...ERROR_CODES].sort());
  for (const code of ERROR_CODES) {
    expect(rows.get(code)?.status).toBe(new BerthError(code, '', { hint: '' }).httpStatus);
    expect(rows.get(code)?.rest.every((cell) => cell.length > 5)).toBe(true);
  }
});

test('every capability is explained', () => {
  const named = tableAfter('Tokens').flatMap(([names = '']) => names.split(', '));
  expect(named.sort()).toEqual([...CAPABILITIES].sort());
});

test('the list of operations is the list of routes', async () => {
  const { body } = await world.call('GET /v1/openapi');
  const routes = Object.entries(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => `${operation.operationId} ${method.toUpperCase()} ${path}`),
  );
  const named = tableAfter('All operations').map(
    ([id = '', request = '']) => `${id} ${request.replace('?confirm=true', '')}`,
  );
  expect(named.sort()).toEqual(routes.filter((route) => !route.startsWith('getDocsFile')).sort());
});

test('every path in an example is one that the API has', () => {
  const text = guide.text.replaceAll('"$P', '"$SERVICE_ENDPOINT/v1/projects/shop');
  const paths = [...text.matchAll(/\$SERVICE_ENDPOINT(\/[^"?\s]*)/g)].map(([, path = '']) =>
    path.replace('op_...', 'op_1'),
  );
  expect(paths.length).toBeGreaterThan(15);
  const templates = world.app.routes.map(
    (route) => new RegExp(`^${route.path.replaceAll(/:[a-z]+/g, '[^/]+').replaceAll('.', '\\.')}$`),
  );
  expect(paths.filter((path) => !templates.some((template) => template.test(path)))).toEqual([]);
});

test('phases, exclusions, limits and commands are those of the code', () => {
  for (const phase of PHASES) expect(guide.text).toContain(`\`${phase}\``);
  for (const name of ALWAYS_EXCLUDED) expect(guide.text).toContain(`\`${name}\``);
  expect(guide.text).toContain(`| services per project | ${DEFAULT_CONFIG.quotaServices} `);
  expect(guide.text).toContain(`| replicas per service | ${DEFAULT_CONFIG.quotaReplicas} `);
  expect(guide.text).toContain(`| requests | ${DEFAULT_CONFIG.rateLimitPerMinute} a minute`);
  expect(guide.text).toContain(`${DEFAULT_CONFIG.maxUploadBytes / 1024 / 1024} MB`);
  expect(guide.text).toContain(`${DEFAULT_CONFIG.buildTimeoutSeconds / 60} minutes`);
  const commands = [...guide.text.matchAll(/^berth ([a-z]+)/gm)].map(([, name = '']) => name);
  expect(commands.length).toBeGreaterThan(2);
  expect(commands.filter((name) => !COMMAND_NAMES.includes(name))).toEqual([]);
});
