import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { PlannedBuild } from '#kernel/planned-build';
import { Berth, pack } from '#test/support/berth.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

const app = (more: Record<string, string> = {}): Record<string, string> => ({
  'package.json': JSON.stringify({ name: 'web', version: '1.0.0', scripts: { start: 'node server.js' } }),
  'server.js': "require('node:http').createServer((q, r) => r.end(process.version)).listen(process.env.PORT)",
  ...more,
});

const planned = async (files: Record<string, string>): Promise<PlannedBuild> => {
  const { body } = await berth.uploadArchive('shop', 'web', await pack(files), '?dry_run=true');
  return body.plan.changes.find((change: { resource: string }) => change.resource === 'release').build;
};

const buildLog = async (stream: string): Promise<string[]> =>
  [...String((await berth.api(stream)).body).matchAll(/^data: (\{.*"source":"build".*\})$/gm)].map(
    (match): string => JSON.parse(match[1] ?? '').line,
  );

const deploy = async (files: Record<string, string>): Promise<string[]> => {
  const operation = await berth.deploy('shop', 'web', files);
  expect(operation).toMatchObject({ status: 'succeeded', error: null });
  return buildLog(operation.stream_url);
};

/** What the server remembers of the versions of the service. */
const memory = <T>(use: (db: Database) => T): T => {
  const db = new Database(join(berth.dataDir, 'berth.db'));
  try {
    return use(db);
  } finally {
    db.close();
  }
};
const remembered = (): Record<string, string> =>
  JSON.parse(
    memory((db) => db.query<{ build_memory: string }, []>('SELECT build_memory FROM services').get())?.build_memory ??
      '',
  );

test('a dry run has the keys that are documented, and says what the build log says', async () => {
  const plan = await planned(app());
  expect(Object.keys(plan)).toEqual([
    'provider',
    'framework',
    'root',
    'versions',
    'package_manager',
    'install',
    'build',
    'start',
    'release_command',
    'apt',
    'static_root',
    'decisions',
    'warnings',
  ]);
  expect(plan).toMatchObject({ provider: 'node', framework: null, root: '', start: ['node', 'server.js'] });
  expect(plan.versions).toEqual([{ tool: 'node', version: '24', reason: expect.stringContaining('default') }]);
  const log = await deploy(app());
  const lines = [...plan.decisions, ...plan.warnings.map((line) => `warning: ${line}`)];
  expect(lines.length).toBeGreaterThan(1);
  expect(log.slice(0, lines.length)).toEqual(lines);
}, 120_000);

test('the versions of the first deploy stay those of the service, also when the defaults change', async () => {
  expect(remembered()).toMatchObject({ node: '24' });
  // As if the first deploy had been made by a berth whose default was 22.
  memory((db) => db.run(`UPDATE services SET build_memory = '{"node":"22"}'`));
  const plan = await planned(app());
  expect(plan.versions).toEqual([{ tool: 'node', version: '22', reason: 'this service was first built with it' }]);
  expect(plan.decisions[0]).toBe('Node 22: this service was first built with it');
  const [version] = (await planned(app({ '.nvmrc': '24' }))).versions;
  expect(version).toMatchObject({ version: '24', reason: expect.stringContaining('.nvmrc') });
}, 60_000);

test('a later deploy is built with what is remembered, and a failed one remembers nothing', async () => {
  memory((db) => db.run(`UPDATE services SET build_memory = '{"node":"24"}'`));
  const log = await deploy(app({ 'other.txt': 'changed' }));
  expect(log[0]).toStartWith('Node 24: ');
  expect(remembered()).toMatchObject({ node: '24' });
  expect(await berth.appText('shop', 'web')).toStartWith('v24.');
  const failing = { ...app(), 'berth.toml': '[build]\nbuild = "exit 3"\nversion = "24.0.0"\n' };
  expect(await berth.deploy('shop', 'web', failing)).toMatchObject({ phase: 'failed' });
  expect(remembered()).toMatchObject({ node: '24' });
}, 120_000);

test('releases say how large their images are', async () => {
  const { releases } = (await berth.api('/v1/projects/shop/services/web/releases')).body;
  expect(releases.length).toBeGreaterThan(1);
  for (const release of releases) {
    expect(release.size_bytes).toBeGreaterThan(10_000_000);
    expect(release.size_bytes).toBeLessThan(500_000_000);
  }
  const berthCli = Bun.spawnSync(
    [join(import.meta.dir, '../../dist/berth'), 'releases', '-p', 'shop', '-s', 'web', '--no-json'],
    { env: { SERVICE_ENDPOINT: berth.url, SERVICE_TOKEN: berth.token, HOME: berth.dataDir } },
  );
  expect(berthCli.stdout.toString()).toMatch(/^ +RELEASE +AGE +BUILT BY +SIZE/m);
  expect(berthCli.stdout.toString()).toMatch(/^\* +rel_[0-9a-f]{12} .* node +[\d.]+ MB /m);
}, 60_000);
