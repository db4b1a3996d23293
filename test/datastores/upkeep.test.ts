import { beforeEach, expect, test } from 'bun:test';
import { createCare } from '#datastores/care';
import { createWatch } from '#datastores/watch';
import { DATASTORE_LABEL } from '#datastores/labels';
import { systemClock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import type { DatastoreRow } from '#modules/datastores';
import { createFakeRuntime } from '#test/fakes/runtime.ts';
import { ctx } from '#test/modules/support/rig.ts';
import { until } from '#test/support/until.ts';
import { addReady, openExecutors, type Executors } from './support/executors.ts';

const NEVER = new AbortController().signal;
const MIB = 1024 * 1024;

let kit: Executors;
let row: DatastoreRow;
let busy: Set<string>;
beforeEach(async () => {
  kit = openExecutors();
  row = await addReady(kit, { kind: 'redis', storage_limit_mb: 100 });
  busy = new Set();
});

const lookAfter = (): Promise<void> =>
  createCare({
    ...kit.deps,
    verbs: kit.rig.backups,
    systemCtx: () => ctx(),
    isBusy: ({ id }) => busy.has(id),
  }).lookAfter(row.id, NEVER);
const now = (): DatastoreRow => kit.rig.datastoreStore.byId(row.id) ?? row;
const eventKinds = (): string[] => kit.rig.events.recent('shop', 50).map(({ kind }) => kind);

test('one that runs is left alone', async () => {
  await lookAfter();
  expect(kit.containers.raised).toEqual([]);
  expect(now().used_bytes).toBe(1000);
});

test('one whose container is gone is raised as its row says now', async () => {
  kit.containers.found.containers = [];
  kit.rig.datastoreStore.update(row.id, { memory_mb: 1024 });
  await lookAfter();
  expect(kit.containers.raised).toMatchObject([{ id: row.id, memoryMb: 1024 }]);
  expect(eventKinds()).not.toContain('datastore.data_missing');
});

test('one on which an operation begins meanwhile is left to that', async () => {
  kit.rig.engines.redis.usedBytes = async () => {
    busy.add(row.id);
    return 200 * MIB;
  };
  kit.containers.found.containers = [];
  busy.add(row.id);
  await lookAfter();
  expect(kit.containers.raised).toEqual([]);
});

test('a loss of the volume is told even when what takes its place does not come up at once', async () => {
  kit.containers.found = { containers: [], volumes: [] };
  kit.containers.fault = new BerthError('INTERNAL_ERROR', 'it does not answer', { hint: 'wait', retryable: true });
  await lookAfter();
  expect(now().lost_at).not.toBeNull();
  expect(eventKinds()).toContain('datastore.data_missing');
});

test('one that takes no writes is told so again each time: its engine may have been restarted', async () => {
  const told: boolean[] = [];
  kit.rig.engines.redis.setReadOnly = async (_instance, readOnly) => void told.push(readOnly);
  kit.rig.engines.redis.usedBytes = () => Promise.resolve(101 * MIB);
  await lookAfter();
  await lookAfter();
  expect(told).toEqual([true, true]);
  expect(now().read_only).toBe(true);
  kit.rig.engines.redis.usedBytes = () => Promise.resolve(50 * MIB);
  await lookAfter();
  await lookAfter();
  expect(told).toEqual([true, true, false]);
  expect(eventKinds().filter((kind) => /read_only|writable/.test(kind))).toEqual([
    'datastore.read_only',
    'datastore.writable',
  ]);
});

test('one that was healed takes no writes when it took none before', async () => {
  kit.rig.datastoreStore.update(row.id, { read_only: true });
  kit.containers.found.containers = [];
  const told: string[] = [];
  const { raise } = kit.containers;
  kit.containers.raise = async (...given) => {
    told.push('raised');
    await raise(...given);
  };
  kit.rig.engines.redis.setReadOnly = async (_instance, readOnly) => void told.push(`read-only ${readOnly}`);
  kit.rig.engines.redis.usedBytes = () => Promise.resolve(101 * MIB);
  await lookAfter();
  expect(told.slice(0, 2)).toEqual(['raised', 'read-only true']);
});

test('databases that interrupted restores have left are dropped, what is kept on purpose is not', async () => {
  row = await addReady(kit, { kind: 'postgres' });
  kit.rig.datastoreStore.update(row.id, {
    kept: { database: 'app_kept_1', backup: 'b', restoredAt: 1, until: Date.now() + 3_600_000 },
  });
  const dropped: string[] = [];
  kit.rig.engines.postgres.listBeside = () => Promise.resolve(['app_kept_1', 'app_restore_2', 'app_kept_0']);
  kit.rig.engines.postgres.dropBeside = async (_instance, database) => void dropped.push(database);
  await lookAfter();
  expect(dropped).toEqual(['app_restore_2', 'app_kept_0']);
});

test('the database of a restore that begins meanwhile is left to it', async () => {
  row = await addReady(kit, { kind: 'postgres' });
  const dropped: string[] = [];
  kit.rig.engines.postgres.listBeside = async () => {
    busy.add(row.id);
    return ['app_restore_3'];
  };
  kit.rig.engines.postgres.dropBeside = async (_instance, database) => void dropped.push(database);
  await lookAfter();
  expect(dropped).toEqual([]);
});

test('what fails is logged, and the rest is done all the same', async () => {
  kit.rig.engines.redis.usedBytes = () => Promise.reject(new Error('no answer'));
  kit.rig.datastoreStore.update(row.id, { kept: { database: 'app_kept_1', backup: 'bkp_1', restoredAt: 1, until: 2 } });
  kit.rig.engines.redis.dropBeside = () => Promise.resolve();
  await lookAfter();
  expect(now().kept).toBeNull();
  expect(kit.rig.logged.join('\n')).toContain('no answer');
});

test('containers that end by themselves, lack memory or are removed are told of', async () => {
  const runtime = createFakeRuntime({ images: ['valkey'] });
  await runtime.ensureNetwork({
    name: 'berth-shop',
    subnet: '10.200.0.0/24',
    gateway: '10.200.0.1',
    bridge: 'b',
    labels: {},
    interContainer: true,
  });
  const made = await runtime.create({
    name: 'redis',
    image: 'valkey',
    env: {},
    labels: { 'dev.berth.role': 'datastore', [DATASTORE_LABEL.id]: row.id, [DATASTORE_LABEL.unit]: 'main' },
    network: { name: 'berth-shop', ip: '10.200.0.9', aliases: [] },
    loopbackPorts: [],
    mounts: [],
    volumes: [],
    memoryBytes: MIB,
    cpus: 1,
    pidsLimit: 10,
    capAdd: [],
    readOnlyRoot: true,
    tmpfs: [],
    restart: 'no',
    init: false,
    stopGraceSeconds: 1,
  });
  let needs = 0;
  const seen: string[] = [];
  const stop = new AbortController();
  const watching = createWatch({
    ...kit.deps,
    clock: systemClock,
    runtime: {
      events: async function* (labels, signal) {
        for await (const event of runtime.events(labels, signal)) {
          yield event;
          seen.push(event.action);
        }
      },
    },
    isBusy: ({ id }) => busy.has(id),
    onNeed: () => (needs += 1),
  })(stop.signal);
  await until(() => runtime.calls.includes('events'));
  const told = () => kit.rig.events.recent('shop', 50).filter(({ kind }) => /exited|oom_killed/.test(kind));
  await runtime.start(made.id);
  runtime.crash(made.id, 139);
  await until(() => told().length === 1);
  expect(told()[0]).toMatchObject({
    kind: 'datastore.exited',
    data: { datastore: 'redis', container: 'main', exit_code: 139 },
  });
  await runtime.start(made.id);
  runtime.crash(made.id, 137, true);
  await until(() => told().length === 2);
  expect(told()[1]).toMatchObject({ kind: 'datastore.oom_killed', data: { datastore: 'redis', memory_mb: 512 } });
  // On purpose, as its operation does.
  busy.add(row.id);
  await runtime.start(made.id);
  await runtime.stop(made.id, 1);
  await until(() => seen.filter((action) => action === 'die').length === 3);
  busy.clear();
  expect(needs).toBe(0);
  await runtime.remove(made.id);
  await until(() => needs === 1);
  stop.abort();
  await watching;
  expect(told()).toHaveLength(2);
});
