import { BerthError } from '#kernel/errors';
import { type Bytes, type DatastoreInstance, type DumpReport, JOB_INPUT, type JobEnd, type Jobs } from '../port.ts';
import { RdbCounter } from './rdb.ts';
import { imageOf } from './units.ts';

/**
 * A server of its own that loads the file and nothing else. It reads it as it comes, so no copy is
 * made anywhere, verifies structure and checksum as at any start, and ends with an error when either is wrong.
 */
const OPTIONS = {
  port: '6379',
  bind: '127.0.0.1',
  dir: '/dev',
  dbfilename: 'stdin',
  save: '',
  appendonly: 'no',
  rdbchecksum: 'yes',
  'sanitize-dump-payload': 'yes',
  loglevel: 'notice',
  logfile: '',
};
/** Opened for both, so that the server can open it again when all has been written. It never sees an end that way. */
const ON_STDIN = 'exec valkey-server "$@" <>"$0"';
const ARGV = [
  'sh',
  '-c',
  ON_STDIN,
  JOB_INPUT,
  ...Object.entries(OPTIONS).flatMap(([name, value]) => [`--${name}`, value]),
];

const LOADED = /Done loading RDB, keys loaded: (\d+), keys expired: (\d+)/;
const VERSION = /\bversion=([0-9.]+)/;
const READY = 'Ready to accept connections';
const MAX_LOG = 64 * 1024;

/** Loads a dump into a scratch server, and counts. Keys that have expired since the dump are counted as what they were. */
export const rehearse = async (
  jobs: Jobs,
  { instance, bytes, signal }: { instance: DatastoreInstance; bytes: Bytes; signal: AbortSignal },
): Promise<DumpReport> => {
  const served = new AbortController();
  const counter = new RdbCounter();
  let log = '';
  let isRead = false;
  // It would go on serving: there is nothing more to learn from it. But whoever sends the file may still find fault with it.
  const endWhenLoaded = (): void => {
    if (isRead && log.includes(READY)) served.abort();
  };
  const counted = async function* (): Bytes {
    for await (const chunk of bytes) {
      if (counter.push(chunk) < chunk.length) throw notLoadable('something follows the file');
      yield chunk;
    }
    if (!counter.done) throw notLoadable('the file ends too early');
    isRead = true;
    endWhenLoaded();
  };
  try {
    const end = await jobs.run({
      instance,
      purpose: 'rehearse',
      image: imageOf(instance.version),
      argv: ARGV,
      env: {},
      memoryMb: instance.memoryMb,
      input: counted(),
      stdout: (chunk) => {
        log = (log + Buffer.from(chunk).toString('latin1')).slice(-MAX_LOG);
        endWhenLoaded();
      },
      signal: AbortSignal.any([signal, served.signal]),
    });
    throw endedEarly(end, log);
  } catch (error) {
    if (!served.signal.aborted || signal.aborted) throw error;
  }
  return reportOf(log, counter.keys);
};

const reportOf = (log: string, inFile: number): DumpReport => {
  const [, loaded, expired] = LOADED.exec(log) ?? [];
  const keys = Number(loaded) + Number(expired);
  if (keys !== inFile) throw notLoadable(`the server loaded ${keys} keys of ${inFile}`, log);
  return { server: VERSION.exec(log)?.[1] ?? 'unknown', rows: keys, objects: { keys } };
};

const endedEarly = ({ exitCode, oomKilled, stderr }: JobEnd, log: string): BerthError =>
  oomKilled
    ? new BerthError('INTERNAL_ERROR', 'the backup could not be loaded: it needs more memory than the datastore has', {
        hint: 'raise the memory of the datastore, then back it up again',
      })
    : notLoadable(`the server ended with code ${exitCode}`, `${log}\n${stderr}`);

const notLoadable = (why: string, log = ''): BerthError =>
  new BerthError('INTERNAL_ERROR', `the backup can't be loaded: ${why}`, {
    hint: 'the file is damaged: use another backup, and back the datastore up again now',
    // Warnings and worse.
    logTail: log
      .split('\n')
      .filter((line) => line.includes(' # '))
      .slice(-10)
      .join('\n'),
  });
