import { BerthError } from '#kernel/errors';
import type { DatastoreInstance, Dump, DumpReport } from '../port.ts';
import { gaveUp, noAnswer, refused } from './failures.ts';
import { type Link, openLink } from './link.ts';
import { RdbCounter } from './rdb.ts';
import { textOf } from './resp.ts';
import { versionOf } from './settle.ts';

/** Nothing came for so long: the fork hangs, or the machine does. */
const IDLE_MS = 120_000;
const MARK_BYTES = 40;
const WHAT = 'dump it';

/**
 * An RDB file of this very moment, by the replication stream: the server forks and streams its snapshot, as it would to a
 * replica that wants nothing else (`rdb-only`) and whose end of the file is announced (`capa eof`), so nothing is written to
 * disk. https://valkey.io/topics/replication/ and `getRDB` of valkey-cli, which does the same.
 */
export const dump = async (instance: DatastoreInstance, outer: AbortSignal): Promise<Dump> => {
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  const link = await openLink(instance, { as: 'admin', what: WHAT, signal, protocol: 2 });
  try {
    const [info] = await link.all(WHAT, [
      ['INFO', 'server'],
      ['REPLCONF', 'capa', 'eof'],
      ['REPLCONF', 'rdb-only', '1'],
    ]);
    link.send(['SYNC']);
    return dumpOf({ link, mark: await readMark(link), server: versionOf(textOf(info)), signal, stop });
  } catch (error) {
    link.close();
    if (signal.aborted) throw gaveUp(WHAT, signal.reason);
    throw error instanceof BerthError ? error : noAnswer(WHAT, error);
  }
};

interface Stream {
  link: Link;
  mark: Buffer;
  server: string;
  signal: AbortSignal;
  stop: AbortController;
}

/** `$EOF:` and 40 characters that will follow the file; empty lines before it only say that the server lives. */
const readMark = async (link: Link): Promise<Buffer> => {
  for (;;) {
    const line = await link.reader.line();
    if (line.startsWith('-')) throw refused(WHAT, line.slice(1));
    if (line === '') continue;
    const mark = /^\$EOF:(.{40})$/.exec(line)?.[1];
    if (mark === undefined) throw refused(WHAT, `unexpected answer to SYNC: ${line.slice(0, 60)}`);
    return Buffer.from(mark, 'latin1');
  }
};

const dumpOf = (stream: Stream): Dump => {
  const report = Promise.withResolvers<DumpReport>();
  // It is also thrown to whoever reads the bytes.
  report.promise.catch(() => undefined);
  const onAbort = (): void => report.reject(gaveUp(WHAT, stream.signal.reason));
  stream.signal.addEventListener('abort', onAbort, { once: true });
  const end = (): void => {
    stream.signal.removeEventListener('abort', onAbort);
    stream.link.close();
  };

  const chunks = async function* (): AsyncGenerator<Uint8Array, undefined, undefined> {
    const counter = new RdbCounter();
    try {
      yield* fileOf(stream, counter);
      report.resolve({ server: stream.server, rows: counter.keys, objects: { keys: counter.keys } });
    } catch (error) {
      report.reject(error);
      throw error;
    } finally {
      end();
      report.reject(gaveUp(WHAT, new Error('not read to its end')));
    }
    return undefined;
  };
  const reading = chunks();
  const bytes: AsyncIterableIterator<Uint8Array, undefined, undefined> = {
    [Symbol.asyncIterator]: () => bytes,
    next: () => reading.next(),
    // A generator that has not begun would not notice that it is given up.
    return: () => {
      end();
      report.reject(gaveUp(WHAT, new Error('given up')));
      return reading.return(undefined);
    },
  };
  return { bytes, report: report.promise };
};

async function* fileOf(stream: Stream, counter: RdbCounter): AsyncGenerator<Uint8Array, void, undefined> {
  let after: Buffer = Buffer.alloc(0);
  while (!counter.done || after.length < MARK_BYTES) {
    const chunk = await nextChunk(stream);
    const used = counter.push(chunk);
    if (used > 0) yield chunk.subarray(0, used);
    after = Buffer.concat([after, chunk.subarray(used)]);
  }
  if (!after.equals(stream.mark)) throw cutOff(new Error('the mark behind the file is not the announced one'));
}

const nextChunk = async ({ link, signal, stop }: Stream): Promise<Buffer> => {
  const timer = setTimeout(() => stop.abort(new DOMException('nothing came', 'TimeoutError')), IDLE_MS);
  try {
    const chunk = await link.reader.rest();
    if (chunk === undefined) throw new Error('the connection was closed');
    return chunk;
  } catch (error) {
    throw signal.aborted ? gaveUp(WHAT, signal.reason) : cutOff(error);
  } finally {
    clearTimeout(timer);
  }
};

/** What the server does when its fork fails in the middle. */
const cutOff = (cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', 'the dump of the datastore broke off before its end', {
    hint: 'it may lack the memory for a snapshot, see the log of the datastore: raise its memory, or back it up at a quieter time',
    retryable: true,
    cause,
  });
