import Ajv2020 from 'ajv/dist/2020';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { toolsOf } from '#src/mcp/tools/index.ts';
import { inputSchema, outputSchema } from '#src/mcp/schemas.ts';
import type { Surface } from '#src/mcp/tool.ts';
import { createWorld } from './kit.ts';

/** By name, as the contract has them. */
const NAMES = [
  'service_add_datastore',
  'service_commit_files',
  'service_create_project',
  'service_create_repo',
  'service_db_query',
  'service_deploy',
  'service_get_skill',
  'service_list_projects',
  'service_list_repos',
  'service_logs',
  'service_operation',
  'service_rollback',
  'service_scale',
  'service_set_env',
  'service_status',
];
const SURFACES: Surface[] = ['stdio', 'http'];
const TOOLS = SURFACES.flatMap((surface) =>
  toolsOf(surface).map((tool) => [`${tool.name} (${surface})`, tool] as const),
);

test.each(SURFACES)('the tools over %s are those of the contract', (surface) => {
  expect(
    toolsOf(surface)
      .map((tool) => tool.name)
      .sort(),
  ).toEqual(NAMES);
});

const { call } = createWorld();
const { body: document } = await call('GET /v1/openapi', { token: null });
const capabilities = new Map(
  Object.values(document.paths as Record<string, Record<string, Record<string, string>>>)
    .flatMap((methods) => Object.values(methods))
    .map((operation) => [operation['operationId'], operation['x-capability']]),
);

test.each(TOOLS)('%s needs the capability of its operation', (_name, tool) => {
  expect(capabilities.get(tool.operationId)).toBe(tool.capability);
});

test.each(TOOLS)('%s says in few words what it does', (_name, tool) => {
  expect(tool.description.length).toBeGreaterThan(80);
  expect(tool.description.length).toBeLessThan(1000);
  expect(tool.description).toEndWith('.');
  for (const name of tool.description.match(/service_[a-z_]+/g) ?? [])
    expect([...NAMES, 'service_url']).toContain(name);
});

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictTypes: false, strictRequired: false });

test.each(TOOLS)(
  '%s has schemas that any validator takes, and whose input names no alternative at its root',
  (_name, tool) => {
    const input = inputSchema(tool);
    const output = outputSchema(tool);
    expect(ajv.compile(input)).toBeFunction();
    const valid = ajv.compile(output);
    expect(input.anyOf).toBeUndefined();
    expect(input['additionalProperties']).toBe(false);
    const error = { code: 'NOT_FOUND', message: 'no', hint: 'yes', retryable: false };
    expect(valid({ error })).toBe(true);
    if (tool.output.required !== undefined && tool.output.required.length > 0) expect(valid({})).toBe(false);
  },
);

test('whatever only reads says so, and nothing that reads destroys', () => {
  const reading = toolsOf('stdio').filter((tool) => tool.hints.readOnly === true);
  expect(reading.map((tool) => tool.name).sort()).toEqual([
    'service_get_skill',
    'service_list_projects',
    'service_list_repos',
    'service_logs',
    'service_operation',
    'service_status',
  ]);
  expect(reading.filter((tool) => tool.hints.destructive === true || tool.dryRun)).toEqual([]);
});

test('docs/mcp.md lists them with their capabilities', async () => {
  const text = await Bun.file(join(import.meta.dir, '../../docs/mcp.md')).text();
  const rows = [...text.matchAll(/^\| `(service_\w+)` \|.*\| (?:`(\w+)`|none) \|$/gm)];
  expect(rows.map(([, name, capability = 'public']) => `${name} ${capability}`)).toEqual(
    toolsOf('http').map((tool) => `${tool.name} ${tool.capability}`),
  );
});

test('whoami says what the token of the request may do', async () => {
  const world = createWorld();
  const { secret, id } = await world.mint(['read', 'deploy'], ['shop']);
  expect((await world.call('GET /v1/whoami', { token: secret })).body).toEqual({
    token_id: id,
    principal: 'someone',
    capabilities: ['read', 'deploy'],
    projects: ['shop'],
    expires_at: null,
  });
});
