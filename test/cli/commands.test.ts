import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, statSync } from 'node:fs';
import { ContractServer, json, operation, refusal, sse } from './support/api.ts';
import { Home, type RunOptions } from './support/cli.ts';

let home: Home;
let api: ContractServer;
beforeEach(() => {
  home = new Home();
  api = new ContractServer();
});
afterEach(async () => {
  await api.stop();
  home.remove();
});

const run = (args: readonly string[], options: RunOptions = {}) =>
  home.run(args, { ...options, env: { SERVICE_ENDPOINT: api.url, SERVICE_TOKEN: 'brt_test', ...options.env } });

const lines = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);

const PROJECTS = {
  projects: [{ name: 'shop', state: 'active', created_at: '2026-11-01T00:00:00.000Z', created_by: 'me' }],
  next_cursor: null,
};

const ACCEPTED = {
  operation_id: 'op_1',
  stream_url: '/v1/operations/op_1/stream',
  service_url: 'http://web--shop.localhost',
};
const DONE = { id: 3, event: 'done', data: { status: 'succeeded', error: null, result: {} } };

test('without a terminal the reply is JSON on stdout, and stderr is empty', async () => {
  api.on('GET /v1/projects', json(PROJECTS));
  expect(await run(['projects', 'ls'])).toEqual({ code: 0, stdout: `${JSON.stringify(PROJECTS)}\n`, stderr: '' });
  expect(api.seen[0]?.headers.get('authorization')).toBe('Bearer brt_test');
  expect(api.seen[0]?.headers.get('user-agent')).toMatch(/^berth\/\d/);
});

test('--no-json gives text; an empty list says so on stderr only', async () => {
  api.on('GET /v1/projects', json(PROJECTS), json({ projects: [], next_cursor: null }));
  const full = await run(['projects', '--no-json']);
  expect(full.stdout).toMatch(/^PROJECT +STATE +AGE +BY\nshop +active +\d+d +me\n$/);
  const empty = await run(['projects', 'ls', '--no-json']);
  expect(empty).toEqual({ code: 0, stdout: '', stderr: 'no project yet: berth projects create <name>\n' });
});

test('a refusal is the error object on stderr, and exit code 1', async () => {
  const body = {
    code: 'CONFLICT',
    message: 'nothing to roll back to',
    hint: 'deploy first',
    retryable: false,
  } as const;
  api.on('POST /v1/projects/shop/services/web/rollback', refusal(409, body));
  const ran = await run(['rollback', '-p', 'shop', '-s', 'web']);
  expect({ ...ran, stderr: JSON.parse(ran.stderr) as unknown }).toEqual({ code: 1, stdout: '', stderr: body });
  const text = await run(['rollback', '-p', 'shop', '-s', 'web', '--no-json']);
  expect(text).toEqual({
    code: 1,
    stdout: '',
    stderr: 'error: nothing to roll back to (CONFLICT)\nhint: deploy first\n',
  });
});

test.each([
  [['stauts'], 'unknown command "stauts"', 'did you mean "status"?'],
  [['env', 'sett', 'A=1'], 'unknown command "berth env sett"', 'did you mean "set"?'],
  [['status'], 'no project is set', 'give --project NAME, or run: berth init'],
  [
    ['status', '-p', 'Shop'],
    '--project "Shop" is no valid name',
    'a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters',
  ],
  [['server', '--no-such'], 'unknown flag --no-such', 'see: berth server run --help'],
  [
    ['server', '--data-dir', '/nowhere', '--http-port', '0'],
    '--http-port must be a port from 1 to 65535, not 0',
    'default: 80',
  ],
  [
    ['projects', 'delete', 'shop'],
    'This deletes project shop: its services, releases, environment and logs; that needs a confirmation',
    'add --yes',
  ],
])('%j is a usage error with exit code 2', async (args, message, hint) => {
  const ran = await run(args);
  expect(ran.code).toBe(2);
  expect(ran.stdout).toBe('');
  expect(JSON.parse(ran.stderr)).toEqual({ code: 'USAGE', message, hint, retryable: false });
  expect(api.seen).toEqual([]);
});

