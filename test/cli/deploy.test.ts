import { afterEach, beforeEach, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
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

const DEPLOYS = '/v1/projects/shop/services/web/deploys';
const ACCEPTED = {
  operation_id: 'op_1',
  stream_url: '/v1/operations/op_1/stream',
  service_url: 'http://web--shop.localhost',
};
const PHASE = {
  id: 1,
  event: 'phase',
  data: { seq: 1, ts: '2026-11-21T10:00:00.000Z', phase: 'building', message: 'building the image' },
};
const LOG = { id: 2, event: 'log', data: { seq: 2, ts: '2026-11-21T10:00:01.000Z', source: 'build', line: 'npm ci' } };
const DONE = { id: 3, event: 'done', data: { status: 'succeeded', error: null, result: {} } };

const deployable = (): void => {
  home.write({ 'shop/index.html': 'hello' });
  api
    .on('GET /v1/projects/shop', json({ name: 'shop' }))
    .on(`POST ${DEPLOYS}`, json(ACCEPTED, 202))
    .on('GET /v1/operations/op_1/stream', sse([PHASE, LOG, DONE]))
    .on('GET /v1/operations/op_1', json(operation()));
};

test('a deploy in text mode prints the URL alone on stdout; phases and log go to stderr', async () => {
  deployable();
  const ran = await run(['deploy', 'shop', '-p', 'shop', '--no-json']);
  expect(ran.stdout).toBe('http://web--shop.localhost\n');
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('● building building the image');
  expect(ran.stderr).toContain('build   │ npm ci');
  expect(ran.stderr).not.toContain('\u001B');
});

test('colours of a build are left out where there is no terminal, and so is whatever else would act on one', async () => {
  deployable();
  const line = '\u001B[31mred\u001B[0m \u001B[2J\u001B]52;c;eA==\u0007end';
  api.on('GET /v1/operations/op_1/stream', sse([PHASE, { ...LOG, data: { ...LOG.data, line } }, DONE]));
  const ran = await run(['deploy', 'shop', '-p', 'shop', '--no-json']);
  expect(ran.stderr).toContain('build   │ red end\n');
  expect(ran.stderr).not.toContain('\u001B');
  const coloured = await run(['deploy', 'shop', '-p', 'shop', '--no-json'], { env: { FORCE_COLOR: '1' } });
  expect(coloured.stderr).toContain('\u001B[31mred\u001B[0m end');
  expect(coloured.stderr).not.toContain('\u001B[2J');
  expect(coloured.stderr).not.toContain('\u001B]');
});

test('a deploy in JSON mode prints the accepted operation, its events and its end, a line each', async () => {
  deployable();
  const ran = await run(['deploy', 'shop', '-p', 'shop']);
  expect(ran.stderr).toBe('');
  expect(lines(ran.stdout)).toEqual([
    ACCEPTED,
    { event: 'phase', ...PHASE.data },
    { event: 'log', ...LOG.data },
    { event: 'done', ...DONE.data },
    operation(),
  ]);
});

test('the source arrives gzipped and chunked, without what is excluded', async () => {
  deployable();
  home.write({ 'shop/node_modules/x.js': 'x', 'shop/app.js': 'console.log(1)' });
  await run(['deploy', 'shop', '-p', 'shop']);
  const upload = api.requests(`POST ${DEPLOYS}`)[0];
  expect(upload?.headers.get('content-type')).toBe('application/gzip');
  const listing = Bun.spawnSync(['tar', '-tzf', '-'], { stdin: upload?.body ?? new Uint8Array() }).stdout.toString();
  expect(listing.trim().split('\n')).toEqual(['app.js', 'index.html']);
});

test('--detach returns the accepted operation, and follows nothing', async () => {
  deployable();
  const ran = await run(['deploy', 'shop', '-p', 'shop', '--detach']);
  expect(lines(ran.stdout)).toEqual([ACCEPTED]);
  expect(api.requests('GET /v1/operations/op_1/stream')).toEqual([]);
});

test('--no-follow waits without the log', async () => {
  deployable();
  const ran = await run(['deploy', 'shop', '-p', 'shop', '--no-follow']);
  expect(lines(ran.stdout).map((line) => (line as { event?: string }).event)).toEqual([
    undefined,
    'phase',
    'done',
    undefined,
  ]);
});

test('a failed deploy exits 1 with message, hint and the tail of the log', async () => {
  deployable();
  const error = {
    code: 'BUILD_COMMAND_FAILED',
    message: 'npm ci ended with exit code 1',
    hint: 'fix the source, redeploy',
    retryable: false,
    log_tail: 'npm error missing lock\nnpm error done\n',
  };
  api
    .on('GET /v1/operations/op_1/stream', sse([PHASE, { ...DONE, data: { status: 'failed', error, result: null } }]))
    .on('GET /v1/operations/op_1', json(operation({ status: 'failed', phase: 'failed', error })));
  const text = await run(['deploy', 'shop', '-p', 'shop', '--no-json']);
  expect(text.code).toBe(1);
  expect(text.stdout).toBe('');
  expect(text.stderr).toEndWith(
    '  │ npm error missing lock\n  │ npm error done\nerror: npm ci ended with exit code 1 (BUILD_COMMAND_FAILED)\nhint: fix the source, redeploy\n',
  );
  const asJson = await run(['deploy', 'shop', '-p', 'shop']);
  expect(asJson.code).toBe(1);
  expect(JSON.parse(asJson.stderr)).toEqual(error);
});

test('a stream that breaks off is resumed behind its last event, and nothing is shown twice', async () => {
  deployable();
  api.on(
    'GET /v1/operations/op_1/stream',
    sse([PHASE, LOG], { broken: true }),
    refusal(503, { code: 'INTERNAL_ERROR', retryable: true }),
    sse([DONE]),
  );
  const ran = await run(['deploy', 'shop', '-p', 'shop']);
  expect(ran.code).toBe(0);
  expect(lines(ran.stdout)).toHaveLength(5);
  const asked = api.requests('GET /v1/operations/op_1/stream').map(({ headers }) => headers.get('last-event-id'));
  expect(asked[0]).toBeNull();
  expect(asked.slice(1)).toEqual(asked.slice(1).map(() => '2'));
  expect(asked.length).toBeGreaterThan(2);
});

test('an upload refused for a while is sent again, whole, with the same key', async () => {
  deployable();
  api.on(
    `POST ${DEPLOYS}`,
    refusal(503, { code: 'INTERNAL_ERROR', retryable: true }, { 'retry-after': '0' }),
    json(ACCEPTED, 202),
  );
  expect((await run(['deploy', 'shop', '-p', 'shop'])).code).toBe(0);
  const [first, second] = api.requests(`POST ${DEPLOYS}`);
  expect(second?.headers.get('idempotency-key')).toBe(first?.headers.get('idempotency-key') ?? 'none');
  expect(Buffer.compare(first?.body ?? Buffer.of(1), second?.body ?? Buffer.of(2))).toBe(0);
});

test('the first deploy makes the project of the folder, and remembers it', async () => {
  deployable();
  api
    .on('GET /v1/projects/shop', refusal(404, { code: 'NOT_FOUND' }))
    .on('POST /v1/projects', json({ name: 'shop', created: true }, 201));
  expect((await run(['deploy'], { cwd: home.path('shop') })).code).toBe(0);
  expect(JSON.parse(Buffer.from(api.requests('POST /v1/projects')[0]?.body ?? []).toString())).toEqual({
    name: 'shop',
  });
  expect(JSON.parse(readFileSync(home.path('shop/.service/config.json'), 'utf8'))).toEqual({
    project: 'shop',
    service: 'web',
  });
  api.on('GET /v1/projects/shop', json({ name: 'shop' }));
  expect((await run(['deploy'], { cwd: home.path('shop') })).code).toBe(0);
  expect(api.requests('POST /v1/projects')).toHaveLength(1);
});

test('a project that is called like the folder by chance is not deployed into', async () => {
  deployable();
  const ran = await run(['deploy', 'shop']);
  expect(ran.code).toBe(2);
  expect(JSON.parse(ran.stderr)).toMatchObject({ hint: 'deploy into it with -p shop, or give another name' });
  expect(api.requests(`POST ${DEPLOYS}`)).toEqual([]);
});

test('a folder without a file is refused before anything is sent', async () => {
  home.write({ 'shop/node_modules/x.js': 'x' });
  const ran = await run(['deploy', 'shop', '-p', 'shop']);
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.stderr)).toMatchObject({ code: 'LOCAL_ERROR' });
  expect(api.seen).toEqual([]);
});

