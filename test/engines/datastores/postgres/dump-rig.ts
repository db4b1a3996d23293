import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Client } from 'pg';
import { systemClock } from '#kernel/clock';
import { createJobs } from '#engines/datastores/jobs';
import type { DatastoreInstance, Jobs, Scratch } from '#engines/datastores/port';
import { connect } from '#engines/datastores/postgres/connect';
import { createPostgresDumps, type PostgresDumps } from '#engines/datastores/postgres/dumps';
import { quiet } from '#test/engines/runtime/support.ts';
import { CREDENTIAL, openCoreRig, type CoreRig } from './core-rig.ts';

/** One Postgres as berth makes it, with jobs and scratch instances beside it. */
export interface DumpRig {
  core: CoreRig;
  instance: DatastoreInstance;
  container: string;
  dumps: PostgresDumps;
  jobs: Jobs;
  /** A client as an app of the project is one. */
  app(): Promise<Client>;
  /** The superuser, in any database. */
  admin(database?: string): Promise<Client>;
  /** Rows of one statement, on a connection of its own. */
  rows(open: () => Promise<Client>, statement: string, values?: unknown[]): Promise<unknown[]>;
  close(): Promise<void>;
}

const FIRST_JOB_ADDRESS = 100;

export const openDumpRig = async (
  over: Partial<DatastoreInstance> = {},
  before: (instance: DatastoreInstance) => Promise<void> = async () => {},
): Promise<DumpRig> => {
  const core = await openCoreRig();
  const instance = await core.instance('db', over);
  await before(instance);
  const container = await core.up(instance);
  const jobs = jobsOf(core);
  const app = (): Promise<Client> => connect(instance, { as: CREDENTIAL });
  return {
    core,
    instance,
    container,
    jobs,
    app,
    dumps: createPostgresDumps({ clock: systemClock, log: quiet, jobs, connect, scratch: scratchOf(core) }),
    admin: (database = 'postgres') => connect(instance, { as: 'admin', database }),
    rows: async (open, statement, values = []) => {
      const client = await open();
      try {
        return (await client.query(statement, values)).rows;
      } finally {
        await client.end();
      }
    },
    close: () => core.close(),
  };
};

const jobsOf = ({ lab, network }: CoreRig): Jobs => {
  const taken = new Set<number>();
  return createJobs({
    runtime: lab.runtime,
    clock: systemClock,
    log: quiet,
    labels: {},
    pipesDir: join(lab.dir, 'pipes'),
    newName: () => randomBytes(4).toString('hex'),
    addresses: {
      reserve: () => {
        let index = FIRST_JOB_ADDRESS;
        while (taken.has(index)) index += 1;
        taken.add(index);
        return network.gateway.replace(/\.1$/, `.${index}`);
      },
      release: (_, ip) => taken.delete(Number(ip.split('.').at(-1))),
    },
  });
};

const scratchOf = (core: CoreRig): Scratch => ({
  start: async (like) => {
    const instance = await core.instance(`scratch-${randomBytes(4).toString('hex')}`, { version: like.version });
    const id = await core.up(instance);
    return { instance, remove: () => core.lab.runtime.remove(id) };
  },
});
