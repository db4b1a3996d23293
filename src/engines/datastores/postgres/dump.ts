import type { Client } from 'pg';
import type { Dump, DumpReport, Jobs } from '../port.ts';
import { beginSnapshot, reportOf, serverVersion } from './counts.ts';
import { destroy, disconnect, type Connect } from './connect.ts';
import { aborted, postgresFailure } from './failures.ts';
import { createHandOff } from './hand-off.ts';
import { jobFailure } from './job-failures.ts';
import { jobEnvironment, type DumpTarget } from './target.ts';

const MEMORY_MB = 512;
/**
 * Measured with 1 GB on two cores: the server makes rows no faster than this level compresses them on the other core, and
 * level 1 took as long for 13 % more bytes; gzip:1 took 1.8 times as long.
 */
const ZSTD = 'zstd:3';
/** pg_dump has zstd from 16 on. */
const FIRST_WITH_ZSTD = 16;
const GZIP = '1';
/** pg_dump asks for locks that the snapshot's session has: only a change of the schema that waits for those can be in between. */
const LOCK_WAIT_MS = 20_000;

/** Dumps a database as its reader: what an owner makes of his tables meanwhile never runs as superuser (CVE-2024-7348). */
export const dumpDatabase = async (
  { connect, jobs }: { connect: Connect; jobs: Jobs },
  target: DumpTarget,
  signal: AbortSignal,
): Promise<Dump> => {
  const client = await openReader(connect, target, signal);
  let snapshot: string;
  try {
    snapshot = await beginSnapshot(client);
  } catch (thrown) {
    destroy(client);
    throw signal.aborted ? aborted(WHAT, signal.reason) : postgresFailure(WHAT, thrown);
  }

  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const handOff = createHandOff(async () => {
    stop.abort(new Error('the reader of the dump left'));
    await Promise.allSettled([report]);
  });
  both.addEventListener('abort', () => handOff.end(aborted(WHAT, both.reason)), { once: true });

  const counted = orElse(count(client, target), (thrown) => {
    handOff.end(postgresFailure(WHAT, thrown));
    stop.abort(thrown);
  });
  const dumped = orElse(runDump(jobs, { target, snapshot, signal: both, put: handOff.put }), (thrown) => {
    handOff.end(thrown);
    destroy(client);
  });
  const report = settle({ client, counted, dumped, signal });
  void dumped.then(
    () => handOff.end(),
    () => undefined,
  );
  // Who reads the bytes sees the failure too.
  report.catch(() => undefined);
  return { bytes: handOff.bytes, report };
};

const WHAT = 'dump the database';

const openReader = (connect: Connect, target: DumpTarget, signal: AbortSignal): Promise<Client> =>
  connect(target.instance, {
    as: target.reader,
    database: target.database,
    unit: target.unit,
    statementMs: 0,
    signal,
  });

const count = async (client: Client, target: DumpTarget): Promise<DumpReport> =>
  reportOf(await serverVersion(client), await target.count(client));

const runDump = async (
  jobs: Jobs,
  how: { target: DumpTarget; snapshot: string; signal: AbortSignal; put: (chunk: Uint8Array) => Promise<void> },
): Promise<void> => {
  const { target, snapshot, signal } = how;
  const end = await jobs.run({
    instance: target.instance,
    purpose: 'dump',
    image: target.image,
    argv: dumpCommand(target.major, snapshot),
    env: jobEnvironment(target, {
      as: target.reader,
      database: target.database,
      // Large objects have owners of their own, whose right pg_read_all_data does not include. See roles.ts.
      settings: target.major >= FIRST_WITH_ZSTD ? { lo_compat_privileges: 'on' } : {},
    }),
    memoryMb: MEMORY_MB,
    stdout: how.put,
    signal,
  });
  if (signal.aborted) throw aborted(WHAT, signal.reason);
  const failure = jobFailure(WHAT, end, MEMORY_MB);
  if (failure !== undefined) throw failure;
};

/** Everything of the database; settings of the database itself are in there, and roles are not. */
export const dumpCommand = (major: number, snapshot: string): string[] => [
  'pg_dump',
  '--format=custom',
  `--compress=${major >= FIRST_WITH_ZSTD ? ZSTD : GZIP}`,
  `--snapshot=${snapshot}`,
  `--lock-wait-timeout=${LOCK_WAIT_MS}`,
  '--no-password',
];

/** The transaction that holds the snapshot ends with the dump. */
const settle = async (how: {
  client: Client;
  counted: Promise<DumpReport>;
  dumped: Promise<void>;
  signal: AbortSignal;
}): Promise<DumpReport> => {
  try {
    const [report] = await Promise.all([how.counted, how.dumped]);
    await disconnect(how.client);
    return report;
  } catch (thrown) {
    destroy(how.client);
    await Promise.allSettled([how.counted, how.dumped]);
    throw how.signal.aborted ? aborted(WHAT, how.signal.reason) : postgresFailure(WHAT, thrown);
  }
};

const orElse = <T>(promise: Promise<T>, onFailure: (thrown: unknown) => void): Promise<T> => {
  promise.catch(onFailure);
  return promise;
};
