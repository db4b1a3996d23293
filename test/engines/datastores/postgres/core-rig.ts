import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from 'pg';
import { systemClock } from '#kernel/clock';
import { createAuthority, issueCertificate } from '#engines/datastores/certificates';
import type { DatastoreInstance, TlsFiles } from '#engines/datastores/port';
import { connect, type ConnectOptions, disconnect } from '#engines/datastores/postgres/connect';
import { createPostgresCore, type PostgresCore } from '#engines/datastores/postgres/core';
import { type Lab, type LabNetwork, openLab, quiet } from '#test/engines/runtime/support.ts';
import { docker } from '#test/support/docker.ts';

/** Real Postgres servers in a network of their own, as berth makes them. */
export interface CoreRig {
  lab: Lab;
  network: LabNetwork;
  core: PostgresCore;
  templateDir: string;
  /** For files of a test. */
  folder: string;
  instance(name: string, over?: Partial<DatastoreInstance>): Promise<DatastoreInstance>;
  /** Created, placed, started and settled; resolves with the container's id. */
  up(instance: DatastoreInstance, core?: PostgresCore): Promise<string>;
  /** Runs `work` on one connection. */
  on<T>(instance: DatastoreInstance, options: ConnectOptions, work: (client: Client) => Promise<T>): Promise<T>;
  /** A core of another berth process: it remembers nothing. */
  restarted(): PostgresCore;
  close(): Promise<void>;
}

export const SETTLE_MS = 60_000;
export const CREDENTIAL = { user: 'app_first', password: 'first-password' };

export const openCoreRig = async (): Promise<CoreRig> => {
  const lab = openLab();
  const network = await lab.addNetwork('pg');
  const folder = await mkdtemp(join(tmpdir(), 'berth-pg-core-'));
  const templateDir = join(folder, 'templates');
  const restarted = (): PostgresCore =>
    createPostgresCore({
      runtime: lab.runtime,
      clock: systemClock,
      log: quiet,
      connect,
      templateDir,
      templateLabels: {},
    });
  const core = restarted();
  let counter = 10;
  return {
    lab,
    network,
    core,
    templateDir,
    folder,
    restarted,
    instance: async (name, over = {}) => {
      counter += 1;
      const host = over.host ?? `${name}.db.internal`;
      const address = addressAt(network, counter);
      return {
        id: `ds_${randomBytes(8).toString('hex')}`,
        kind: 'postgres',
        project: lab.prefix,
        name,
        version: '17',
        host,
        network: network.name,
        gateway: network.gateway,
        addresses: { main: address },
        memoryMb: 512,
        cpus: 2,
        storageLimitMb: null,
        adminPassword: 'admin-password',
        readerPassword: 'reader-password',
        writerPassword: 'writer-password',
        credentials: [CREDENTIAL],
        tls: await certificate(host, address),
        labels: {},
        ...over,
      };
    },
    up: async (instance, by = core) => {
      const [unit] = by.units(instance);
      if (unit === undefined) throw new Error('no unit');
      const fresh = !(await lab.runtime.listVolumes({})).some(({ name }) => name === unit.container.volumes[0]?.name);
      const { id } = await lab.runtime.create(unit.container);
      const { rest } = await by.place(instance, { role: unit.role, containerId: id, fresh });
      await Promise.all([rest, lab.runtime.start(id)]);
      await by.settle(instance, AbortSignal.timeout(SETTLE_MS));
      return id;
    },
    on: async (instance, options, work) => {
      const client = await connect(instance, options);
      try {
        return await work(client);
      } finally {
        await disconnect(client);
      }
    },
    close: async () => {
      await lab.cleanUp();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

const addressAt = ({ gateway }: LabNetwork, index: number): string => gateway.replace(/\.1$/, `.${index}`);

/** A certificate for `host`, signed by an authority of its own. */
export const certificate = async (host: string, address: string): Promise<TlsFiles> => {
  const now = Date.now();
  return await issueCertificate(await createAuthority(now), { host, address, now });
};

/** Runs a command as an app of the project would: from a container in its network. */
export const fromApp = async (
  rig: CoreRig,
  request: { image: string; argv: string[]; env?: Record<string, string>; files?: Record<string, string> },
): Promise<{ out: string; failed: boolean }> => {
  const env = Object.entries(request.env ?? {}).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const mounts = Object.entries(request.files ?? {}).flatMap(([target, source]) => ['-v', `${source}:${target}:ro`]);
  const [entrypoint = '', ...argv] = request.argv;
  try {
    const place = ['--rm', '--network', rig.network.name, '--entrypoint', entrypoint];
    return { out: await docker(['run', ...place, ...env, ...mounts, request.image, ...argv]), failed: false };
  } catch (thrown) {
    return { out: String(thrown), failed: true };
  }
};