test('Ctrl-C leaves the deploy running, and says how to come back', async () => {
  deployable();
  api.on('GET /v1/operations/op_1/stream', () => sse([PHASE], { open: true }));
  const child = home.spawn(['deploy', 'shop', '-p', 'shop', '--no-json'], {
    env: { SERVICE_ENDPOINT: api.url, SERVICE_TOKEN: 'brt_test' },
  });
  const reader = child.stderr.getReader();
  let stderr = '';
  while (!stderr.includes('building')) {
    const { value, done } = await reader.read();
    if (done) break;
    stderr += Buffer.from(value).toString();
  }
  child.kill('SIGINT');
  for (let next = await reader.read(); !next.done; next = await reader.read())
    stderr += Buffer.from(next.value).toString();
  expect(await child.exited).toBe(130);
  expect(stderr).toContain('op_1 goes on on the server');
  expect(stderr).toContain('berth operations follow op_1 · cancel it: berth operations cancel op_1');
  expect(api.seen.filter(({ method }) => method === 'DELETE' || method === 'POST')).toHaveLength(1);
});

test('--dry-run and plan show the plan with its reasons, and change nothing', async () => {
  deployable();
  const plan = {
    dry_run: true,
    plan: {
      summary: 'would deploy web',
      changes: [
        {
          action: 'create',
          resource: 'release',
          name: 'web',
          provider: 'node',
          reasons: ['Node 22.x because .nvmrc'],
          versions: { node: '22.3.0' },
        },
      ],
    },
  };
  api.on(`POST ${DEPLOYS}`, json(plan));
  expect(JSON.parse((await run(['plan', 'shop', '-p', 'shop'])).stdout)).toEqual(plan);
  const text = await run(['deploy', 'shop', '-p', 'shop', '--dry-run', '--no-json']);
  expect(text.stdout).toBe(
    [
      'would deploy web',
      '  create release web',
      '    provider: node',
      '    reasons:',
      '      - Node 22.x because .nvmrc',
      '    versions:',
      '      node: 22.3.0',
      '',
    ].join('\n'),
  );
  expect(api.requests(`POST ${DEPLOYS}`).map(({ query }) => query)).toEqual([{ dry_run: 'true' }, { dry_run: 'true' }]);
  expect(readdirSync(home.path('shop'))).toEqual(['index.html']);
});

