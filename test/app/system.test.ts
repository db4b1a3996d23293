import { expect, test } from 'bun:test';
import { NEWEST_SCHEMA } from '#kernel/database';
import { addProject, addReplica, addService, ctx } from '#test/modules/support/rig.ts';
import { createFakeProxy } from '#test/fakes/proxy.ts';
import { addDatastore } from '#test/modules/support/datastores.ts';
import { createWorld } from './world.ts';

const never = <T>(): Promise<T> => new Promise<T>(() => {});

test('health is public, says what is well, and nothing secret', async () => {
  const { call } = createWorld();
  const { status, body } = await call('GET /v1/health', { token: null });
  expect(status).toBe(200);
  expect(body).toEqual({
    status: 'ok',
    version: '0.0.0-test',
    schema: NEWEST_SCHEMA,
    checks: { database: 'ok', engine: 'ok', proxy: 'ok', registry: 'ok' },
  });
});

test('health answers within two seconds while Docker hangs, and says so', async () => {
  let asked = 0;
  const { call } = createWorld({
    system: {
      runtime: { info: () => ((asked += 1), never()) },
      registry: { exists: () => Promise.reject(new Error('refused at /secret/path')), diskBytes: never },
      proxy: createFakeProxy(),
    },
  });
  const begun = performance.now();
  const answers = await Promise.all([1, 2, 3].map(() => call('GET /v1/health', { token: null })));
  expect(performance.now() - begun).toBeLessThan(2000);
  expect(asked).toBe(1);
  for (const { status, body, text } of answers) {
    expect([status, body.status]).toEqual([200, 'degraded']);
    expect(body.checks).toEqual({ database: 'ok', engine: 'failing', proxy: 'failing', registry: 'failing' });
    expect(text).not.toContain('secret');
  }
});

test('health is degraded while the platform is not ready', async () => {
  const world = createWorld({ system: { problem: () => 'berth is starting' } });
  expect((await world.call('GET /v1/health', { token: null })).body.status).toBe('degraded');
  expect((await world.call('GET /v1/admin/capacity')).body.problem).toBe('berth is starting');
});

test('capacity counts what there is, and is null where the engine does not answer', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  addReplica(world.rig, addService(world.rig, 'shop', 'web'), 'c1');
  const { body } = await world.call('GET /v1/admin/capacity');
  expect(body).toMatchObject({
    projects: 1,
    services: 1,
    replicas: 1,
    builds: { running: 1, queued: 2, concurrency: 1 },
  });
  expect(body.cpus).toBeGreaterThan(0);
  expect(body.disks[0]).toMatchObject({ path: world.rig.dataDir });
  expect(body.disks[0].free_bytes).toBeGreaterThan(0);
  const hung = createWorld({ system: { runtime: { info: never }, builder: { cacheBytes: never } } });
  const answer = await hung.call('GET /v1/admin/capacity');
  expect(answer.body).toMatchObject({ cpus: null, memory_bytes: null, build_cache_bytes: null });
});

test('capacity and metrics say how datastores and their backups stand', async () => {
  const { rig, call } = createWorld();
  const before = await call('GET /v1/admin/capacity');
  expect(before.body.datastores).toMatchObject({ ready: 0, never_backed_up: 0, oldest_backup_at: null });
  for (const project of ['shop', 'blog']) {
    addProject(rig, project);
    addDatastore(rig, project, `bkp_${project}`);
  }
  const row = rig.datastores.requireRow({ project: 'blog', name: 'postgres' });
  rig.datastoreStore.update(row.id, { used_bytes: 5_000_000, read_only: true });
  rig.backupStore.update('bkp_shop', { started_at: 86_400_000 });
  rig.backupStore.update('bkp_blog', { status: 'failed', verified_at: null });
  expect((await call('GET /v1/admin/capacity')).body.datastores).toEqual({
    ready: 2,
    failed: 0,
    read_only: 1,
    used_bytes: 5_000_000,
    never_backed_up: 1,
    oldest_backup_at: '1970-01-02T00:00:00.000Z',
    last_backup_failed: 1,
  });
  const lines = (await call('GET /metrics')).text.split('\n');
  const of = (project: string): string => `{project="${project}",datastore="postgres",kind="postgres"}`;
  expect(lines).toContain(`berth_datastore_last_verified_backup_timestamp_seconds${of('shop')} 86400`);
  expect(lines).toContain(`berth_datastore_last_verified_backup_timestamp_seconds${of('blog')} 0`);
  expect(lines).toContain(`berth_datastore_last_backup_failed${of('blog')} 1`);
  expect(lines).toContain(`berth_datastore_read_only${of('blog')} 1`);
  expect(lines).toContain(`berth_datastore_bytes${of('blog')} 5000000`);
});

test('metrics count requests, refusals, operations and streams in the Prometheus format', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  addService(world.rig, 'shop', 'web');
  world.rig.operations.enqueue(ctx(), { kind: 'restart', project: 'shop', service: 'web', input: {} });
  for (let i = 0; i < 3; i += 1) await world.call('GET /v1/projects');
  await world.call('GET /v1/projects/Bad-Name');
  await world.call('GET /v1/projects', { token: null });
  const { text, headers } = await world.call('GET /metrics');
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = text.trimEnd().split('\n');
  expect(lines).toContain('berth_http_requests_total{operation="listProjects",status="200"} 3');
  expect(lines).toContain('berth_http_requests_total{operation="getProject",status="400"} 1');
  expect(lines).toContain('berth_http_requests_total{operation="refused",status="401"} 1');
  expect(lines).toContain('berth_http_request_duration_seconds_bucket{operation="listProjects",le="+Inf"} 3');
  expect(lines).toContain('berth_http_request_duration_seconds_count{operation="listProjects"} 3');
  expect(lines).toContain('berth_operations{kind="restart",status="queued"} 1');
  expect(lines).toContain('berth_services 1');
  expect(lines).toContain('berth_open_streams 0');
  expect(
    lines.filter((line) => !/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{([a-z]+="[^"]*",?)+\})? -?[0-9.e+-]+)$/.test(line)),
  ).toEqual([]);
});

test('the documentation page loads from this server alone', async () => {
  const world = createWorld();
  const page = await world.call('GET /v1/docs', { token: null });
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'; style-src 'self';");
  expect(policy).toContain("connect-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)]
    .map(([, url = '']) => url)
    .filter((url) => url !== 'data:,');
  expect(parts).toHaveLength(3);
  for (const part of parts) {
    expect(part).toStartWith('/v1/docs/');
    const file = await world.call(`GET ${part}`, { token: null });
    expect([file.status, file.text.length > 50]).toEqual([200, true]);
    expect(file.headers.get('content-type')).toMatch(/^text\/(javascript|css)/);
  }
  expect(page.text).not.toMatch(/<script>|\son[a-z]+=|https?:/);
  const start = await world.call('GET /v1/docs/start.js', { token: null });
  expect(start.text).toContain("url: '/v1/openapi'");
  expect(start.text).toContain('validatorUrl: null');
  expect((await world.call('GET /v1/docs/../../etc/passwd', { token: null })).status).toBe(404);
});
