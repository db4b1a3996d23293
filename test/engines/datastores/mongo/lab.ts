import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock';
import { createMongoEngine } from '#engines/datastores/mongo/index';
import { createAuthority, issueCertificate } from '#engines/datastores/certificates';
import { createJobs } from '#engines/datastores/jobs';
import type { DatastoreEngine, DatastoreInstance, Jobs } from '#engines/datastores/port';
import { connect } from '#engines/datastores/postgres/connect';
import { createPostgresCore } from '#engines/datastores/postgres/core';
import { type Lab, type LabNetwork, openLab, quiet } from '../../runtime/support.ts';

/** Of all of them: nobody looks it up here. */
const HOST = 'docs.db.internal';
export const PASSWORD = 'pa55';

/** Real mongo datastores in a network of their own. */
export interface MongoLab {
  lab: Lab;
  network: LabNetwork;
  engine: DatastoreEngine;
  jobs: Jobs;
  /** An instance with addresses of its own in the network. */
  instance(name: string, changes?: Partial<DatastoreInstance>): DatastoreInstance;
  /** Creates, places and starts its containers, and settles it; ids by role. */
  provision(instance: DatastoreInstance): Promise<Record<string, string>>;
  /** How a driver reaches it from the host, which is the gateway of the network: the URL of apps with the address in it. */
  urlOf(instance: DatastoreInstance): string;
  /** Scratch instances that were started. */
  rehearsals: DatastoreInstance[];
  cleanUp(): Promise<void>;
}

export const openMongoLab = async (): Promise<MongoLab> => {
  const lab = openLab();
  const network = await lab.addNetwork('m');
  const folder = await mkdtemp(join(tmpdir(), 'berth-mongo-'));
  const authority = await createAuthority(Date.now());
  const tls = await issueCertificate(authority, { host: HOST, address: network.gateway, now: Date.now() });
  const deps = { runtime: lab.runtime, clock: systemClock, log: quiet };
  const postgres = createPostgresCore({ ...deps, connect, templateDir: folder, templateLabels: {} });
  const rehearsals: DatastoreInstance[] = [];
  let hosts = 10;
  const address = (): string => {
    hosts += 1;
    return network.gateway.replace(/\.\d+$/, `.${hosts}`);
  };
  const instance = (name: string, changes: Partial<DatastoreInstance> = {}): DatastoreInstance => ({
    id: `ds_${randomBytes(8).toString('hex')}`,
    kind: 'mongo',
    project: 'shop',
    name,
    version: '1.24',
    host: HOST,
    network: network.name,
    gateway: network.gateway,
    addresses: { storage: address(), main: address() },
    memoryMb: 512,
    cpus: 2,
    storageLimitMb: null,
    adminPassword: secret(),
    readerPassword: secret(),
    writerPassword: secret(),
    credentials: [{ user: 'app_one', password: PASSWORD }],
    tls,
    labels: {},
    ...changes,
  });

  const provision = async (
    engine: Pick<DatastoreEngine, 'units' | 'place' | 'settle'>,
    wanted: DatastoreInstance,
  ): Promise<Record<string, string>> => {
    const ids: Record<string, string> = {};
    for (const { role, container } of engine.units(wanted)) {
      const { id } = await lab.runtime.create(container);
      const { rest } = await engine.place(wanted, { role, containerId: id, fresh: true });
      await rest;
      await lab.runtime.start(id);
      ids[role] = id;
    }
    await engine.settle(wanted, AbortSignal.timeout(120_000));
    return ids;
  };

  const jobs = createJobs({
    ...deps,
    addresses: { reserve: address, release: () => undefined },
    labels: { job: 'yes' },
    pipesDir: join(folder, 'pipes'),
    newName: secret,
  });
  const engine = createMongoEngine({
    ...deps,
    jobs,
    templateDir: folder,
    templateLabels: {},
    scratch: {
      start: async (like) => {
        const started = instance('scratch', { kind: like.kind, version: like.version, addresses: { main: address() } });
        const ids = await provision(postgres, started);
        rehearsals.push(started);
        return { instance: started, remove: () => lab.runtime.remove(ids['main'] ?? '') };
      },
    },
  });
  return {
    lab,
    network,
    engine,
    jobs,
    instance,
    rehearsals,
    provision: (wanted) => provision(engine, wanted),
    urlOf: (wanted) => {
      const credential = wanted.credentials.at(-1);
      if (credential === undefined) throw new Error('an instance without credentials');
      return engine.connection(wanted, credential).url.replace(wanted.host, wanted.addresses['main'] ?? '');
    },
    cleanUp: async () => {
      await lab.cleanUp();
      await rm(folder, { recursive: true });
    },
  };
};

/** The error of what must fail. */
export const failureOf = async (work: Promise<unknown>): Promise<Error> => {
  try {
    await work;
  } catch (thrown) {
    if (thrown instanceof Error) return thrown;
    throw thrown;
  }
  throw new Error('it did not fail');
};

const secret = (): string => randomBytes(12).toString('hex');
