import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BerthError } from '#kernel/errors';
import { route } from '#test/contracts/proxy.ts';
import { freePorts, startTraefik, type Traefik } from './support.ts';
import { named, startLoad, startUpstream, type TestUpstream } from './upstreams.ts';

const HOST = 'web--shop.localhost';

let traefik: Traefik;
let app: TestUpstream;

beforeEach(async () => {
  traefik = await startTraefik({ patience: { deadlineMs: 800, nudgeMs: 200, unreachableMs: 500 } });
  app = startUpstream(async (request) => new Response((await request.text()) || 'ok'));
}, 60_000);
afterEach(async () => {
  await traefik.dispose();
  await app.kill();
}, 60_000);

const status = async (host = HOST): Promise<number | null> => {
  try {
    return (await fetch(`http://127.0.0.1:${traefik.ports.http}/`, { headers: { Host: host } })).status;
  } catch {
    return null;
  }
};
const untilStatus = async (wanted: number): Promise<void> => {
  while ((await status()) !== wanted) await Bun.sleep(10);
};
const rejection = async (work: Promise<unknown>): Promise<BerthError> => {
  const thrown: unknown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof BerthError) return thrown;
  throw new Error('expected a BerthError', { cause: thrown });
};
const pidOf = async (): Promise<number> => {
  const pid = (await traefik.runtime.inspect(await traefik.containerId()))?.pid ?? null;
  if (pid === null) throw new Error('Traefik does not run');
  return pid;
};
const routeFile = (): string => join(traefik.dynamicDir, 'shop.web.yml');

test('killed, it comes back by itself with its routes', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  const before = await pidOf();
  process.kill(before, 'SIGKILL');
  await untilStatus(200);
  expect(await pidOf()).not.toBe(before);
}, 20_000);

test('stopped, ensure starts the same container, and resolves when the routes work', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  const id = await traefik.containerId();
  await traefik.runtime.stop(id, 5);
  expect(await status()).toBeNull();
  await traefik.proxy.ensure();
  expect(await status()).toBe(200);
  expect(await traefik.containerId()).toBe(id);
}, 30_000);

test('a port that another process has is a CONFLICT that names it', async () => {
  for (const port of [traefik.ports.http, traefik.ports.api]) {
    const thief = Bun.serve({ port, hostname: '127.0.0.1', fetch: () => new Response('mine') });
    const error = await rejection(traefik.proxy.ensure());
    await thief.stop(true);
    expect(error.kind).toBe('CONFLICT');
    expect(error.message).toContain(`port ${port}`);
  }
  await traefik.proxy.ensure();
}, 30_000);

test('changed static options make a new container, which has all routes', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  const before = await traefik.containerId();
  const [httpPort = 0] = await freePorts(1);
  await traefik.reopen({ httpPort }).ensure();
  expect(await traefik.containerId()).not.toBe(before);
  const answer = await fetch(`http://127.0.0.1:${httpPort}/`, { headers: { Host: HOST } });
  expect(answer.status).toBe(200);
  expect(await status()).toBeNull();
}, 30_000);

test('options that Traefik refuses are told with the last lines of its log', async () => {
  const error = await rejection(traefik.reopen({ httpPort: 99_999 }).ensure());
  expect(error.message).toContain('did not come up');
  expect(error.logTail).toContain('invalid port');
}, 30_000);

test('ensure is quick when all is well', async () => {
  await traefik.proxy.ensure();
  const start = performance.now();
  for (let index = 0; index < 10; index += 1) await traefik.proxy.ensure();
  expect((performance.now() - start) / 10).toBeLessThan(100);
}, 30_000);

test('is private, and no file is left in it or beside it but those of routes', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  await traefik.proxy.applyControlPlane({ hosts: ['berth.localhost'], address: '127.0.0.1:4400' });
  expect((await readdir(traefik.dynamicDir)).toSorted()).toEqual([
    '_control-plane.yml',
    '_default-certificate.yml',
    'shop.web.yml',
  ]);
  for (const file of await readdir(traefik.dynamicDir)) {
    expect((await stat(join(traefik.dynamicDir, file))).mode & 0o777).toBe(0o600);
  }
  expect((await stat(traefik.dynamicDir)).mode & 0o777).toBe(0o700);
  expect(await readdir(join(traefik.dataDir, 'proxy/scratch'))).toEqual([]);
}, 30_000);

