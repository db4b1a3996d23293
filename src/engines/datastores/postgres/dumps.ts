import type { Clock } from '#kernel/clock';
import { BerthError, invalidInput } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { escapeIdentifier, type Client } from 'pg';
import type { Beside, Bytes, DatastoreEngine, DatastoreInstance, DumpReport, Jobs, Scratch } from '../port.ts';
import { withConnection, type Connect } from './connect.ts';
import { createLike, dropDatabase, findDatabase, listDatabases, markFilled } from './databases.ts';
import { dumpDatabase } from './dump.ts';
import { databaseSettings } from './grants.ts';
import { fillDatabase, type Loaded } from './load.ts';
import { swapDatabases } from './swap.ts';
import { appTarget, type DumpTarget, lastingSession } from './target.ts';

export type PostgresDumps = Pick<
  DatastoreEngine,
  'dump' | 'rehearse' | 'load' | 'loadBeside' | 'swap' | 'listBeside' | 'dropBeside'
>;

export interface PostgresDumpsDeps {
  clock: Clock;
  log: Log;
  jobs: Jobs;
  scratch: Scratch;
  connect: Connect;
  /** Which database of an instance it is about. Default: that of apps. */
  target?: (instance: DatastoreInstance) => DumpTarget;
}

/** CREATE, DROP and ALTER DATABASE: files are copied and removed, and a checkpoint may be waited for. */
const ADMIN_MS = 300_000;
const DROP_ATTEMPTS = 15;
const DROP_PAUSE_MS = 1000;
const LOADING = '_loading';
const EMPTY = '_empty';
const REHEARSED = '_rehearsed';
const NAME = /^[a-z][a-z0-9_]{0,62}$/;
const RESERVED = new Set(['postgres', 'template0', 'template1']);

/** Backups of a Postgres database: made from one snapshot, restored as the owner of the database, swapped in one step. */
export const createPostgresDumps = (deps: PostgresDumpsDeps): PostgresDumps => {
  const targetOf = deps.target ?? appTarget;
  const beside = (target: DumpTarget, database: string): string => {
    if (!NAME.test(database) || RESERVED.has(database) || database === target.database) {
      throw invalidInput(`${database} is no name for a database beside the live one`, 'take a–z, 0–9 and underscores');
    }
    return database;
  };

  const loadBeside = async (
    target: DumpTarget,
    request: { database: string; bytes: Bytes; signal: AbortSignal },
  ): Promise<Loaded> => {
    const created = asAdmin(deps, target, 'create a database for the restore', async (client) => {
      const live = await findDatabase(client, target.database);
      if (live === undefined) throw missing(target);
      await createLike(client, live, request.database);
    });
    // Whoever fills it waits for it, once all else is ready.
    const isCreated = created.then(
      () => true,
      () => false,
    );
    try {
      const loaded = await whileGuarded(deps, target, () => fillDatabase(deps, target, { ...request, created }));
      await asAdmin(deps, target, 'finish the restore', (client) => markFilled(client, request.database));
      return loaded;
    } catch (thrown) {
      if (await isCreated) await giveUp(deps, target, request.database);
      throw thrown;
    }
  };

  const swap = (target: DumpTarget, names: { database: string; kept: string }): Promise<void> =>
    asAdmin(deps, target, 'swap the databases', (client) =>
      asAdmin(deps, target, 'end the sessions', (terminator) =>
        swapDatabases({ client, terminator, clock: deps.clock }, { live: target.database, ...names }),
      ),
    );

  const drop = (target: DumpTarget, database: string): Promise<void> =>
    asAdmin(deps, target, `drop the database ${database}`, (client) => dropDatabase(client, database));

  return {
    dump: (instance, signal) => dumpDatabase(deps, targetOf(instance), signal),

    rehearse: async (instance, bytes, signal) => {
      const scratch = await deps.scratch.start(instance, signal);
      try {
        const target = targetOf(scratch.instance);
        const { report } = await loadBeside(target, { database: `${target.database}${REHEARSED}`, bytes, signal });
        return report;
      } finally {
        await scratch.remove();
      }
    },

    load: async (instance, bytes, signal): Promise<DumpReport> => {
      const target = targetOf(instance);
      const loading = `${target.database}${LOADING}`;
      const kept = `${target.database}${EMPTY}`;
      await drop(target, kept);
      const { report, properties } = await loadBeside(target, { database: loading, bytes, signal });
      await swap(target, { database: loading, kept });
      await drop(target, kept);
      await applySettings(deps, target, properties);
      return report;
    },

    loadBeside: async (instance, database, bytes, signal): Promise<Beside> => {
      const target = targetOf(instance);
      const { report } = await loadBeside(target, { database: beside(target, database), bytes, signal });
      return { database, report };
    },

    swap: async (instance, { database, kept }) => {
      const target = targetOf(instance);
      await swap(target, { database: beside(target, database), kept: beside(target, kept) });
    },

    listBeside: (instance) => {
      const target = targetOf(instance);
      return asAdmin(deps, target, 'list the databases', async (client) =>
        (await listDatabases(client)).filter((name) => name !== target.database),
      );
    },

    dropBeside: async (instance, database) => {
      const target = targetOf(instance);
      await drop(target, beside(target, database));
    },
  };
};

