import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DatastoreContainers, Found, UsedImage } from '#datastores/containers';
import type { DatastoreDeps } from '#datastores/deps';
import { createBackups } from '#engines/backups/backups';
import { createDiskPlace } from '#engines/backups/disk';
import { createVault, type Vault } from '#engines/backups/vault';
import type { Bytes, DatastoreInstance } from '#engines/datastores/port';
import { systemClock } from '#kernel/clock';
import { createIds } from '#kernel/ids';
import type { DatastoreRow } from '#modules/datastores';
import type { Run } from '#modules/operations';
import { makeReady } from '#test/modules/support/datastores.ts';
import { addProject, createRig, ctx, type Rig, type RigOptions } from '#test/modules/support/rig.ts';

/** What was asked of containers, and what they look like. */
export interface FakeContainers extends DatastoreContainers {
  raised: DatastoreInstance[];
  lowered: { id: string; data: boolean }[];
  found: Found;
  /** The next raise fails with it. */
  fault: Error | undefined;
  /** What its containers are said to run, and what images were put back to. */
  images: UsedImage[];
  putBack: UsedImage[];
}

export interface Executors {
  rig: Rig;
  deps: DatastoreDeps;
  containers: FakeContainers;
  /** Folders of the two places that backups are kept in. */
  disk: string;
  bucket: string;
}

/** The executors' dependencies: real state, real files in two places, engines and containers in memory. */
export const openExecutors = (options: RigOptions = {}): Executors => {
  const rig = createRig(options);
  addProject(rig, 'shop');
  const containers = createFakeContainers();
  const [disk, bucket] = ['disk', 'bucket'].map((name) => join(rig.dataDir, name)) as [string, string];
  for (const dir of [disk, bucket]) mkdirSync(dir);
  const deps: DatastoreDeps = {
    config: rig.config,
    db: rig.db,
    clock: systemClock,
    log: rig.log,
    newId: createIds(Date.now),
    store: rig.datastoreStore,
    backups: rig.backupStore,
    storage: createBackups({ disk: folder(disk, 'disk'), remote: folder(bucket, 's3'), recipient: null }),
    engines: rig.engines,
    containers,
    authority: {
      issue: () => Promise.resolve({ caPem: 'ca', certificatePem: 'certificate', keyPem: 'key' }),
      file: () => null,
    },
    places: {
      networks: {
        ensure: (project: string) => Promise.resolve(rig.projectStore.require(project)),
        remember: () => undefined,
      },
      addresses: { reserve: () => '10.208.0.9', release: () => undefined },
    } as unknown as DatastoreDeps['places'],
    instanceOf: rig.instanceOf,
    requireDisk: () => Promise.resolve(),
    projects: rig.projectStore,
    services: rig.serviceStore,
    operations: rig.operationStore,
    env: rig.env,
    events: rig.events,
  };
  return { rig, deps, containers, disk, bucket };
};

const folder = (dir: string, kind: 'disk' | 's3'): Vault => {
  const place = { ...createDiskPlace({ dir, floor: { bytes: 0, percent: 0 } }), kind };
  return createVault({ place, keys: undefined, leftOverMs: 0, now: Date.now });
};

const createFakeContainers = (): FakeContainers => {
  const fake: FakeContainers = {
    raised: [],
    lowered: [],
    found: { containers: [], volumes: [] },
    fault: undefined,
    images: [],
    putBack: [],
    raise: async (instance) => {
      fake.raised.push(instance);
      const { fault } = fake;
      fake.fault = undefined;
      if (fault !== undefined) throw fault;
      fake.found = {
        containers: [
          ...fake.found.containers.filter(({ datastore }) => datastore !== instance.id),
          { id: `c_${instance.id}`, datastore: instance.id, role: 'datastore', unit: 'main', running: true },
        ],
        volumes: [
          ...fake.found.volumes.filter(({ datastore }) => datastore !== instance.id),
          { name: `berth-${instance.id}-main`, datastore: instance.id, role: 'datastore' },
        ],
      };
    },
    lower: async ({ id }, { data }) => {
      fake.lowered.push({ id, data });
      fake.found = {
        containers: fake.found.containers.filter(({ datastore }) => datastore !== id),
        volumes: fake.found.volumes.filter(({ datastore }) => !data || datastore !== id),
      };
    },
    find: () => Promise.resolve(structuredClone(fake.found)),
    clear: () => Promise.resolve(),
    imagesOf: () => Promise.resolve(fake.images),
    putImagesBack: (images) => {
      fake.putBack.push(...images);
      return Promise.resolve();
    },
  };
  return fake;
};

/** A datastore that is up. */
export const addReady = async (
  { rig, containers }: Executors,
  more: Partial<Pick<DatastoreRow, 'name' | 'kind' | 'storage_limit_mb'>> = {},
): Promise<DatastoreRow> => {
  const kind = more.kind ?? 'postgres';
  rig.datastores.insert(ctx(), {
    project: 'shop',
    name: kind,
    kind,
    version: '17',
    memory_mb: 512,
    cpus: 1,
    storage_limit_mb: null,
    ...more,
  });
  const row = makeReady(rig, more.name ?? kind);
  await containers.raise(rig.instanceOf(row), rig.engines[kind], { signal: new AbortController().signal, anew: false });
  containers.raised.length = 0;
  return row;
};

export interface TestRun extends Run {
  logged: string[];
}

/** An operation under way. */
export const runOf = (row: DatastoreRow, input: Record<string, unknown>, more: Partial<Run> = {}): TestRun => {
  const logged: string[] = [];
  return {
    id: 'op_test0001',
    kind: 'datastore.restore',
    project: row.project,
    service: '',
    datastore: row.name,
    actor: 'admin',
    input,
    checkpoint: null,
    attempt: 1,
    signal: new AbortController().signal,
    logged,
    log: (_source, line) => void logged.push(line),
    phase: (phase, message) => void logged.push(`${phase}: ${message}`),
    saveCheckpoint: () => undefined,
    ...more,
  };
};

/** Reads all of it, as a restore does. */
export const drained = async (bytes: Bytes): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(new Uint8Array(chunk));
  return Buffer.concat(chunks).toString();
};
