import { afterAll, expect, test } from 'bun:test';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { docker } from '#test/support/docker.ts';
import { EXAMPLES_DIR } from '#test/support/examples.ts';
import { RealBuilds, type Running } from './real-support.ts';
import type { Files } from './support.ts';

const APPS = join(import.meta.dir, 'node-apps');
const builds = new RealBuilds();
const folder = await mkdtemp(join(tmpdir(), 'berth-node-'));

afterAll(async () => {
  await builds.destroy();
  await rm(folder, { recursive: true, force: true });
});

/** A copy of an app, with some of its files written anew. */
const copyOf = async (from: string, name: string, files: Files = {}): Promise<string> => {
  const copy = join(folder, name);
  await cp(from, copy, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(copy, path)), { recursive: true });
    await writeFile(join(copy, path), text);
  }
  return copy;
};

const text = (running: Running, path = '/'): Promise<string> => running.get(path).then((response) => response.text());

const inside = (running: Running, command: string): Promise<string> =>
  docker(['exec', running.id, 'sh', '-c', command]).then((out) => out.trim());

test('a package of a pnpm workspace runs with what it uses, and without its neighbours', async () => {
  const dir = await copyOf(join(APPS, 'workspace'), 'api');
  const { tag } = await builds.build(dir);
  const running = await builds.start(tag);
  expect(await text(running)).toBe('from a workspace, 1m');
  expect(await inside(running, 'ls -d /app/apps/* /app/packages/* /app/node_modules/.pnpm/*@*')).toBe(
    ['apps/api', 'node_modules/.pnpm/ms@2.1.3', 'node_modules/.pnpm/picocolors@1.1.1', 'packages/greet']
      .map((path) => `/app/${path}`)
      .join('\n'),
  );
  await running.stop();
  await writeFile(join(dir, 'packages/greet/src/index.js'), 'export const greet = () => "another";\n');
  const again = await builds.build(dir);
  expect(again.cached.filter((step) => /pnpm.* install/.test(step))).toHaveLength(2);
}, 180_000);

test('a start script that compiles is split: the compiler stays out of the image', async () => {
  const { tag } = await builds.build(
    await copyOf(join(APPS, 'fastify'), 'fastify', {
      'tsconfig.json': JSON.stringify({
        compilerOptions: { module: 'nodenext', rootDir: 'src', outDir: 'dist', skipLibCheck: true, types: ['node'] },
      }),
      'src/app.ts': `import type { FastifyInstance } from 'fastify';
        export = async (app: FastifyInstance, _options: object) => { app.get('/', async () => ({ from: 'Fastify' })); };`,
    }),
  );
  const running = await builds.start(tag);
  expect(await text(running)).toBe('{"from":"Fastify"}');
  expect(await inside(running, 'ls /app/node_modules')).not.toContain('typescript');
  expect(await inside(running, 'ls -A /root ~ 2>/dev/null | grep -c npm || true')).toBe('0');
  expect(await running.stop()).toBeLessThan(5000);
}, 180_000);

test('Next.js without settings keeps only what its server needs', async () => {
  const next = join(EXAMPLES_DIR, 'node-next');
  const dir = await copyOf(next, 'next-default', { 'next.config.ts': 'export default { cacheComponents: true };\n' });
  const running = await builds.start((await builds.build(dir)).tag);
  expect(await text(running)).toContain('To get started, edit the');
  expect((await running.get('/vercel.svg')).headers.get('content-type')).toBe('image/svg+xml');
  expect(await inside(running, 'ls -A /app')).toBe('.next\nnode_modules\npackage.json\npublic\nserver.js');
  expect(Number(await inside(running, 'du -sm /app | cut -f1'))).toBeLessThan(80);
}, 180_000);

test('Next.js that exports a site leaves no server behind', async () => {
  const next = join(EXAMPLES_DIR, 'node-next');
  const { tag } = await builds.build(
    await copyOf(next, 'next-export', { 'next.config.ts': "export default { output: 'export' };\n" }),
  );
  const running = await builds.start(tag);
  expect(await text(running)).toContain('To get started, edit the');
  expect((await running.get('/nope')).status).toBe(404);
}, 180_000);

test('React Router without a server is a site, whose page answers for every address', async () => {
  const example = join(EXAMPLES_DIR, 'node-react-router');
  const home = await readFile(join(example, 'app/routes/home.tsx'), 'utf8');
  const { tag } = await builds.build(
    await copyOf(example, 'react-router-spa', {
      'react-router.config.ts': 'export default { ssr: false };\n',
      'app/routes/home.tsx': home.replace('function loader', 'function clientLoader').replace('process.version', '""'),
    }),
  );
  const running = await builds.start(tag);
  expect(await text(running, '/any/page')).toContain('<html lang="en">');
  expect((await running.get('/assets/nope.js')).status).toBe(404);
}, 180_000);

test('Astro without a server is a site', async () => {
  const { tag } = await builds.build(
    await copyOf(join(EXAMPLES_DIR, 'node-astro'), 'astro-static', { 'astro.config.mjs': 'export default {};\n' }),
  );
  expect(await text(await builds.start(tag))).toContain('<h1>Hello from Astro</h1>');
}, 180_000);

test('a lock file that npm refuses is passed over, loudly', async () => {
  const dir = await copyOf(join(EXAMPLES_DIR, 'node-express'), 'express-drifted');
  const lock = JSON.parse(await readFile(join(dir, 'package-lock.json'), 'utf8'));
  delete lock.packages['node_modules/accepts'];
  // Something new, so that the install is not taken from an earlier run's layers.
  lock.name = folder;
  await writeFile(join(dir, 'package-lock.json'), JSON.stringify(lock));
  const { tag, log } = await builds.build(dir);
  expect(log).toContain('Missing: accepts@');
  expect(log).toMatch(/^.*WARNING: npm ci refuses package-lock.json/m);
  expect(await text(await builds.start(tag))).toContain('from Express');
}, 180_000);
