import type { Log } from '#kernel/log';
import { type Bytes, type DumpReport, JOB_INPUT, type Jobs } from '../port.ts';
import { type Archive, openArchive } from './dump-archive.ts';
import { withConnection, type Connect, type ConnectOptions } from './connect.ts';
import { reportOf, serverVersion } from './counts.ts';
import { aborted } from './failures.ts';
import { jobFailure } from './job-failures.ts';
import { checkSeal } from './seal.ts';
import { jobEnvironment, lastingSession, type DumpTarget } from './target.ts';

export interface LoadDeps {
  connect: Connect;
  jobs: Jobs;
  log: Log;
}

export interface Loaded {
  report: DumpReport;
  /** Settings of the database that was dumped, as SQL of pg_dump. */
  properties: string[];
}

const MEMORY_MB = 512;
/** Far below the locks that a server has room for: 64 for each of at least 50 connections. */
const MOST_IN_ONE_TRANSACTION = 2000;
const WHAT = 'restore the database';

/**
 * Fills an empty database from an archive of pg_dump, as its owner: what is in an archive was written by users. The database
 * may still be about to be created: pg_restore connects when it has read the beginning of the archive.
 */
export const fillDatabase = async (
  deps: LoadDeps,
  target: DumpTarget,
  request: { database: string; bytes: Bytes; created: Promise<void>; signal: AbortSignal },
): Promise<Loaded> => {
  const { database, created, signal } = request;
  const source = request.bytes[Symbol.asyncIterator]();
  let archive: Archive;
  try {
    const filter = {
      roles: await rolesOf(deps, target),
      owner: target.ownerRole,
      frozenUpTo: MOST_IN_ONE_TRANSACTION,
    };
    archive = await openArchive(checkSeal({ [Symbol.asyncIterator]: () => source }), filter);
    const { entries } = archive;
    await runRestore(deps.jobs, target, { database, entries, bytes: after(created, archive.bytes), signal });
  } finally {
    // Who gives the bytes may itself hang when it is called off.
    const left = Promise.resolve(source.return?.());
    if (signal.aborted) left.catch(() => undefined);
    else await left;
  }
  const on = (as: ConnectOptions['as'], what: string) => ({
    connect: deps.connect,
    instance: target.instance,
    what,
    options: { as, database, unit: target.unit, statementMs: 0, options: lastingSession(target), signal },
  });
  // The planner knows nothing of new tables. Its commit also makes durable what the restore left to be written later.
  await withConnection(on(target.owner, 'analyze the restored database'), (client) => client.query('ANALYZE'));
  const report = await withConnection(on(target.reader, 'count the restored rows'), async (client) =>
    reportOf(await serverVersion(client), await target.count(client)),
  );
  return { report, properties: archive.properties };
};

async function* after(ready: Promise<void>, bytes: Bytes): Bytes {
  await ready;
  yield* bytes;
}

const rolesOf = (deps: LoadDeps, { instance, unit }: DumpTarget): Promise<Set<string>> =>
  withConnection(
    { connect: deps.connect, instance, what: 'list the roles', options: { as: 'admin', unit } },
    async (client) => {
      const { rows } = await client.query<{ rolname: string }>('SELECT rolname FROM pg_roles');
      return new Set(rows.map(({ rolname }) => rolname));
    },
  );

const runRestore = async (
  jobs: Jobs,
  target: DumpTarget,
  request: { database: string; entries: number; bytes: Bytes; signal: AbortSignal },
): Promise<void> => {
  const { database, signal } = request;
  const source = new Source(request.bytes);
  const all = AbortSignal.any([signal, source.failed]);
  try {
    const end = await jobs.run({
      instance: target.instance,
      purpose: 'load',
      image: target.image,
      argv: restoreCommand(target, request),
      env: jobEnvironment(target, { as: target.owner, database, settings: restoreSettings(target) }),
      memoryMb: MEMORY_MB,
      input: source.bytes,
      signal: all,
    });
    const failure = all.aborted ? undefined : jobFailure(WHAT, end, MEMORY_MB);
    if (failure !== undefined) throw failure;
    // pg_restore may stop reading before the end, where whoever sends the bytes says whether they were the right ones.
    if (!all.aborted) await source.drain();
  } catch (thrown) {
    if (!all.aborted) throw thrown;
  }
  if (signal.aborted) throw aborted(WHAT, signal.reason);
  if (source.failed.aborted) throw source.failed.reason;
};

/**
 * Everything as the owner, nothing after the first error. In one transaction, rows of its own tables
 * stay out of the log, and what is half done goes from the disk at once; but it locks every object.
 */
export const restoreCommand = (
  target: Pick<DumpTarget, 'ownerRole'>,
  { database, entries }: { database: string; entries: number },
): string[] => [
  'pg_restore',
  '--format=custom',
  '--exit-on-error',
  ...(entries <= MOST_IN_ONE_TRANSACTION ? ['--single-transaction'] : []),
  '--no-owner',
  '--no-tablespaces',
  '--no-password',
  `--role=${target.ownerRole}`,
  `--dbname=${database}`,
  JOB_INPUT,
];

const restoreSettings = ({ instance }: DumpTarget): Record<string, string> => ({
  // A crash in mid-restore loses the whole database anyway.
  synchronous_commit: 'off',
  // Indexes are sorted in memory, where the rows have just come from: nobody else needs it for them.
  maintenance_work_mem: `${Math.max(64, Math.floor(instance.memoryMb / 4))}MB`,
  // Whatever berth refuses to apps when they have passed their limit of storage.
  default_transaction_read_only: 'off',
});

/** Bytes whose failure is told from that of the job that reads them, and which can be read on when that has ended. */
class Source {
  readonly #iterator: AsyncIterator<Uint8Array>;
  readonly #failure = new AbortController();
  #ended = false;

  constructor(bytes: Bytes) {
    this.#iterator = bytes[Symbol.asyncIterator]();
  }

  get failed(): AbortSignal {
    return this.#failure.signal;
  }

  get bytes(): Bytes {
    return { [Symbol.asyncIterator]: () => ({ next: () => this.#next() }) };
  }

  async drain(): Promise<void> {
    while (!this.#ended) await this.#next();
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    try {
      const result = await this.#iterator.next();
      this.#ended = result.done === true;
      return result;
    } catch (thrown) {
      this.#ended = true;
      this.#failure.abort(thrown);
      throw thrown;
    }
  }
}
