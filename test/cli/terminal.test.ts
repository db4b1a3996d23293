import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { ContractServer, json, operation, sse } from './support/api.ts';
import { Home } from './support/cli.ts';
import { Terminal, type TerminalOptions } from './support/terminal.ts';

const CTRL_C = '\u0003';
const ESCAPE = '\u001B';

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

const target = () => ({ SERVICE_ENDPOINT: api.url, SERVICE_TOKEN: 'brt_test' });
const open = (args: readonly string[], { env, ...options }: TerminalOptions = {}): Terminal =>
  new Terminal(home, args, { ...options, env: { ...target(), ...env } });

const shown = async (args: readonly string[], options: TerminalOptions = {}): Promise<Terminal> => {
  const terminal = open(args, options);
  expect(await terminal.end()).toBe(0);
  return terminal;
};

const project = (name: string, by = 'ci@shop') => ({
  name,
  state: 'active',
  created_at: '2026-11-01T00:00:00.000Z',
  created_by: by,
});
const service = (name: string, url: string) => ({
  name,
  status: 'running',
  running_replicas: 1,
  replicas: 1,
  live_release: 'rel_3f2a9c01b7de',
  build_cache_bytes: 0,
  service_url: url,
});

describe('on a terminal', () => {
  test('a list is a table without being asked for, and JSON with --json, indented for reading', async () => {
    const reply = { projects: [project('shop')], next_cursor: null };
    api.on('GET /v1/projects', json(reply));
    expect((await shown(['projects'])).lines[0]).toMatch(/^PROJECT +STATE +AGE +BY$/);
    expect((await shown(['projects', '--json'])).shown).toBe(`${JSON.stringify(reply, null, 2)}\n`);
  });

  test.each([100, 60, 40, 28])(
    'at %d columns no line of a table is wider, names and ids are whole',
    async (columns) => {
      const services = [
        service('web', 'https://web--shop.apps.example.com/with/a/path/that/is/long'),
        service('日本語のサービス', 'https://日本語.example.com/👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦'),
      ];
      api.on('GET /v1/projects/shop/services', json({ services, next_cursor: null }));
      const { lines } = await shown(['services', '-p', 'shop'], { columns });
      for (const line of lines)
        expect({ line, width: Bun.stringWidth(line) <= columns }).toMatchObject({ width: true });
      expect(lines.join('\n')).toContain('rel_3f2a9c01b7de');
      expect(lines.join('\n')).toContain('日本語のサービス');
    },
  );

  test.each([120, 72, 40])('at %d columns the help of every level is not wider', async (columns) => {
    for (const args of [['--help'], ['repos', '--help'], ['deploy', '--help'], ['doctor', '--help']]) {
      const { lines } = await shown(args, { columns });
      // Names of flags, and commands in examples, are never broken.
      const text = lines.filter(
        (line) => !/^ {2}(?:-|berth|source|curl|claude|sudo|#)/.test(line) && /\S\s+\S/.test(line),
      );
      expect(text.length).toBeGreaterThan(0);
      for (const line of text) expect({ args, line, fits: line.length <= columns }).toMatchObject({ fits: true });
    }
  });

  const PLAIN = { env: {} };
  test.each([
    ['in colour', PLAIN, true],
    ['plain with NO_COLOR', { env: { NO_COLOR: '1' } }, false],
    ['plain with TERM=dumb', { env: { TERM: 'dumb' } }, false],
    ['plain with NO_COLOR although FORCE_COLOR is set', { env: { NO_COLOR: '1', FORCE_COLOR: '1' } }, false],
    ['in colour with an empty NO_COLOR', { env: { NO_COLOR: '' } }, true],
  ])('help is %s', async (_what, options, coloured) => {
    expect((await shown(['--help'], options)).shown.includes(ESCAPE)).toBe(coloured);
  });

  test('FORCE_COLOR colours what goes to a pipe, and JSON never', async () => {
    const env = { FORCE_COLOR: '1' };
    expect((await home.run(['--help'], { env })).stdout).toContain(ESCAPE);
    expect((await home.run(['--help'], { env: { FORCE_COLOR: '0' } })).stdout).not.toContain(ESCAPE);
    api.on('GET /v1/projects', json({ projects: [project('shop')], next_cursor: null }));
    expect((await home.run(['projects'], { env: { ...env, ...target() } })).stdout).not.toContain(ESCAPE);
  });
});

describe('a question', () => {
  const GONE = { deleted: true };
  const REPO = '/v1/projects/shop/repos/web';

  test('before something is destroyed takes the name only', async () => {
    api.on(`DELETE ${REPO}`, json(GONE));
    const wrong = open(['repos', 'delete', 'web', '-p', 'shop']);
    await wrong.until('Type web to confirm: ');
    wrong.type('yes\r');
    expect(await wrong.end()).toBe(2);
    expect(wrong.lines.at(-1)).toBe('hint: type exactly web, or add --yes');
    expect(api.seen).toEqual([]);
    const right = open(['repos', 'delete', 'web', '-p', 'shop']);
    await right.until('to confirm: ');
    right.type('web\r');
    expect(await right.end()).toBe(0);
    expect(right.lines.at(-1)).toBe('web is deleted');
  });

  test('that is answered with Ctrl-C changes nothing', async () => {
    const asked = open(['repos', 'delete', 'web', '-p', 'shop']);
    await asked.until('to confirm: ');
    asked.type(CTRL_C);
    expect(await asked.end()).toBe(130);
    expect(asked.lines.at(-1)).toBe('hint: nothing was changed');
    expect(api.seen).toEqual([]);
  });

  test('for a token does not show it', async () => {
    api.on('GET /v1/projects', json({ projects: [], next_cursor: null }));
    const login = open(['login', api.url], { env: { SERVICE_TOKEN: '' } });
    await login.until('token: ');
    login.type('brt_secret\r');
    expect(await login.end()).toBe(0);
    expect(login.shown).not.toContain('brt_secret');
    expect(api.seen[0]?.headers.get('authorization')).toBe('Bearer brt_secret');
  });
});

describe('Ctrl-C', () => {
  const DEPLOYS = '/v1/projects/shop/services/web/deploys';
  const ACCEPTED = { operation_id: 'op_1', stream_url: '/v1/operations/op_1/stream', service_url: null };
  const PHASE = { id: 1, event: 'phase', data: { seq: 1, ts: '', phase: 'building', message: 'building the image' } };

  beforeEach(() => {
    home.write({ 'app/index.html': 'hello' });
    api
      .on('GET /v1/projects/shop', json({ name: 'shop' }))
      .on('GET /v1/operations/op_1', json(operation({ status: 'running' })));
  });

  test('during a deploy leaves it running, and says how to follow or cancel it', async () => {
    api.on(`POST ${DEPLOYS}`, json(ACCEPTED, 202)).on('GET /v1/operations/op_1/stream', sse([PHASE], { open: true }));
    const deploy = open(['deploy', 'app', '-p', 'shop']);
    await deploy.until('building the image');
    deploy.type(CTRL_C);
    expect(await deploy.end()).toBe(130);
    expect(deploy.lines.slice(-2)).toEqual([
      'error: stopped following; op_1 goes on on the server (INTERRUPTED)',
      'hint: follow it: berth operations follow op_1 · cancel it: berth operations cancel op_1',
    ]);
    expect(api.seen.filter(({ path }) => path.endsWith('/cancel'))).toEqual([]);
  });

  test('during the upload says that nothing was deployed; the bar before it is gone', async () => {
    await Bun.write(home.path('app/data.bin'), randomBytes(24 * 1024 ** 2));
    api.on(`POST ${DEPLOYS}`, () => new Promise(() => undefined));
    const deploy = open(['deploy', 'app', '-p', 'shop']);
    await deploy.until('uploading');
    deploy.type(CTRL_C);
    expect(await deploy.end()).toBe(130);
    expect(deploy.lines.slice(-2)).toEqual([
      'error: the upload was stopped (INTERRUPTED)',
      'hint: nothing was deployed',
    ]);
  });

  test('ends following logs without a fault on the screen', async () => {
    const line = {
      id: 1,
      event: 'log',
      data: { ts: '', replica: 'web-1', release: 'r', stream: 'stdout', line: 'hello' },
    };
    api.on('GET /v1/projects/shop/services/web/logs', sse([line], { open: true }));
    const logs = open(['logs', '-f', '-p', 'shop', '-s', 'web']);
    await logs.until('hello');
    logs.type(CTRL_C);
    expect(await logs.end()).toBe(130);
    expect(logs.lines.join('\n')).not.toContain('    at ');
  });

  test('a dumb terminal gets no bar that draws over itself', async () => {
    await Bun.write(home.path('app/data.bin'), randomBytes(2 * 1024 ** 2));
    api.on(`POST ${DEPLOYS}`, json(ACCEPTED, 202));
    const deploy = open(['deploy', 'app', '-p', 'shop', '--detach'], { env: { TERM: 'dumb' } });
    expect(await deploy.end()).toBe(0);
    expect(deploy.shown).not.toContain(ESCAPE);
    expect(deploy.shown).not.toContain('uploading');
  });
});
