import { afterAll, beforeAll, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Home } from '#test/cli/support/cli.ts';
import { Terminal } from '#test/cli/support/terminal.ts';
import { helloApp, nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { until } from '#test/support/until.ts';

const EXECUTABLE = join(import.meta.dir, '../../dist/berth');
const CTRL_C = '\u0003';

let berth: Berth;
let home: Home;
beforeAll(async () => {
  berth = await Berth.boot();
  home = new Home();
  const login = await run(['login', berth.url, '--token-stdin'], { stdin: berth.token });
  expect(login).toMatchObject({ code: 0 });
}, 60_000);
afterAll(async () => {
  home.remove();
  await berth.destroy();
}, 60_000);

interface Spawned {
  stdin?: string;
  env?: Record<string, string>;
}

const spawn = (args: readonly string[], { stdin, env = {} }: Spawned = {}) =>
  Bun.spawn([EXECUTABLE, ...args], {
    cwd: home.dir,
    env: { PATH: process.env['PATH'] ?? '', HOME: home.dir, XDG_CONFIG_HOME: home.path('config'), ...env },
    stdin: stdin === undefined ? 'ignore' : new Blob([stdin]),
    stdout: 'pipe',
    stderr: 'pipe',
  });

const run = async (args: readonly string[], options: Spawned = {}) => {
  const child = spawn(args, options);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
};

// oxlint-disable-next-line typescript/no-explicit-any -- replies of many shapes
const json = async (args: readonly string[]): Promise<any> => {
  const { code, stdout, stderr } = await run(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
};

const terminal = (args: readonly string[], columns = 100): Terminal =>
  new Terminal(home, args, { columns, program: [EXECUTABLE] });

/** Files below a folder of the data directory. */
const filesIn = (folder: string): string[] => {
  const dir = join(berth.dataDir, folder);
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
};

const operationsOf = async (project: string): Promise<unknown[]> =>
  (await json(['operations', '-p', project])).operations;

test('an upload whose client is killed leaves nothing on the server, and the repeat works', async () => {
  home.write(Object.fromEntries(Object.entries(helloApp('hello')).map(([path, text]) => [`killed/${path}`, text])));
  writeFileSync(home.path('killed/data.bin'), randomBytes(64 * 1024 ** 2));
  const before = filesIn('uploads').length;
  const child = spawn(['deploy', 'killed', '-p', 'killed']);
  await until(() => filesIn('uploads').length > before);
  child.kill('SIGKILL');
  await child.exited;
  await until(() => filesIn('uploads').length === before);
  expect(await operationsOf('killed')).toEqual([]);
  expect((await json(['services', '-p', 'killed'])).services).toEqual([]);
  writeFileSync(home.path('killed/data.bin'), 'small');
  expect(await json(['deploy', 'killed', '-p', 'killed'])).toMatchObject({ status: 'succeeded' });
  expect(await berth.appText('killed', 'web')).toBe('hello');
}, 120_000);

test('Ctrl-C leaves a deploy running: followed to its end, or cancelled', async () => {
  // Listens late: the health gate waits meanwhile.
  const slow = nodeApp("(request, response) => response.end('slow')");
  slow['server.js'] = (slow['server.js'] ?? '')
    .replace('server.listen(', 'setTimeout(() => server.listen(')
    .replace(/\)\);\nprocess/, ')), 4000);\nprocess');
  home.write(Object.fromEntries(Object.entries(slow).map(([path, text]) => [`slow/${path}`, text])));
  const interruptedDeploy = async (): Promise<string> => {
    const deploy = terminal(['deploy', 'slow', '-p', 'slow']);
    await deploy.until('rolling_out');
    deploy.type(CTRL_C);
    expect(await deploy.end()).toBe(130);
    const shown = deploy.lines.join(' ');
    const id = /berth operations follow (op_\w+)/.exec(shown)?.[1] ?? '';
    expect(shown).toContain(`berth operations cancel ${id}`);
    return id;
  };
  const first = await interruptedDeploy();
  expect(await json(['operations', 'info', first])).toMatchObject({ status: 'running' });
  expect(await json(['operations', 'follow', first])).toMatchObject({ status: 'succeeded' });
  expect(await berth.appText('slow', 'web')).toBe('slow');
  const second = await interruptedDeploy();
  await json(['operations', 'cancel', second]);
  expect((await run(['operations', 'follow', second])).code).toBe(1);
  expect(await json(['operations', 'info', second])).toMatchObject({ status: 'failed' });
}, 180_000);