test('--yes deletes, with confirm=true and an idempotency key', async () => {
  api
    .on('DELETE /v1/projects/shop', json(ACCEPTED, 202))
    .on('GET /v1/operations/op_1/stream', sse([DONE]))
    .on('GET /v1/operations/op_1', json(operation({ kind: 'project.delete' })));
  expect((await run(['projects', 'delete', 'shop', '--yes'])).code).toBe(0);
  expect(api.seen[0]?.query).toEqual({ confirm: 'true' });
  expect(api.seen[0]?.headers.get('idempotency-key')).toMatch(/^[0-9a-f-]{36}$/);
});

const PLAN = { dry_run: true, plan: { summary: 'what would happen', changes: [] } };
const S = ['-p', 'shop', '-s', 'web'];

test.each([
  [['projects', 'create', 'shop'], 'POST /v1/projects'],
  [['projects', 'delete', 'shop'], 'DELETE /v1/projects/shop'],
  [['services', 'delete', ...S], 'DELETE /v1/projects/shop/services/web'],
  [['scale', '3', ...S], 'PATCH /v1/projects/shop/services/web'],
  [['rollback', ...S], 'POST /v1/projects/shop/services/web/rollback'],
  [['restart', ...S], 'POST /v1/projects/shop/services/web/restart'],
  [['env', 'set', 'A=1', '-p', 'shop'], 'PUT /v1/projects/shop/env'],
  [['env', 'unset', 'A', '-p', 'shop'], 'PUT /v1/projects/shop/env'],
  [['operations', 'cancel', 'op_1'], 'POST /v1/operations/op_1/cancel'],
  [['tokens', 'create', 'ci', '--can', 'read', '--for', 'shop'], 'POST /v1/tokens'],
  [['tokens', 'revoke', 'tok_1'], 'DELETE /v1/tokens/tok_1'],
])('%j --dry-run shows the plan, asks nothing and changes nothing', async (args, route) => {
  api.on(route, json(PLAN));
  const ran = await run([...args, '--dry-run']);
  expect({ ...ran, stdout: JSON.parse(ran.stdout) as unknown }).toEqual({ code: 0, stdout: PLAN, stderr: '' });
  expect(api.seen.map(({ query }) => query['dry_run'])).toEqual(['true']);
  expect((await run([...args, '--dry-run', '--no-json'])).stdout).toBe('what would happen\n');
});

test('a list that goes on says how to see the rest', async () => {
  api.on(
    'GET /v1/projects',
    json({
      projects: [{ name: 'a', state: 'active', created_at: '2026-01-01T00:00:00Z', created_by: 'x' }],
      next_cursor: 'YQ',
    }),
  );
  expect((await run(['projects', '--no-json'])).stderr).toBe('there is more: add --all, or --cursor YQ\n');
});

test('variables come from a file and from the line, and the restarts are followed', async () => {
  api
    .on(
      'PUT /v1/projects/shop/env',
      json({
        names: ['A', 'B'],
        set: ['A', 'B'],
        unset: [],
        restarted_services: ['web'],
        operations: [{ service: 'web', operation_id: 'op_1', stream_url: '' }],
      }),
    )
    .on('GET /v1/operations/op_1/stream', sse([DONE]))
    .on('GET /v1/operations/op_1', json(operation({ kind: 'env.restart' })));
  home.write({ '.env': 'A=from file\nB="two\nlines"\n' });
  const ran = await run(['env', 'set', '-p', 'shop', '--file', '.env', 'A=x=y']);
  expect(ran.code).toBe(0);
  expect(JSON.parse(Buffer.from(api.seen[0]?.body ?? []).toString())).toEqual({ A: 'x=y', B: 'two\nlines' });
  expect(ran.stdout + ran.stderr).not.toContain('two');
  await run(['env', 'set', '-p', 'shop', '--detach', '--file', '-'], { stdin: 'C=3\n' });
  expect(JSON.parse(Buffer.from(api.requests('PUT /v1/projects/shop/env')[1]?.body ?? []).toString())).toEqual({
    C: '3',
  });
  await run(['env', 'unset', 'A', '-p', 'shop', '--detach']);
  expect(JSON.parse(Buffer.from(api.requests('PUT /v1/projects/shop/env')[2]?.body ?? []).toString())).toEqual({
    A: null,
  });
});

test('a secret whose name was forgotten is not repeated', async () => {
  const ran = await run(['env', 'set', '-p', 'shop', 'hunter2']);
  expect(ran.code).toBe(2);
  expect(ran.stderr).not.toContain('hunter2');
});

