import { randomBytes } from 'node:crypto';
import { systemClock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import type { DatastoreEngine, DatastoreInstance, Jobs, QueryRequest } from '#engines/datastores/port';
import { createRedisEngine } from '#engines/datastores/redis/index';
import { type Lab, type LabNetwork, openLab } from '#test/engines/runtime/support.ts';

/** An instance as it could be, at an address that does not matter to whoever only looks at what is built from it. */
export const anInstance = (over: Partial<DatastoreInstance> = {}): DatastoreInstance => ({
  id: 'ds_01abcdefghijkl',
  kind: 'redis',
  project: 'shop',
  name: 'cache',
  version: '8',
  host: 'cache.db.internal',
  network: 'berth-shop',
  gateway: '10.200.0.1',
  addresses: { main: '10.200.0.9' },
  memoryMb: 128,
  cpus: 1,
  storageLimitMb: null,
  adminPassword: 'admin-word',
  readerPassword: 'reader-word',
  writerPassword: 'writer-word',
  credentials: [{ user: 'app_first', password: 'first-word' }],
  tls: { caPem: '', certificatePem: '', keyPem: '' },
  labels: { 'berth.test': 'redis' },
  ...over,
});

/** What a promise fails with; fails itself when it does not. */
export const failureOf = async (promise: Promise<unknown>): Promise<BerthError> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof BerthError) return error;
    throw error;
  }
  throw new Error('nothing failed');
};

/** A real server, raised as berth raises one. */
export interface RedisBench {
  lab: Lab;
  network: LabNetwork;
  engine: DatastoreEngine;
  instance: DatastoreInstance;
  containerId: () => string;
  /** Makes the container anew, with the data as they are. */
  raise(instance: DatastoreInstance): Promise<void>;
  /** Its URL by address: its name resolves only inside of the project. */
  url(credential?: DatastoreInstance['credentials'][number]): string;
  query(query: string, over?: Partial<QueryRequest>): ReturnType<DatastoreEngine['query']>;
  close(): Promise<void>;
}

const noJobs: Jobs = { run: () => Promise.reject(new Error('this bench runs no jobs')) };

export const openRedis = async (
  over: Partial<DatastoreInstance> = {},
  jobs: (lab: Lab) => Jobs = () => noJobs,
): Promise<RedisBench> => {
  const lab = openLab();
  const network = await lab.addNetwork('r');
  const engine = createRedisEngine({ runtime: lab.runtime, clock: systemClock, jobs: jobs(lab) });
  const instance = anInstance({
    id: `ds_${randomBytes(8).toString('hex')}`,
    network: network.name,
    gateway: network.gateway,
    addresses: { main: network.gateway.replace(/\.1$/, '.9') },
    adminPassword: randomBytes(8).toString('hex'),
    ...over,
  });
  let containerId = '';
  const bench: RedisBench = {
    lab,
    network,
    engine,
    instance,
    containerId: () => containerId,
    raise: async (wanted) => {
      const fresh = containerId === '';
      if (!fresh) await lab.runtime.remove(containerId);
      bench.instance = wanted;
      for (const { role, container } of engine.units(wanted)) {
        containerId = (await lab.runtime.create(container)).id;
        const { rest } = await engine.place(wanted, { role, containerId, fresh });
        await rest;
        await lab.runtime.start(containerId);
      }
      await engine.settle(wanted, AbortSignal.timeout(60_000));
    },
    url: (credential = bench.instance.credentials.at(-1)) => {
      if (credential === undefined) throw new Error('no credential');
      const host = bench.instance.addresses['main'] ?? '';
      return engine.connection({ ...bench.instance, host }, credential).url;
    },
    query: (query, options = {}) =>
      engine.query(bench.instance, {
        query,
        params: [],
        write: true,
        timeoutMs: 10_000,
        maxRows: 500,
        maxBytes: 8 * 1024 ** 2,
        ...options,
      }),
    close: async () => {
      await lab.cleanUp();
      for (const { container } of engine.units(instance)) {
        for (const { name } of container.volumes) await lab.runtime.removeVolume(name);
      }
    },
  };
  try {
    await bench.raise(instance);
  } catch (error) {
    const lines: string[] = [];
    for await (const { line } of lab.runtime.logs(containerId, { follow: false, tail: 20 })) lines.push(line);
    await bench.close();
    throw new Error(`the server did not come up:\n${lines.join('\n')}`, { cause: error });
  }
  return bench;
};
