import { afterEach, beforeEach, expect, test } from 'bun:test';
import { chmodSync, readFileSync, symlinkSync } from 'node:fs';
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
  home.run(['repos', ...args, '-p', 'shop'], {
    ...options,
    env: { SERVICE_ENDPOINT: api.url, SERVICE_TOKEN: 'brt_test', ...options.env },
  });

const AT = '/v1/projects/shop/repos/web';
const ID = '1f0c3a5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f70';

const REPO = {
  project: 'shop',
  name: 'web',
  clone_url: 'https://berth.example.com/git/shop/web.git',
  default_branch: 'main',
  deploy_service: 'web',
  deploy_branch: null,
  root: 'site',
  preview: true,
  mirror_of: null,
  webhook_url: null,
  mirrored_at: null,
  mirror_error: null,
  empty: false,
  size_bytes: 2048,
  pushed_at: '2026-11-20T10:00:00.000Z',
  created_at: '2026-11-01T00:00:00.000Z',
  created_by: 'ada',
  updated_at: '2026-11-01T00:00:00.000Z',
};

const MIRROR = {
  ...REPO,
  mirror_of: 'https://git.example.com/acme/web',
  webhook_url: 'https://berth.example.com/hooks/repo_1',
  mirrored_at: '2026-11-20T10:00:00.000Z',
};

const person = { name: 'Ada', email: 'ada@example.com', at: '2026-11-20T10:00:00+01:00' };
const COMMIT = { id: ID, parents: [], author: person, committer: person, subject: 'Say hello', body: '' };

const committed = (fields: Record<string, unknown> = {}) => ({
  branch: 'main',
  changed: true,
  before: null,
  commit: COMMIT,
  deploys: [],
  ...fields,
});

const sent = (route: string): unknown => JSON.parse(new TextDecoder().decode(api.requests(route)[0]?.body)) as unknown;

test('info says what pushes deploy, and how the last fetch of a mirror went', async () => {
  const failure = { code: 'TIMEOUT', message: 'no answer', hint: 'retry', retryable: true };
  api.on(`GET ${AT}`, json(REPO), json({ ...MIRROR, mirror_error: failure }));
  const plain = await run(['info', 'web', '--no-json']);
  expect(plain.stdout).toContain('deploys  main → web (site) + previews\n');
  expect(plain.stdout).not.toContain('mirror');
  const mirror = await run(['info', 'web', '--no-json']);
  expect(mirror.stdout).toContain('webhook  https://berth.example.com/hooks/repo_1\n');
  expect(mirror.stdout).toContain('failed   no answer (TIMEOUT)\nhint     retry\n');
});

test('log passes on ref, path and limit, and shows a commit a line', async () => {
  const files = [{ path: 'a', change: 'modified', additions: 3, deletions: 1 }];
  api.on(`GET ${AT}/commits`, json({ commits: [{ ...COMMIT, files }], next_cursor: 'more' }));
  const ran = await run(['log', 'web', '--ref', 'v1', '--path', 'src', '--limit', '1', '--files', '--no-json']);
  expect(ran.stdout).toMatch(
    /^COMMIT +AGE +AUTHOR +CHANGED +SUBJECT\n1f0c3a5e7b +\d+[dh] +Ada +1 file \+3 −1 +Say hello\n$/,
  );
  expect(ran.stderr).toBe('there is more: add --all, or --cursor more\n');
  expect(api.seen[0]?.query).toEqual({ ref: 'v1', path: 'src', limit: '1', files: 'true' });
});

test('tree shows modes and sizes, and marks folders', async () => {
  const entry = { mode: '100644', id: ID, kind: 'file' };
  const entries = [
    { ...entry, path: 'src', kind: 'directory', mode: '040000', size: null },
    { ...entry, path: 'a\u001B[2Jb', size: 12 },
  ];
  api.on(`GET ${AT}/tree`, json({ commit: ID, path: '', entries, next_cursor: null }));
  const ran = await run(['tree', 'web', 'lib', '-r', '--no-json']);
  expect(ran.stdout).toBe('MODE    SIZE  PATH\n040000     -  src/\n100644  12 B  ab\n');
  expect(api.seen[0]?.query).toEqual({ path: 'lib', recursive: 'true' });
});

