import type { Client } from 'pg';
import type { Clock } from '#kernel/clock';
import { BerthError, messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { DatastoreInstance } from '../port.ts';
import { backendKeyOf, cancelRequest, sendCancel } from './cancel.ts';
import { addressOf, type Connect, destroy, loginOf } from './connect.ts';
import { sqlState } from './failures.ts';
import { after, type Limit } from './limit.ts';

/** Connections of one role to one instance at once: the apps need the others. */
const MAX_IN_USE = 8;
const MAX_IDLE = 2;
const IDLE_MS = 60_000;
/** A session is not used beyond either: memory on the server and the settings of its role are renewed now and then. */
const MAX_USES = 100;
const MAX_AGE_MS = 10 * 60_000;
const CLEAN_MS = 2000;

/** What a value looks like does not depend on what a database or a role was set to. */
const DISPLAY = ['TimeZone=UTC', 'DateStyle=ISO', 'IntervalStyle=postgres', 'bytea_output=hex', 'extra_float_digits=1'];
/** Notices go nowhere; and a statement whose client is gone ends, even when no cancel request came through. */
const CONDUCT = ['client_min_messages=error', 'client_connection_check_interval=2000'];
const OPTIONS = [...DISPLAY, ...CONDUCT].map((setting) => `-c ${setting}`).join(' ');

type ConsoleRole = 'reader' | 'writer';

interface Wanted {
  instance: DatastoreInstance;
  as: ConsoleRole;
  signal: AbortSignal;
}

interface Session {
  client: Client;
  /** It was opened for an earlier request, so it may have died unnoticed. */
  reused: boolean;
  /** Gives it back; it is used again if it can be made as good as new. */
  release(): void;
  /** Cancels on the server what it runs, and cuts it off. */
  drop(): void;
}

/** Connections of consoles, kept warm for a minute: TLS and authentication cost many times what a small query does. */
export interface Sessions {
  take(wanted: Wanted): Promise<Session>;
  takeFresh(wanted: Wanted): Promise<Session>;
  /** Ends those that are idle; those in use end when they are given back. */
  close(): void;
}

interface Kept {
  client: Client;
  uses: number;
  openedAt: number;
}

interface Idle {
  kept: Kept;
  /** Aborted when it is taken, or its time is over. */
  over: AbortController;
}

interface Pool {
  instance: DatastoreInstance;
  idle: Idle[];
  inUse: number;
}

export const createSessions = (deps: { clock: Clock; log: Log; connect: Connect }): Sessions => {
  const pools = new Map<string, Pool>();
  let closed = false;

  const poolOf = ({ instance, as }: Wanted): Pool => {
    const key = JSON.stringify([instance.id, addressOf(instance, 'main'), loginOf(instance, as)]);
    for (const [other, pool] of pools) if (pool.inUse === 0 && pool.idle.length === 0) pools.delete(other);
    const pool = pools.get(key) ?? { instance, idle: [], inUse: 0 };
    pools.set(key, pool);
    return pool;
  };

  const rest = (pool: Pool, kept: Kept): void => {
    const idle = { kept, over: new AbortController() };
    pool.idle.push(idle);
    const leave = (): void => {
      idle.over.abort();
      kept.client.removeListener('end', leave);
      if (!pool.idle.includes(idle)) return;
      pool.idle.splice(pool.idle.indexOf(idle), 1);
      destroy(kept.client);
    };
    kept.client.once('end', leave);
    void deps.clock.sleep(IDLE_MS, idle.over.signal).then(leave);
  };

  const wake = (pool: Pool): Kept | undefined => {
    const idle = pool.idle.pop();
    idle?.over.abort();
    if (idle !== undefined) idle.kept.uses += 1;
    return idle?.kept;
  };

  const giveBack = async (pool: Pool, kept: Kept): Promise<void> => {
    const worn = kept.uses >= MAX_USES || deps.clock.monotonic() - kept.openedAt > MAX_AGE_MS;
    let good = !worn && !closed && !kept.client.connection.stream.destroyed && pool.idle.length < MAX_IDLE;
    try {
      if (good) await clean(deps.clock, kept.client);
    } catch (thrown) {
      good = false;
      deps.log.debug('a console session could not be reset, so it was ended', { error: messageOf(thrown) });
    }
    pool.inUse -= 1;
    if (good && !closed) rest(pool, kept);
    else destroy(kept.client);
  };

  const drop = (pool: Pool, kept: Kept): void => {
    const key = backendKeyOf(kept.client);
    if (key !== undefined) void sendCancel(deps.clock, pool.instance, cancelRequest(key));
    destroy(kept.client);
    pool.inUse -= 1;
  };

  const sessionOf = (pool: Pool, kept: Kept, reused: boolean): Session => {
    let held = true;
    const once = (work: () => void) => (): void => {
      if (held) {
        held = false;
        work();
      }
    };
    const { client } = kept;
    return { client, reused, release: once(() => void giveBack(pool, kept)), drop: once(() => drop(pool, kept)) };
  };

  const take = async (wanted: Wanted, choose: (pool: Pool) => Kept | undefined): Promise<Session> => {
    const pool = poolOf(wanted);
    if (pool.inUse >= MAX_IN_USE) throw busy(wanted.instance.name);
    pool.inUse += 1;
    const kept = choose(pool);
    if (kept !== undefined) return sessionOf(pool, kept, true);
    try {
      const client = await open(deps.connect, wanted);
      return sessionOf(pool, { client, uses: 1, openedAt: deps.clock.monotonic() }, false);
    } catch (thrown) {
      pool.inUse -= 1;
      throw thrown;
    }
  };

  return {
    take: (wanted) => take(wanted, wake),
    takeFresh: (wanted) => take(wanted, () => undefined),
    close: () => {
      closed = true;
      for (const pool of pools.values()) for (const idle of pool.idle) idle.over.abort();
    },
  };
};

/**
 * Runs `work` on a session after `prologue`, which must do nothing that a second run would change: a session that died while
 * it was idle shows that at its first statement. The session is cut off when the limit is reached.
 */
export const onSession = async <T>(
  sessions: Sessions,
  instance: DatastoreInstance,
  how: { as: ConsoleRole; prologue: string; limit: Limit },
  work: (client: Client) => Promise<T>,
): Promise<T> => {
  const { signal } = how.limit;
  const wanted = { instance, as: how.as, signal };
  const attempt = async (session: Session): Promise<{ result: T } | 'died'> => {
    const onAbort = (): void => session.drop();
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      try {
        await session.client.query(how.prologue);
      } catch (thrown) {
        if (session.reused && !signal.aborted && hasEnded(thrown)) return 'died';
        throw thrown;
      }
      return { result: await work(session.client) };
    } finally {
      signal.removeEventListener('abort', onAbort);
      session.release();
    }
  };
  const first = await attempt(await sessions.take(wanted));
  if (first !== 'died') return first.result;
  const second = await attempt(await sessions.takeFresh(wanted));
  if (second === 'died') throw new TypeError('a fresh session is never taken for a dead one');
  return second.result;
};

