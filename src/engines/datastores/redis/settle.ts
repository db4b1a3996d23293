import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import type { DatastoreInstance } from '../port.ts';
import { type AclUser, aclUsers, setUser } from './acl.ts';
import { maxMemory, memorySettings, READ_ONLY_MAXMEMORY } from './config.ts';
import { isLoading, type Link, parseInfo, readInfo, withLink } from './link.ts';
import { itemsOf, type Reply, textOf } from './resp.ts';

const POLL_MS = 25;
const CALL_MS = 10_000;
/** Without a sign of life: the container does not come up. */
const SILENCE_MS = 60_000;
/** Reading its data from disk. A GB takes some seconds; beyond this the disk is not one to serve from. */
const LOADING_MS = 15 * 60_000;

export const untilReady = async (clock: Clock, instance: DatastoreInstance, signal: AbortSignal): Promise<void> => {
  const began = clock.monotonic();
  let heard = began;
  for (;;) {
    try {
      await withLink(instance, { as: 'admin', what: 'reach it', timeoutMs: CALL_MS, signal }, (link) =>
        link.all('answer', [['PING']]),
      );
      return;
    } catch (error) {
      const now = clock.monotonic();
      if (isLoading(error)) heard = now;
      if (signal.aborted || now - heard > SILENCE_MS || isFinal(error)) throw error;
      if (now - began > LOADING_MS) throw stillLoading(instance, error);
    }
    await clock.sleep(POLL_MS, signal);
  }
};

/** Waiting does not help against a wrong password. */
const isFinal = (thrown: unknown): boolean => thrown instanceof BerthError && !thrown.retryable;

const stillLoading = (instance: DatastoreInstance, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `${instance.name} is still reading its data from disk after 15 minutes`, {
    hint: 'it goes on by itself: look at the log of the datastore, and at how busy the disk is',
    retryable: true,
    cause,
  });

/** Makes users and settings what the instance says. Whatever is there already stays undisturbed. */
export const settleUsers = async (instance: DatastoreInstance, signal: AbortSignal): Promise<void> =>
  withLink(instance, { as: 'admin', what: 'set its users', timeoutMs: CALL_MS, signal }, async (link) => {
    const wanted = aclUsers(instance);
    const present = await readUsers(link);
    const ending = usersToEnd(wanted, present);
    const gone = [...present.keys()].filter((name) => !wanted.some((user) => user.name === name));
    // As one transaction: a session that a dropped password opened can't outlive it, even if berth dies in between.
    const [...replies] = await link.all('set its users', [
      ['MULTI'],
      ...wanted.map(setUser),
      ...(gone.length === 0 ? [] : [['ACL', 'DELUSER', ...gone]]),
      ...ending.map((name) => ['CLIENT', 'KILL', 'USER', name]),
      ['ACL', 'SAVE'],
      ['EXEC'],
    ]);
    requireNoErrors(replies.at(-1));
    await settleMemory(link, instance);
  });

/** Users by name, with the hashes of the passwords that they have now. */
const readUsers = async (link: Link): Promise<Map<string, string[]>> => {
  const [names] = await link.all('list its users', [['ACL', 'USERS']]);
  const users = new Map<string, string[]>();
  for (const name of itemsOf(names).map(textOf)) {
    const [user] = await link.all('describe a user', [['ACL', 'GETUSER', name]]);
    users.set(name, itemsOf(fieldOf(user, 'passwords')).map(textOf));
  }
  return users;
};

/**
 * Users that lose a password and go on. The server does not know which password opened a session, so all of that user's end;
 * for `default` those are only clients that sent no name, and they connect again. Users that go altogether take theirs along.
 */
export const usersToEnd = (wanted: readonly AclUser[], present: ReadonlyMap<string, string[]>): string[] =>
  wanted
    .filter(({ name, hashes }) => present.get(name)?.some((hash) => !hashes.includes(hash)))
    .map(({ name }) => name);

const settleMemory = async (link: Link, { memoryMb }: DatastoreInstance): Promise<void> => {
  const settings: Record<string, string> = memorySettings(memoryMb);
  // Writes that were refused for the storage limit stay refused until that says otherwise.
  if (!(await isReadOnly(link))) settings['maxmemory'] = String(maxMemory(memoryMb));
  await link.all('apply its memory limits', [['CONFIG', 'SET', ...Object.entries(settings).flat()]]);
};

const isReadOnly = async (link: Link): Promise<boolean> => {
  const [reply] = await link.all('tell its limits', [['CONFIG', 'GET', 'maxmemory']]);
  return textOf(fieldOf(reply, 'maxmemory')) === String(READ_ONLY_MAXMEMORY);
};

/**
 * By the memory limit rather than by rights: noeviction then refuses exactly the commands that add data, deleting goes on
 * working, and apps get the error that they know from a full store. Lasts until the next start of the container.
 */
export const setReadOnly = (instance: DatastoreInstance, readOnly: boolean): Promise<void> =>
  withLink(instance, { as: 'admin', what: 'change what it takes', timeoutMs: CALL_MS }, async (link) => {
    const limit = readOnly ? READ_ONLY_MAXMEMORY : maxMemory(instance.memoryMb);
    await link.all('change what it takes', [['CONFIG', 'SET', 'maxmemory', String(limit)]]);
  });

/**
 * Bytes of the append-only log, which is all that is kept on disk. While writes are refused, deleted keys would stay in it for
 * good, because nothing makes it grow to where the server compacts it by itself: so that is asked for here.
 */
export const usedBytes = (instance: DatastoreInstance): Promise<number> =>
  withLink(instance, { as: 'admin', what: 'measure it', timeoutMs: CALL_MS }, async (link) => {
    const info = await readInfo(link, 'persistence');
    const numberAt = (name: string): number => Number(info.get(name) ?? 0);
    const used = numberAt('aof_current_size');
    const rewriting = numberAt('aof_rewrite_in_progress') + numberAt('aof_rewrite_scheduled') > 0;
    if (!rewriting && used > numberAt('aof_base_size') && (await isReadOnly(link))) {
      await link.all('compact its log', [['BGREWRITEAOF']]);
    }
    return used;
  });

export const answers = async (instance: DatastoreInstance): Promise<boolean> => {
  try {
    await withLink(instance, { as: 'admin', what: 'reach it', timeoutMs: 2000 }, (link) =>
      link.all('answer', [['PING']]),
    );
    return true;
  } catch (error) {
    // Loading, busy, gone: to apps it is all the same.
    if (error instanceof BerthError) return false;
    throw error;
  }
};

/** The server's own version; `redis_version` is the one that it is compatible with. */
export const versionOf = (info: string): string => {
  const fields = parseInfo(info);
  return fields.get('valkey_version') ?? fields.get('redis_version') ?? 'unknown';
};

/** A field of a map; RESP2 sends maps as flat lists. */
const fieldOf = (reply: Reply | undefined, name: string): Reply | undefined =>
  reply?.kind === 'map' ? reply.pairs.find(([key]) => textOf(key) === name)?.[1] : undefined;

/** `EXEC` answers with a list in which single commands may have failed. */
const requireNoErrors = (reply: Reply | undefined): void => {
  const error = itemsOf(reply).find(({ kind }) => kind === 'error');
  if (error === undefined && reply?.kind === 'list') return;
  throw new BerthError('INTERNAL_ERROR', `the datastore could not set its users: ${textOf(error)}`, {
    hint: 'send it again; if it persists, look at the log of the datastore',
    retryable: true,
  });
};