test('a file that Traefik cannot parse: old routes go on, apply names it and restores, replaceAll removes it', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  const before = await readFile(routeFile(), 'utf8');
  await writeFile(join(traefik.dynamicDir, 'stranger.yml'), 'http: {{ nonsense');
  const error = await rejection(traefik.proxy.apply(route({ upstreams: [] })));
  expect(error).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  expect(error.message).toContain('stranger.yml');
  expect(await readFile(routeFile(), 'utf8')).toBe(before);
  expect(await status()).toBe(200);
  await traefik.proxy.replaceAll([route({ upstreams: [] })]);
  expect(await status()).toBe(503);
  expect(await readdir(traefik.dynamicDir)).not.toContain('stranger.yml');
}, 30_000);

test('with such a file Traefik still starts, and replaceAll puts it right', async () => {
  await mkdir(traefik.dynamicDir, { recursive: true });
  await writeFile(join(traefik.dynamicDir, 'stranger.yml'), '\u0000');
  await traefik.proxy.ensure();
  await traefik.proxy.replaceAll([route({ upstreams: [app] })]);
  expect(await status()).toBe(200);
}, 30_000);

test('damaged route files do not keep berth from starting: ensure drops them, replaceAll writes them anew', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  const intact = await readFile(routeFile(), 'utf8');
  await writeFile(routeFile(), intact.slice(0, 100));
  await writeFile(join(traefik.dynamicDir, '_default-certificate.yml'), '');
  const successor = traefik.reopen();
  await successor.ensure();
  await successor.applyControlPlane({ hosts: ['berth.localhost'], address: `127.0.0.1:${app.port}` });
  await successor.replaceAll([route({ upstreams: [app] })]);
  expect(await readFile(routeFile(), 'utf8')).toBe(intact);
  expect(await status()).toBe(200);
}, 30_000);

test('two files with one host do not keep berth from starting', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  await writeFile(join(traefik.dynamicDir, 'shop.copy.yml'), await readFile(routeFile(), 'utf8'));
  const successor = traefik.reopen();
  await successor.ensure();
  await successor.replaceAll([route({ upstreams: [app] })]);
  expect(await successor.list()).toEqual([{ project: 'shop', service: 'web' }]);
  expect(await status()).toBe(200);
}, 30_000);

test('removing strangers follows no link and deletes no directory', async () => {
  await traefik.proxy.ensure();
  const outside = join(traefik.dataDir, 'precious.yml');
  await writeFile(outside, 'precious');
  await symlink(outside, join(traefik.dynamicDir, 'link.yml'));
  await symlink(traefik.dataDir, join(traefik.dynamicDir, 'shop.linked.yml'));
  await mkdir(join(traefik.dynamicDir, 'folder'));
  await writeFile(join(traefik.dynamicDir, 'folder/kept.txt'), 'kept');
  await traefik.proxy.replaceAll([]);
  expect(await readFile(outside, 'utf8')).toBe('precious');
  expect((await readdir(traefik.dynamicDir)).toSorted()).toEqual(['_default-certificate.yml', 'folder']);
  expect(await readdir(join(traefik.dynamicDir, 'folder'))).toEqual(['kept.txt']);
  expect(traefik.logLines.join('')).toContain('folder');
}, 30_000);

test('a Traefik that stands still for a moment is waited for', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  const pid = await pidOf();
  process.kill(pid, 'SIGSTOP');
  const applied = traefik
    .reopen({ patience: { deadlineMs: 10_000, unreachableMs: 10_000 } })
    .apply(route({ upstreams: [] }));
  await Bun.sleep(300);
  process.kill(pid, 'SIGCONT');
  await applied;
  expect(await status()).toBe(503);
}, 30_000);

test('a Traefik that hangs makes apply reject in time, and the route stays as it was', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  const pid = await pidOf();
  process.kill(pid, 'SIGSTOP');
  const error = await rejection(traefik.proxy.apply(route({ upstreams: [] })));
  process.kill(pid, 'SIGCONT');
  expect(error.retryable).toBe(true);
  expect(await readFile(routeFile(), 'utf8')).toContain(String(app.port));
  await untilStatus(200);
}, 30_000);

test('apps keep serving while no adapter is there, and a new one takes over under load without an error', async () => {
  await traefik.proxy.ensure();
  await traefik.proxy.apply(route({ upstreams: [app] }));
  const load = startLoad(`http://127.0.0.1:${traefik.ports.http}/`, HOST, 8);
  const successor = traefik.reopen();
  await successor.ensure();
  await successor.replaceAll([
    route({ upstreams: [app] }),
    route({ service: 'new', hosts: ['new.localhost'], upstreams: [] }),
  ]);
  while (load.sent < 100) await Bun.sleep(5);
  await load.stop();
  expect(load.failures).toEqual([]);
  const second = named('second');
  await successor.apply(route({ upstreams: [second] }));
  expect(await status()).toBe(200);
  await second.kill();
}, 30_000);