const PLAIN = JSON.stringify({ name: 'shop', scripts: { start: 'node server.js' } });

test('a project that is not there yet, or no server at all, leaves the plan to the client', async () => {
  home.write({
    'shop/package.json': PLAIN,
    'shop/server.js': '',
    'shop/ignored/package.json': '{',
    'shop/.serviceignore': 'ignored',
  });
  api.on(`POST ${DEPLOYS}`, refusal(404, { code: 'NOT_FOUND' }));
  const there = await run(['plan', 'shop', '-p', 'shop']);
  expect(there.code).toBe(0);
  expect(JSON.parse(there.stdout).plan).toMatchObject({
    summary: 'build web with node',
    changes: [
      { action: 'create', resource: 'release', name: 'web', build: { provider: 'node', start: ['node', 'server.js'] } },
    ],
  });
  const alone = await run(['plan', 'shop'], { env: { SERVICE_ENDPOINT: '', SERVICE_TOKEN: '' } });
  expect({ code: alone.code, stdout: alone.stdout }).toEqual({ code: 0, stdout: there.stdout });
  expect(api.requests(`POST ${DEPLOYS}`)).toHaveLength(1);
});

test('a plan of the client fails as one of the server does', async () => {
  home.write({ 'shop/package.json': '{"name"' });
  const ran = await run(['plan', 'shop'], { env: { SERVICE_ENDPOINT: '', SERVICE_TOKEN: '' } });
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.stderr.trim().split('\n').at(-1) ?? '')).toMatchObject({
    code: 'BUILD_COMMAND_FAILED',
    retryable: false,
  });
});

