import { connect, type Socket } from 'node:net';
import { BerthError } from '#kernel/errors';
import type { DatastoreInstance } from '../port.ts';
import { ADMIN, READER, WRITER } from './acl.ts';
import { REDIS_PORT } from './config.ts';
import { codeOf, gaveUp, noAnswer, refused } from './failures.ts';
import { type Answer, encodeCommand, NO_LIMITS, type Reply, type ReplyLimits, ReplyReader, textOf } from './resp.ts';
import { addressOf } from './units.ts';

export type Command = readonly (string | Buffer)[];

/** One authenticated connection. Not for several callers at once. */
export interface Link {
  /** Sends a command and reads one reply, errors of the server included; a truncated one leaves the link unusable. */
  ask(command: Command, limits?: ReplyLimits): Promise<Answer>;
  /** Sends commands at once; fails with the first error of the server. */
  all(what: string, commands: readonly Command[]): Promise<Reply[]>;
  /** Sends a command whose answer is no reply; what comes is read with `reader`. */
  send(command: Command): void;
  reader: ReplyReader;
  /** Ends the connection at once, whatever is under way. */
  close(): void;
}

export interface LinkOptions {
  as: 'admin' | 'reader' | 'writer';
  /** Ends the link and whatever it is doing. */
  signal: AbortSignal;
  /** RESP version; replication has only ever spoken 2. */
  protocol?: 2 | 3;
  /** Read as in "berth could not <what>". */
  what: string;
}

/** Connects to the address of an instance; fails with a retryable BerthError while it does not let us in. */
export const openLink = async (instance: DatastoreInstance, options: LinkOptions): Promise<Link> => {
  const { signal, what } = options;
  if (signal.aborted) throw gaveUp(what, signal.reason);
  const socket = connect({ host: addressOf(instance), port: REDIS_PORT, noDelay: true });
  const link = overSocket(socket, options);
  const [user, password] = loginOf(instance, options.as);
  try {
    const version = String(options.protocol ?? 3);
    const { reply } = await link.ask(['HELLO', version, 'AUTH', user, password, 'SETNAME', 'berth']);
    if (reply.kind === 'error') throw refused('let berth in', reply.message);
    return link;
  } catch (error) {
    link.close();
    throw error;
  }
};

const loginOf = (instance: DatastoreInstance, as: LinkOptions['as']): [string, string] =>
  ({
    admin: [ADMIN, instance.adminPassword] as [string, string],
    reader: [READER, instance.readerPassword] as [string, string],
    writer: [WRITER, instance.writerPassword] as [string, string],
  })[as];

const overSocket = (socket: Socket, { signal, what }: LinkOptions): Link => {
  const onAbort = (): void => void socket.destroy();
  signal.addEventListener('abort', onAbort, { once: true });
  socket.once('close', () => signal.removeEventListener('abort', onAbort));
  // Whoever reads sees its errors; one that comes while nobody does must not be an uncaught one.
  socket.on('error', () => undefined);
  const reader = new ReplyReader(socket[Symbol.asyncIterator]());

  const read = async (limits?: ReplyLimits): Promise<Answer> => {
    try {
      return await reader.read(limits);
    } catch (error) {
      if (signal.aborted) throw gaveUp(what, signal.reason);
      throw error instanceof BerthError ? error : noAnswer(what, error);
    }
  };
  return {
    reader,
    send: (command) => void socket.write(encodeCommand(command)),
    ask: (command, limits = NO_LIMITS) => {
      socket.write(encodeCommand(command));
      return read(limits);
    },
    all: async (asked, commands) => {
      socket.write(Buffer.concat(commands.map(encodeCommand)));
      const replies: Reply[] = [];
      for (const _ of commands) replies.push((await read()).reply);
      const error = replies.find(({ kind }) => kind === 'error');
      if (error !== undefined) throw refused(asked, textOf(error));
      return replies;
    },
    close: () => void socket.destroy(),
  };
};

/** Opens a link, does something with it, and closes it; all within `timeoutMs`. */
export const withLink = async <T>(
  instance: DatastoreInstance,
  options: Omit<LinkOptions, 'signal'> & { timeoutMs: number; signal?: AbortSignal | undefined },
  run: (link: Link) => Promise<T>,
): Promise<T> => {
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal === undefined ? deadline : AbortSignal.any([deadline, options.signal]);
  const link = await openLink(instance, { ...options, signal });
  try {
    return await run(link);
  } finally {
    link.close();
  }
};

/** `INFO` as names and values. */
export const parseInfo = (text: string): Map<string, string> =>
  new Map(
    text.split('\r\n').flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return colon === -1 || line.startsWith('#') ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );

export const readInfo = async (link: Link, section: string): Promise<Map<string, string>> => {
  const [reply] = await link.all(`tell its ${section}`, [['INFO', section]]);
  return parseInfo(textOf(reply));
};

/** Whether the server said that it is reading its data from disk. */
export const isLoading = (thrown: unknown): boolean =>
  thrown instanceof BerthError && thrown.cause instanceof Error && codeOf(thrown.cause.message) === 'LOADING';