/** The connection broke, or the server said that it ended it (57P01 and its neighbours). */
const hasEnded = (thrown: unknown): boolean => sqlState(thrown)?.startsWith('57P') ?? true;

/** Makes a session like a new one: locks, temporary tables, settings, listeners and prepared statements are gone. */
const clean = async (clock: Clock, client: Client): Promise<void> => {
  const done = new AbortController();
  void after(clock, CLEAN_MS, done.signal, () => destroy(client));
  try {
    if (client.getTransactionStatus() !== 'I') await client.query('ROLLBACK');
    await client.query('DISCARD ALL');
    // DISCARD ALL forgets the role that the login is set to take on.
    await client.query('RESET ROLE');
  } finally {
    done.abort();
  }
};

/** The signal of a request counts until the connection stands: the connection outlives the request. */
const open = async (connect: Connect, { instance, as, signal }: Wanted): Promise<Client> => {
  const opening = new AbortController();
  const onAbort = (): void => opening.abort(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await connect(instance, { as, statementMs: 0, options: OPTIONS, signal: opening.signal });
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

const busy = (name: string): BerthError =>
  new BerthError('QUOTA_EXCEEDED', `${MAX_IN_USE} queries to ${name} are already running, the most at once`, {
    hint: 'send it again when one of them has ended',
    retryable: true,
    retryAfterSeconds: 1,
  });