test('another failure of the server is not passed over', async () => {
  home.write({ 'shop/package.json': PLAIN });
  api.on(`POST ${DEPLOYS}`, refusal(403, { code: 'CAPABILITY_MISSING' }));
  const ran = await run(['plan', 'shop', '-p', 'shop']);
  expect(ran.code).toBe(1);
  expect(ran.stdout).toBe('');
});

test('a planned build is shown without what there is not, commands as they are typed, and why', async () => {
  deployable();
  const build = {
    provider: 'node',
    framework: 'Next.js',
    root: 'apps/web',
    versions: [{ tool: 'node', version: '22', reason: '.nvmrc says so' }],
    package_manager: { name: 'pnpm', version: '9.15.0', lock_file: 'pnpm-lock.yaml', reason: 'lock file' },
    install: ['pnpm install --frozen-lockfile'],
    build: ['pnpm run build', 'pnpm run index'],
    start: ['node', 'server.js', "it's"],
    release_command: ['/bin/sh', '-c', 'exec node "$SCRIPT" && echo done'],
    apt: { build: ['git', 'ffmpeg'], run: ['ffmpeg'] },
    static_root: null,
    decisions: ['Node 22: .nvmrc says so', 'framework: Next.js'],
    warnings: ['the lock file is older than package.json'],
  };
  const changes = [
    { action: 'create', resource: 'service', name: 'web' },
    { action: 'create', resource: 'release', name: 'web', build },
  ];
  api.on(`POST ${DEPLOYS}`, json({ dry_run: true, plan: { summary: 'would deploy web', changes } }));
  expect((await run(['plan', 'shop', '-p', 'shop', '--no-json'])).stdout.split('\n')).toEqual([
    'would deploy web',
    '  create service web',
    '  create release web',
    '',
    '  provider  node, Next.js',
    '  root      apps/web',
    '  versions  node 22',
    '            pnpm 9.15.0',
    '  install   pnpm install --frozen-lockfile',
    '  build     pnpm run build',
    '            pnpm run index',
    "  start     node server.js 'it'\\''s'",
    '  release   exec node "$SCRIPT" && echo done',
    '  packages  ffmpeg',
    '            git (for the build only)',
    '',
    '  why',
    '    Node 22: .nvmrc says so',
    '    framework: Next.js',
    '',
    '  warning: the lock file is older than package.json',
    '',
  ]);
});

test('a minted secret is the only thing on stdout', async () => {
  api.on('POST /v1/tokens', json({ id: 'tok_1', secret: 'brt_tok_1_s3cret', created: true }, 201));
  const ran = await run([
    'tokens',
    'create',
    'ci@shop',
    '--can',
    'deploy',
    '--for',
    'shop',
    '--expires',
    '30d',
    '--no-json',
  ]);
  expect(ran.stdout).toBe('brt_tok_1_s3cret\n');
  const body = JSON.parse(Buffer.from(api.seen[0]?.body ?? []).toString()) as { expires_at: string };
  expect(body).toMatchObject({ principal: 'ci@shop', capabilities: ['deploy'], projects: ['shop'] });
  expect(Math.round((Date.parse(body.expires_at) - Date.now()) / 86_400_000)).toBe(30);
});