test('scale sends the number and the settings that are given', async () => {
  api.on('PATCH /v1/projects/shop/services/web', json({ name: 'web', replicas: 3 }));
  expect(
    (await run(['scale', '3', '-p', 'shop', '-s', 'web', '--health-path', 'none', '--memory', '256', '--drain', '0']))
      .code,
  ).toBe(0);
  expect(JSON.parse(Buffer.from(api.seen[0]?.body ?? []).toString())).toEqual({
    replicas: 3,
    health_path: null,
    memory_mb: 256,
    drain_seconds: 0,
  });
  expect((await run(['scale', '-p', 'shop', '-s', 'web'])).code).toBe(2);
  expect((await run(['scale', '-1', '-p', 'shop', '-s', 'web'])).code).toBe(2);
});

test('logs are one object a line, follow over a break, and ask for the tail once', async () => {
  const line = (id: number) => ({
    id,
    event: 'log',
    data: { ts: '2026-11-21T10:00:00.000Z', replica: 'web-1', release: 'rel_1', stream: 'stdout', line: `line ${id}` },
  });
  api.on(
    'GET /v1/projects/shop/services/web/logs',
    sse([line(1), line(2)], { broken: true }),
    sse([line(3)]),
    refusal(404, { code: 'NOT_FOUND', message: 'no service named "web"' }),
  );
  const ran = await run(['logs', '-f', '-p', 'shop', '-s', 'web', '--tail', '2']);
  expect(lines(ran.stdout).map((entry) => (entry as { line: string }).line)).toEqual(['line 1', 'line 2', 'line 3']);
  expect(JSON.parse(ran.stderr)).toMatchObject({ code: 'NOT_FOUND' });
  expect(ran.code).toBe(1);
  const asked = api.requests('GET /v1/projects/shop/services/web/logs');
  expect(asked.map(({ query, headers }) => [query['tail'], headers.get('last-event-id')])).toEqual([
    ['2', null],
    [undefined, '2'],
    [undefined, '3'],
  ]);
});

test('logs without -f end when the server is done', async () => {
  api.on(
    'GET /v1/projects/shop/services/web/logs',
    sse([{ id: 1, event: 'log', data: { ts: 't', replica: 'web-1', stream: 'stdout', line: '\u001B[2Jx' } }]),
  );
  const ran = await run(['logs', '-p', 'shop', '-s', 'web', '--no-json']);
  expect(ran).toEqual({ code: 0, stdout: 'web-1 x\n', stderr: '' });
  expect(api.seen[0]?.query).toEqual({ follow: 'false', tail: '100' });
});

test('a reader that goes away ends the stream without a fault', async () => {
  const many = Array.from({ length: 20_000 }, (_, index) => ({
    id: index + 1,
    event: 'log',
    data: { replica: 'web-1', line: 'x'.repeat(100) },
  }));
  api.on('GET /v1/projects/shop/services/web/logs', sse(many));
  const child = home.spawn(['logs', '-p', 'shop', '-s', 'web'], {
    env: { SERVICE_ENDPOINT: api.url, SERVICE_TOKEN: 'brt_test' },
  });
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  expect(await child.exited).toBe(0);
  expect(await new Response(child.stderr).text()).toBe('');
});

test('login checks the token, saves it for its owner alone, and every command uses it', async () => {
  api.on('GET /v1/projects', json(PROJECTS));
  const env = { SERVICE_ENDPOINT: '', SERVICE_TOKEN: '' };
  const ran = await run(['login', api.url, '--token-stdin', '--profile', 'test'], { env, stdin: 'brt_saved\n' });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  expect(ran.stdout).not.toContain('brt_saved');
  expect(statSync(home.configFile).mode & 0o777).toBe(0o600);
  await run(['projects', 'ls'], { env });
  expect(api.seen.at(-1)?.headers.get('authorization')).toBe('Bearer brt_saved');
  expect(JSON.parse((await run(['use'], { env })).stdout)).toEqual({
    profiles: [{ name: 'test', endpoint: api.url, current: true }],
  });
  expect((await run(['logout'], { env })).code).toBe(0);
  expect((await run(['projects', 'ls'], { env })).code).toBe(2);
});