const file = (content: string, fields: Record<string, unknown> = {}) => ({
  commit: ID,
  path: 'a.txt',
  kind: 'file',
  mode: '100644',
  executable: false,
  id: ID,
  size: content.length,
  binary: false,
  encoding: 'utf-8',
  content,
  offset: 0,
  length: content.length,
  next_offset: null,
  ...fields,
});

test('show puts the parts of a large file together, all of one commit', async () => {
  api.on(
    `GET ${AT}/file`,
    json(file('one\t\u001B[31m', { next_offset: 4 })),
    json(file('dHdvCg==', { encoding: 'base64', offset: 4 })),
  );
  expect(await run(['show', 'web', 'a.txt', '--ref', 'main', '--no-json'])).toEqual({
    code: 0,
    stdout: 'one\ttwo\n',
    stderr: '',
  });
  expect(api.seen.map(({ query }) => [query['ref'], query['offset']])).toEqual([
    ['main', '0'],
    [ID, '4'],
  ]);
});

test('show writes bytes into a file, keeps one that is there, and puts nothing binary on a terminal', async () => {
  api.on(`GET ${AT}/file`, json(file('AAEC', { binary: true, encoding: 'base64' })));
  const refused = await run(['show', 'web', 'logo.png', '--no-json']);
  expect(refused.stderr).toBe('error: logo.png is binary\nhint: write it to a file: --output FILE\n');
  const written = await run(['show', 'web', 'logo.png', '-o', 'logo.png', '--no-json']);
  expect(written.code).toBe(0);
  expect([...readFileSync(home.path('logo.png'))]).toEqual([0, 1, 2]);
  expect((await run(['show', 'web', 'logo.png', '-o', 'logo.png', '--no-json'])).code).toBe(1);
});

test('commit sends files from disk, text and binary, with their executable bit, and deletions', async () => {
  home.write({ 'src/run.sh': '#!/bin/sh\n', 'page.html': 'hello ✓' });
  await Bun.write(home.path('logo.png'), new Uint8Array([255, 0]));
  chmodSync(home.path('src/run.sh'), 0o755);
  api.on(`POST ${AT}/commits`, json(committed(), 201));
  const args = ['commit', 'web', '-m', 'Say hello', 'src/run.sh', './page.html', home.path('logo.png')];
  const ran = await run([
    ...args,
    '--to',
    'site',
    '--delete',
    'old',
    '--branch',
    'next',
    '--expected-head',
    'none',
    '--no-json',
  ]);
  expect(ran).toEqual({ code: 0, stdout: `${ID}\n`, stderr: '' });
  expect(sent(`POST ${AT}/commits`)).toEqual({
    message: 'Say hello',
    branch: 'next',
    expected_head: null,
    files: [
      { path: 'site/src/run.sh', content: '#!/bin/sh\n', executable: true },
      { path: 'site/page.html', content: 'hello ✓', executable: false },
      { path: 'site/logo.png', content: '/wA=', encoding: 'base64', executable: false },
      { path: 'old', delete: true },
    ],
  });
});

test.each([
  [['page.html'], /the message is missing/, 2],
  [['-m', 'x'], /nothing to commit is given/, 2],
  [['-m', 'x', '../page.html'], /is not below the current folder/, 2],
  [['-m', 'x', 'src'], /src is a folder/, 2],
  [['-m', 'x', 'link'], /link is a link/, 2],
  [['-m', 'x', 'missing'], /missing cannot be read/, 1],
] as const)('commit %j sends nothing', async (args, message, code) => {
  home.write({ 'src/page.html': 'hello' });
  symlinkSync('/etc/hostname', home.path('link'));
  const ran = await run(['commit', 'web', ...args, '--no-json']);
  expect(ran.stderr).toMatch(message);
  expect(ran.code).toBe(code);
  expect(api.seen).toEqual([]);
});

