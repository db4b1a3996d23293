import { escapeIdentifier, type Client } from 'pg';
import type { Clock } from '#kernel/clock';
import { conflict, notFound } from '#kernel/errors';
import { copyProperties, findDatabase, IN_USE, setAside } from './databases.ts';
import { sqlState } from './failures.ts';

export interface SwapNames {
  /** What apps connect to. */
  live: string;
  /** What takes its place. */
  database: string;
  /** What the live one is called from then on. */
  kept: string;
}

/** A rename waits 5 s for the sessions of its database to end. */
const ATTEMPTS = 6;
const TERMINATE_EVERY_MS = 25;
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK = '40P01';
const AGAIN = new Set([IN_USE, LOCK_NOT_AVAILABLE, DEADLOCK]);

/**
 * Puts a database in the place of the live one in one transaction: a crash leaves either state, and the call may be repeated.
 * The rename locks the live database first, so that new sessions wait at the door while those inside are ended; they are
 * then told once to connect again. `terminator` is a second session, because the first one waits.
 */
export const swapDatabases = async (
  how: { client: Client; terminator: Client; clock: Clock },
  names: SwapNames,
): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    if (await isSwapped(how.client, names)) return;
    const stop = new AbortController();
    try {
      await Promise.all([
        rename(how.client, names).finally(() => stop.abort()),
        terminateSessions(how, [names.live, names.database], stop.signal),
      ]);
      return;
    } catch (thrown) {
      await how.client.query('ROLLBACK');
      if (!AGAIN.has(sqlState(thrown) ?? '')) throw thrown;
      if (attempt === ATTEMPTS) throw inUse(names, thrown);
    }
  }
};

const isSwapped = async (client: Client, { live, database, kept }: SwapNames): Promise<boolean> => {
  const isThere = async (name: string): Promise<boolean> => (await findDatabase(client, name)) !== undefined;
  const isLive = await isThere(live);
  const isBeside = await isThere(database);
  const isKept = await isThere(kept);
  if (!isBeside && isKept && isLive) return true;
  if (!isBeside) throw notFound(`there is no database ${database} to swap in`, 'restore the backup again');
  if (isKept && isLive)
    throw conflict(`there is a database ${kept} already`, 'keep the live database under another name');
  return false;
};

const rename = async (client: Client, { live, database, kept }: SwapNames): Promise<void> => {
  const [liveSql, besideSql, keptSql] = [live, database, kept].map(escapeIdentifier);
  await client.query('BEGIN');
  const now = await findDatabase(client, live);
  if (now !== undefined) {
    await copyProperties(client, now, database);
    await client.query(`ALTER DATABASE ${liveSql} RENAME TO ${keptSql}`);
    await setAside(client, kept);
  }
  await client.query(`ALTER DATABASE ${besideSql} RENAME TO ${liveSql}`);
  await client.query('COMMIT');
};

/** Again and again: sessions that were being let in when the lock was taken show up a moment later. */
const terminateSessions = async (
  { terminator, clock }: { terminator: Client; clock: Clock },
  databases: string[],
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    await terminator.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ANY($1) AND pid <> pg_backend_pid()',
      [databases],
    );
    await clock.sleep(TERMINATE_EVERY_MS, signal);
  }
};

const inUse = ({ live }: SwapNames, cause: unknown) => {
  const failure = conflict(
    `sessions in the database ${live} would not end, so nothing was swapped`,
    'a long-running statement may not react: stop the services that use the datastore, then send it again',
    true,
  );
  failure.cause = cause;
  return failure;
};