test('servers that are logged in to at the same time are all saved', async () => {
  api.on('GET /v1/projects', json(PROJECTS));
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const ran = await Promise.all(
    names.map((name) => run(['login', api.url, '--token-stdin', '--profile', name], { stdin: `brt_${name}` })),
  );
  expect(ran.map(({ code }) => code)).toEqual(names.map(() => 0));
  const { profiles } = JSON.parse((await run(['use'])).stdout) as { profiles: { name: string }[] };
  expect(profiles.map(({ name }) => name).sort()).toEqual(names);
});

test('a file of tokens that others can read is made private, once and aloud', async () => {
  api.on('GET /v1/projects', json(PROJECTS));
  const env = { SERVICE_ENDPOINT: '', SERVICE_TOKEN: '' };
  await run(['login', api.url, '--token-stdin'], { env, stdin: 'brt_saved' });
  chmodSync(home.configFile, 0o644);
  expect((await run(['projects', 'ls'], { env })).stderr).toContain('its mode is 0600 now');
  expect(statSync(home.configFile).mode & 0o777).toBe(0o600);
  expect((await run(['projects', 'ls'], { env })).stderr).toBe('');
});

test('a full disk below stdout is a failure, and said on stderr', async () => {
  api.on('GET /v1/projects', json(PROJECTS));
  const child = Bun.spawn(['sh', '-c', '"$@" > /dev/full', 'sh', ...home.argv(['projects', 'ls'])], {
    env: { PATH: process.env['PATH'] ?? '', HOME: home.dir, SERVICE_ENDPOINT: api.url, SERVICE_TOKEN: 'brt_x' },
    stderr: 'pipe',
  });
  expect(await child.exited).toBe(1);
  const told = JSON.parse(await new Response(child.stderr).text()) as { message: string };
  expect(told.message).toStartWith('cannot write the output: ENOSPC');
});

test('a token that may not read is a token all the same', async () => {
  api.on('GET /v1/projects', refusal(403, { code: 'CAPABILITY_MISSING', message: 'this token lacks "read"' }));
  expect((await run(['login', api.url, '--token-stdin'], { stdin: 'brt_deploy' })).code).toBe(0);
});

test('a token that has expired is told with the way to another one', async () => {
  api.on('GET /v1/projects', refusal(401, { code: 'UNAUTHENTICATED', message: 'expired', hint: 'ask an admin' }));
  const ran = await run(['projects', 'ls', '--no-json']);
  expect(ran).toEqual({
    code: 1,
    stdout: '',
    stderr: 'error: expired (UNAUTHENTICATED)\nhint: ask an admin; then: berth login <url>\n',
  });
  expect(api.seen).toHaveLength(1);
});

test('whoami says what the token may do; a server that does not know that still says whether it is one', async () => {
  const own = { token_id: 'tok_1', principal: 'ci', capabilities: ['deploy'], projects: ['shop'], expires_at: null };
  api
    .on('GET /v1/health', json({ status: 'ok', version: '0.0.1' }))
    .on('GET /v1/whoami', json(own), refusal(404, { code: 'NOT_FOUND', message: 'no such path: /v1/whoami' }))
    .on('GET /v1/projects', json(PROJECTS));
  const known = await run(['whoami']);
  expect(JSON.parse(known.stdout)).toMatchObject({ ...own, token: 'accepted', server_version: '0.0.1' });
  expect(known.stderr).toContain('upgrade the server');
  const unknown = await run(['whoami']);
  expect({ code: unknown.code, ...JSON.parse(unknown.stdout) }).toMatchObject({ code: 0, token: 'accepted' });
});

test('a token that the server refuses is not saved', async () => {
  api.on('GET /v1/projects', refusal(401, { code: 'UNAUTHENTICATED', message: 'this token is not valid' }));
  expect((await run(['login', api.url, '--token-stdin'], { stdin: 'brt_wrong' })).code).toBe(1);
  expect(await Bun.file(home.configFile).exists()).toBe(false);
});

test('help goes to stdout with exit code 0, at every level', async () => {
  for (const args of [
    ['--help'],
    ['deploy', '--help'],
    ['env', '--help'],
    ['env', 'set', '-h'],
    ['help', 'env', 'set'],
    ['help', 'scale'],
  ]) {
    const ran = await run(args);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(ran.stdout).toContain('Examples');
  }
});

test('the version is a word of its own', async () => {
  expect((await run(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(JSON.parse((await run(['version'])).stdout)).toHaveProperty('version');
});