test('commit follows what it deploys; a deploy that fails does not hide the commit', async () => {
  home.write({ 'a.txt': 'a' });
  const deploy = { service: 'web', operation_id: 'op_1', stream_url: '/s', service_url: 'http://web', error: null };
  const error = { code: 'HEALTH_CHECK_FAILED', message: 'it never listened', hint: 'listen', retryable: false };
  api.on(`POST ${AT}/commits`, json(committed({ deploys: [deploy] }), 201));
  api.on('GET /v1/operations/op_1/stream', sse([{ id: 1, event: 'done', data: { status: 'succeeded' } }]));
  api.on('GET /v1/operations/op_1', json(operation()), json(operation({ status: 'failed', error })));
  const lived = await run(['commit', 'web', '-m', 'x', 'a.txt', '--no-json']);
  expect(lived).toEqual({ code: 0, stdout: `${ID}\n`, stderr: 'deploying web: op_1\nlive at http://web\n' });
  const failed = await run(['commit', 'web', '-m', 'x', 'a.txt', '--no-json']);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toBe(`${ID}\n`);
  expect(failed.stderr).toContain('error: it never listened (HEALTH_CHECK_FAILED)');
  const seen = api.requests('GET /v1/operations/op_1').length;
  expect((await run(['commit', 'web', '-m', 'x', 'a.txt', '-d', '--no-deploy', '--no-json'])).code).toBe(0);
  expect(api.requests('GET /v1/operations/op_1').length).toBe(seen);
});

test('a commit that lost the race is a CONFLICT, and one that changes nothing says so', async () => {
  home.write({ 'a.txt': 'a' });
  api.on(
    `POST ${AT}/commits`,
    refusal(409, { code: 'CONFLICT', message: 'main has moved', hint: 'read it again' }),
    json(committed({ changed: false })),
  );
  const lost = await run(['commit', 'web', '-m', 'x', 'a.txt', '--expected-head', ID, '--no-json']);
  expect(lost.stderr).toBe('error: main has moved (CONFLICT)\nhint: read it again\n');
  const same = await run(['commit', 'web', '-m', 'x', 'a.txt', '--no-json']);
  expect(same).toEqual({ code: 0, stdout: `${ID}\n`, stderr: 'main has these files already: no commit was made\n' });
});

test('set changes the credential of a mirror without showing it, and makes a new secret', async () => {
  api.on(`PATCH ${AT}`, json(MIRROR));
  const args = ['set', 'web', '--user', 'bot', '--password-stdin', '--new-secret', '--no-json'];
  const ran = await run(args, { stdin: 'hunter22\n' });
  const body = sent(`PATCH ${AT}`) as { mirror_credential: object; webhook_secret: string };
  expect(body).toEqual({
    mirror_credential: { user: 'bot', password: 'hunter22' },
    webhook_secret: expect.stringMatching(/^[0-9a-f]{48}$/) as string,
  });
  expect(ran.stderr).toBe(`webhook: ${MIRROR.webhook_url} · secret: ${body.webhook_secret} (not shown again)\n`);
  expect(ran.stdout + ran.stderr).not.toContain('hunter22');
});

test('set gives a repository that begins to mirror a secret, and --no-mirror takes the credential away', async () => {
  api.on(`GET ${AT}`, json(REPO)).on(`PATCH ${AT}`, json(MIRROR));
  const begun = await run(['set', 'web', '--mirror', MIRROR.mirror_of]);
  expect(JSON.parse(begun.stdout)).toMatchObject({ name: 'web', webhook_secret: expect.any(String) as string });
  const ended = await run(['set', 'web', '--no-mirror', '--no-json']);
  expect(ended).toEqual({ code: 0, stdout: 'web is changed\n', stderr: '' });
  const bodies = api.requests(`PATCH ${AT}`).map(({ body }) => JSON.parse(new TextDecoder().decode(body)) as unknown);
  expect(bodies[1]).toEqual({ mirror_of: null, mirror_credential: null });
  expect((await run(['set', 'web'])).code).toBe(2);
});

test('sync asks for a fetch', async () => {
  api.on(`POST ${AT}/sync`, json({ started: true }, 202));
  const ran = await run(['sync', 'web', '--no-json']);
  expect(ran).toEqual({ code: 0, stdout: 'fetching; how it went: berth repos info web\n', stderr: '' });
});
