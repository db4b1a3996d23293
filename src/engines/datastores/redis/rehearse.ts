import { BerthError } from '#kernel/errors';
import type { Bytes, DatastoreInstance, DumpReport, Jobs } from '../port.ts';
import { imageOf } from './units.ts';

/**
 * A server of its own that loads the file and nothing else. It reads it from its standard input as it comes, so no copy is
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
const ARGV = ['valkey-server', ...Object.entries(OPTIONS).flatMap(([name, value]) => [`--${name}`, value])];

const LOADED = /Done loading RDB, keys loaded: (\d+), keys expired: (\d+)/;
const VERSION = /\bversion=([0-9.]+)/;
const READY = 'Ready to accept connections';
const MAX_LOG = 64 * 1024;

/** Loads a dump into a scratch server, and counts. Keys that have expired since the dump are counted as what they were. */
export const rehearse = async (
  jobs: Jobs,
  { instance, bytes, signal }: { instance: DatastoreInstance; bytes: Bytes; signal: AbortSignal },
): Promise<DumpReport> => {
  const loaded = new AbortController();
  let log = '';
  const stdout = (chunk: Uint8Array): void => {
    log = (log + Buffer.from(chunk).toString('latin1')).slice(-MAX_LOG);
    // It would go on serving: there is nothing more to learn from it.
    if (log.includes(READY)) loaded.abort();
  };
  try {
    const { exitCode, oomKilled, stderr } = await jobs.run({
      instance,
      purpose: 'rehearse',
      image: imageOf(instance.version),
      argv: ARGV,
      env: {},
      memoryMb: instance.memoryMb,
      stdin: bytes,
      stdout,
      signal: AbortSignal.any([signal, loaded.signal]),
    });
    if (!loaded.signal.aborted) throw notLoadable({ exitCode, oomKilled, said: `${log}\n${stderr}` });
  } catch (error) {
    if (!loaded.signal.aborted || signal.aborted) throw error;
  }
  return reportOf(log);
};

const reportOf = (log: string): DumpReport => {
  const counts = LOADED.exec(log);
  if (counts === null) throw notLoadable({ exitCode: 0, oomKilled: false, said: log });
  const keys = Number(counts[1]) + Number(counts[2]);
  return { server: VERSION.exec(log)?.[1] ?? 'unknown', rows: keys, objects: { keys } };
};

const notLoadable = ({
  exitCode,
  oomKilled,
  said,
}: {
  exitCode: number;
  oomKilled: boolean;
  said: string;
}): BerthError => {
  const lines = said.split('\n').filter((line) => line.includes(' # '));
  const why = oomKilled ? 'it needs more memory than the datastore has' : `the server ended with code ${exitCode}`;
  return new BerthError('INTERNAL_ERROR', `the backup can't be loaded: ${why}`, {
    hint: oomKilled
      ? 'raise the memory of the datastore, then back it up again'
      : 'the file is damaged: use another backup, and back the datastore up again now',
    logTail: lines.slice(-10).join('\n'),
  });
};
