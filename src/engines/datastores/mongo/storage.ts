import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import type { Labels, Runtime } from '#engines/runtime/port';
import type { DatastoreInstance, Jobs, Placing, Scratch } from '../port.ts';
import { APP_DATABASE, APP_ROLE, type Connect, withConnection } from '../postgres/connect.ts';
import { createPostgresDumps, type PostgresDumps } from '../postgres/dumps.ts';
import { placeServer } from '../postgres/place.ts';
import { imageOf } from '../postgres/server.ts';
import { settleServer } from '../postgres/settle.ts';
import type { DumpTarget } from '../postgres/target.ts';
import { createTemplates } from '../postgres/template.ts';
import { createUpkeep } from '../postgres/upkeep.ts';
import { countDocuments } from './documents.ts';
import { MAIN, STORAGE, STORAGE_MAJOR, storageOf, storageServer } from './spec.ts';

/** A dump waits for what holds a table. */
const DUMP_LOCK_MS = 30_000;
/**
 * FerretDB carries out nothing at all while it waits for the table of a collection to be dropped, and a dump holds all tables
 * until it ends: the drop fails instead.
 */
const LOCK_TIMEOUT = `ALTER DATABASE ${APP_DATABASE} SET lock_timeout = '2s'`;

export interface StorageDeps {
  runtime: Runtime;
  clock: Clock;
  log: Log;
  connect: Connect;
  jobs: Jobs;
  scratch: Scratch;
  /** Directory with the data directories that the Postgres engine prepares. */
  templateDir: string;
  templateLabels: Labels;
}

/** The Postgres behind FerretDB: made, kept and dumped as any of berth's, but for who may come in. */
export interface Storage extends Pick<PostgresDumps, 'dump' | 'rehearse'>, ReturnType<typeof createUpkeep> {
  place(instance: DatastoreInstance, container: { containerId: string; fresh: boolean }): Promise<Placing>;
  settle(instance: DatastoreInstance, signal: AbortSignal): Promise<void>;
}

export const createStorage = (deps: StorageDeps): Storage => {
  const templates = createTemplates({ ...deps, dir: deps.templateDir, labels: deps.templateLabels });
  const upkeep = createUpkeep(deps);
  const dumps = createPostgresDumps({
    ...deps,
    // Documents are counted in Postgres: a rehearsal needs no FerretDB.
    scratch: { start: (like, signal) => deps.scratch.start({ ...storageOf(like), kind: 'postgres' }, signal) },
    target: dumpTarget,
  });
  return {
    place: async (instance, { containerId, fresh }) => {
      const server = storageServer(instance);
      return (await placeServer({ ...deps, templates }, { server, containerId, fresh })).placing;
    },
    settle: async (instance, signal) => {
      const passwords = [instance.adminPassword, await templates.password()];
      await settleServer(deps, { server: storageServer(instance), passwords, signal });
      const what = `settle the storage of ${instance.name}`;
      await withConnection(
        { connect: deps.connect, instance: storageOf(instance), what, options: { as: 'admin', signal } },
        (client) => client.query(LOCK_TIMEOUT),
      );
    },
    quiesce: (instance, signal) => upkeep.quiesce(storageOf(instance), signal),
    answers: (instance) => upkeep.answers(storageOf(instance)),
    usedBytes: (instance) => upkeep.usedBytes(storageOf(instance)),
    setReadOnly: (instance, readOnly) => upkeep.setReadOnly(storageOf(instance), readOnly),
    dump: dumps.dump,
    rehearse: dumps.rehearse,
  };
};

/** Of the storage, or of the Postgres that a rehearsal was given. */
const dumpTarget = (instance: DatastoreInstance): DumpTarget => ({
  instance: instance.kind === 'mongo' ? storageOf(instance) : instance,
  unit: instance.kind === 'mongo' ? STORAGE : MAIN,
  image: imageOf(STORAGE_MAJOR),
  major: Number(STORAGE_MAJOR),
  database: APP_DATABASE,
  reader: 'reader',
  owner: 'writer',
  ownerRole: APP_ROLE,
  lockTimeoutMs: DUMP_LOCK_MS,
  count: countDocuments,
});