const asAdmin = <T>(
  { connect }: { connect: Connect },
  { instance, unit }: DumpTarget,
  what: string,
  work: (client: Client) => Promise<T>,
): Promise<T> =>
  withConnection({ connect, instance, what, options: { as: 'admin', unit, statementMs: ADMIN_MS } }, work);

/**
 * The owner may drop the live database from within another one, as an archive could, unless the superuser is in it. Fails when
 * he was not in it all the time: the server ended meanwhile.
 */
const whileGuarded = <T>(deps: PostgresDumpsDeps, target: DumpTarget, work: () => Promise<T>): Promise<T> => {
  const { instance, unit, database } = target;
  const options = { as: 'admin', unit, database, options: lastingSession(target) } as const;
  return withConnection({ connect: deps.connect, instance, what: 'restore the database', options }, async (client) => {
    const result = await work();
    await client.query('SELECT 1');
    return result;
  });
};

/**
 * What was half restored goes, also when the server has to recover first. When that fails too, the first failure is what is
 * told, and `listBeside` finds what was left.
 */
const giveUp = async (deps: PostgresDumpsDeps, target: DumpTarget, database: string): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await asAdmin(deps, target, `drop the database ${database}`, (client) => dropDatabase(client, database));
      return;
    } catch (thrown) {
      if (attempt === DROP_ATTEMPTS || !(thrown instanceof BerthError && thrown.retryable)) {
        deps.log.error('a half restored database was left behind', thrown, { datastore: target.instance.id, database });
        return;
      }
    }
    await deps.clock.sleep(DROP_PAUSE_MS);
  }
};

/** What the database had set for all its sessions: applied by its owner, who may set nothing beyond. */
const applySettings = async (deps: PostgresDumpsDeps, target: DumpTarget, properties: string[]): Promise<void> => {
  const settings = properties.flatMap((text) => databaseSettings(text, escapeIdentifier(target.database)));
  if (settings.length === 0) return;
  const options = { as: target.owner, database: target.database, unit: target.unit };
  await withConnection(
    { connect: deps.connect, instance: target.instance, what: 'apply the settings of the database', options },
    async (client) => {
      for (const setting of settings) await client.query(setting);
    },
  );
};

const missing = ({ instance, database }: DumpTarget): BerthError =>
  new BerthError('INTERNAL_ERROR', `the datastore ${instance.name} has no database ${database}`, {
    hint: 'restart the datastore, so that berth prepares it anew, then send it again',
    retryable: true,
  });