test('status fits the terminal, and says the same as its JSON', async () => {
  const tree = await json(['status', '-p', 'killed']);
  expect(tree).toMatchObject({ name: 'killed', services: [{ name: 'web', status: 'running' }] });
  const narrow = terminal(['status', '-p', 'killed'], 44);
  expect(await narrow.end()).toBe(0);
  for (const line of narrow.lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(44);
  expect(narrow.lines.join('\n')).toContain(tree.services[0].live_release);
});

test('a token that is revoked ends what follows with it, and is told as such afterwards', async () => {
  const minted = await json(['tokens', 'create', 'reader', '--can', 'read', '--for', 'killed']);
  const env = { SERVICE_TOKEN: minted.secret, SERVICE_ENDPOINT: berth.url };
  const whoami = JSON.parse((await run(['whoami'], { env })).stdout);
  expect(whoami).toMatchObject({
    principal: 'reader',
    capabilities: ['read'],
    projects: ['killed'],
    token: 'accepted',
  });
  const following = spawn(['logs', '-f', '-p', 'killed', '-s', 'web'], { env });
  const reader = following.stdout.getReader();
  await reader.read();
  await json(['tokens', 'revoke', minted.id, '--yes']);
  expect(await following.exited).toBe(1);
  expect(JSON.parse((await new Response(following.stderr).text()).trim())).toMatchObject({ code: 'UNAUTHENTICATED' });
  const after = await run(['status', '-p', 'killed'], { env });
  expect(after).toMatchObject({ code: 1, stdout: '' });
  expect(JSON.parse(after.stderr)).toMatchObject({ code: 'UNAUTHENTICATED', retryable: false });
  expect(JSON.parse((await run(['whoami'], { env })).stdout)).toMatchObject({ token: 'refused' });
}, 60_000);

test('following goes on over a restart of the server, without a line twice or missing', async () => {
  home.write(
    Object.fromEntries(
      Object.entries(
        nodeApp("(request, response) => { console.log('asked for ' + request.url); response.end('ok'); }"),
      ).map(([path, text]) => [`lines/${path}`, text]),
    ),
  );
  await json(['deploy', 'lines', '-p', 'lines']);
  const following = spawn(['logs', '-f', '-p', 'lines', '-s', 'web']);
  let text = '';
  const reading = (async () => {
    for await (const chunk of following.stdout) text += new TextDecoder().decode(chunk);
  })();
  const asked = (): string[] => [...text.matchAll(/asked for \/(\d+)/g)].map(([, number = '']) => number);
  for (const number of ['1', '2', '3']) await berth.appText('lines', 'web', `/${number}`);
  await until(() => asked().length === 3);
  await berth.stop('SIGKILL');
  for (const number of ['4', '5']) await berth.appText('lines', 'web', `/${number}`);
  await berth.start();
  await berth.appText('lines', 'web', '/6');
  await until(() => asked().includes('6'));
  following.kill('SIGINT');
  expect(await following.exited).toBe(130);
  await reading;
  expect(asked()).toEqual(['1', '2', '3', '4', '5', '6']);
}, 120_000);

test('a folder that cannot remember does not fail the deploy that is under way', async () => {
  home.write({ 'closed/index.html': 'hello', 'closed/.service': 'a file in the place of the folder' });
  const ran = await run(['deploy', 'closed', '-p', 'closed', '--no-json']);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain('next time, name the target: -p closed -s web');
}, 120_000);
