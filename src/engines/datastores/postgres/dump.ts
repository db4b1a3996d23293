import type { Client } from 'pg';
import { type Dump, type DumpReport, JOB_OUTPUT, type Jobs } from '../port.ts';
import { beginSnapshot, reportOf, serverVersion } from './counts.ts';
import { destroy, disconnect, type Connect } from './connect.ts';
import { aborted, postgresFailure } from './failures.ts';
import { createHandOff } from './hand-off.ts';
import { jobFailure } from './job-failures.ts';
import { createSeal } from './seal.ts';
import { jobEnvironment, lastingSession, type DumpTarget } from './target.ts';

const MEMORY_MB = 512;
/**
 * Measured with 1 GB on two cores: the server makes rows no faster than this level compresses them on the other core, and
 * level 1 took as long for 13 % more bytes; gzip:1 took 1.8 times as long.
 */
const ZSTD = 'zstd:3';

/** Dumps a database as its reader: what an owner makes of his tables meanwhile never runs as superuser (CVE-2024-7348). */
export const dumpDatabase = async (
  { connect, jobs }: { connect: Connect; jobs: Jobs },
  target: DumpTarget,
  signal: AbortSignal,
): Promise<Dump> => {
  const client = await openReader(connect, target, signal);
  let snapshot: string;
  try {
    snapshot = await beginSnapshot(client, target.lockTimeoutMs);
  } catch (thrown) {
    destroy(client);
    throw signal.aborted ? aborted(WHAT, signal.reason) : postgresFailure(WHAT, thrown);
  }

  const stop = new AbortController();
  let failure: Error | undefined;
  /** The first reason is what everybody is told. */
  const giveUp = (thrown: unknown): void => {
    failure ??= signal.aborted ? aborted(WHAT, signal.reason) : errorOf(thrown);
    handOff.end(failure);
    stop.abort(failure);
    destroy(client);
  };
  const handOff = createHandOff(async () => {
    giveUp(aborted(WHAT, 'the reader of the dump left'));
    await Promise.allSettled([report]);
  });
  const onAbort = (): void => giveUp(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });

  const work = async (): Promise<DumpReport> => {
    const dumping = runDump(jobs, { target, snapshot, signal: stop.signal, put: handOff.put }).then(() =>
      handOff.end(),
    );
    const counting = count(client, target);
    for (const part of [dumping, counting]) part.catch(giveUp);
    const [, counted] = await Promise.allSettled([dumping, counting]);
    signal.removeEventListener('abort', onAbort);
    if (failure !== undefined) throw failure;
    if (counted.status === 'rejected') throw errorOf(counted.reason);
    await disconnect(client);
    return counted.value;
  };
  const report = work();
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
    options: lastingSession(target),
    signal,
  });

const count = async (client: Client, target: DumpTarget): Promise<DumpReport> => {
  try {
    return reportOf(await serverVersion(client), await target.count(client));
  } catch (thrown) {
    throw postgresFailure('count the rows', thrown);
  }
};

const runDump = async (
  jobs: Jobs,
  how: { target: DumpTarget; snapshot: string; signal: AbortSignal; put: (chunk: Uint8Array) => Promise<void> },
): Promise<void> => {
  const { target, snapshot, signal } = how;
  const seal = createSeal();
  const end = await jobs.run({
    instance: target.instance,
    purpose: 'dump',
    image: target.image,
    argv: dumpCommand(target, snapshot),
    env: jobEnvironment(target, {
      as: target.reader,
      database: target.database,
      // Large objects have owners of their own, whose right pg_read_all_data does not include. See roles.ts.
      settings: { lo_compat_privileges: 'on' },
    }),
    memoryMb: MEMORY_MB,
    output: (chunk) => {
      seal.add(chunk);
      return how.put(chunk);
    },
    signal,
  });
  signal.throwIfAborted();
  const failure = jobFailure(WHAT, end, MEMORY_MB);
  if (failure !== undefined) throw failure;
  await how.put(seal.bytes());
};

/** Everything of the database; settings of the database itself are in there, and roles are not. */
const dumpCommand = ({ lockTimeoutMs }: Pick<DumpTarget, 'lockTimeoutMs'>, snapshot: string): string[] => [
  'pg_dump',
  '--format=custom',
  `--compress=${ZSTD}`,
  `--snapshot=${snapshot}`,
  // The session of the snapshot has these locks already: what can be in between is a change that waits for that session,
  // and so for pg_dump itself. Only the time limit ends it.
  `--lock-wait-timeout=${lockTimeoutMs}`,
  '--no-password',
  `--file=${JOB_OUTPUT}`,
  '--no-sync',
];

const errorOf = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
