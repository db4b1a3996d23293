import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { BerthError } from '#kernel/errors';
import type { Jobs } from '#engines/datastores/port';
import { connect } from '#engines/datastores/postgres/connect';
import { dumpDatabase } from '#engines/datastores/postgres/dump';
import { restoreCommand } from '#engines/datastores/postgres/load';
import { appTarget } from '#engines/datastores/postgres/target';
import { docker } from '#test/support/docker.ts';
import { until } from '#test/support/until.ts';
import { collect, failureOf, inChunks } from './bytes.ts';
import { openDumpRig, type DumpRig } from './dump-rig.ts';

setDefaultTimeout(120_000);

const never = new AbortController().signal;
const ROWS = 400_000;

let rig: DumpRig;

/** Sessions of berth's dumps, and jobs, that are still there. */
const leftovers = async (): Promise<unknown[]> => {
  const sessions = await rig.rows(
    () => rig.admin(),
    `SELECT query FROM pg_stat_activity WHERE usename IN ('berth_reader', 'berth_writer')`,
  );
  const jobs = await docker(['ps', '-aq', '--filter', `name=berth-${rig.instance.id}-`]);
  return [...sessions, ...jobs.split('\n').filter((id) => id !== '')];
};

const nothingLeft = (): Promise<void> => until(async () => (await leftovers()).length === 0);

beforeAll(async () => {
  rig = await openDumpRig();
  const app = await rig.app();
  await app.query('CREATE TABLE ledger (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account int, amount int)');
  await app.query('CREATE TABLE noise (id int, text text)');
  // Does not compress, so that a dump is larger than what sockets hold.
  await app.query(
    `INSERT INTO noise SELECT g, md5(random()::text) || md5(random()::text) FROM generate_series(1, ${ROWS}) g`,
  );
  await app.end();
});

afterAll(() => rig.close());

test('rows are counted in the snapshot that is dumped, while clients write', async () => {
  const app = await rig.app();
  const stop = new AbortController();
  const writes = (async () => {
    while (!stop.signal.aborted) {
      await app.query('INSERT INTO ledger (account, amount) SELECT g, 1 FROM generate_series(1, 7) g');
      await app.query('DELETE FROM noise WHERE id = (SELECT min(id) FROM noise LIMIT 1)');
    }
  })();
  try {
    await until(async () => (await rig.rows(rig.app, 'SELECT FROM ledger')).length > 20);
    const dump = await rig.dumps.dump(rig.instance, never);
    const bytes = await collect(dump.bytes);
    const report = await dump.report;
    const { report: restored } = await rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(bytes), never);
    expect(restored).toEqual(report);
    expect((report.objects['public.ledger'] ?? 0) % 7).toBe(0);
    expect(report.objects['public.noise']).toBeGreaterThan(0);
  } finally {
    stop.abort();
    await writes;
    await app.end();
  }
  await rig.dumps.dropBeside(rig.instance, 'app_restore_1');
  await nothingLeft();
});

test('a slow reader holds pg_dump up: berth keeps a chunk or two, not the dump', async () => {
  let passed = 0;
  const counting: Jobs = {
    run: (request) =>
      rig.jobs.run({
        ...request,
        output: async (chunk) => {
          passed += chunk.byteLength;
          await request.output?.(chunk);
        },
      }),
  };
  const dump = await dumpDatabase({ connect, jobs: counting }, appTarget(rig.instance), never);
  let read = 0;
  let most = 0;
  for await (const chunk of dump.bytes) {
    read += chunk.byteLength;
    most = Math.max(most, passed - read);
  }
  await dump.report;
  // And the checksum.
  expect(read).toBe(passed + 21);
  expect(read).toBeGreaterThan(8_000_000);
  expect(most).toBeLessThan(300_000);
});

test('a reader that leaves ends the job and the snapshot, also before it has read anything', async () => {
  const before = await rig.dumps.dump(rig.instance, never);
  await before.bytes[Symbol.asyncIterator]().return?.();
  expect((await failureOf(before.report)).message).toContain('cancelled');
  await nothingLeft();

  const dump = await rig.dumps.dump(rig.instance, never);
  for await (const chunk of dump.bytes) {
    expect(chunk.byteLength).toBeGreaterThan(0);
    break;
  }
  expect(await failureOf(dump.report)).toMatchObject({ retryable: true });
  await nothingLeft();
});

test('an abort ends the job, the snapshot and the reader', async () => {
  const stop = new AbortController();
  const dump = await rig.dumps.dump(rig.instance, stop.signal);
  const reading = (async () => {
    for await (const chunk of dump.bytes) if (chunk.byteLength > 0) stop.abort(new Error('berth stops'));
  })();
  expect(await failureOf(reading)).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  expect((await failureOf(dump.report)).message).toContain('cancelled');
  await nothingLeft();
});

test('sessions that break in mid-dump fail it, for who reads and who waits', async () => {
  const dump = await rig.dumps.dump(rig.instance, never);
  const reading = (async () => {
    let first = true;
    for await (const chunk of dump.bytes) {
      expect(chunk.byteLength).toBeGreaterThan(0);
      if (!first) continue;
      first = false;
      await rig.rows(
        () => rig.admin(),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'berth_reader'",
      );
    }
  })();
  const failure = await failureOf(reading);
  expect(failure).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  expect(failure.message).toMatch(/terminat|closed the connection|did not answer/);
  expect(await failureOf(dump.report)).toMatchObject({ retryable: true });
  await nothingLeft();
});

test('a dump that pg_dump gives up says why', async () => {
  const failing: Jobs = {
    run: (request) => rig.jobs.run({ ...request, argv: [...request.argv, '--table=no_such_table'] }),
  };
  const dump = await dumpDatabase({ connect, jobs: failing }, appTarget(rig.instance), never);
  const failure = await failureOf(collect(dump.bytes));
  expect(failure).toBeInstanceOf(BerthError);
  expect(failure.message).toBe('could not dump the database: no matching tables were found');
  expect(await failureOf(dump.report)).toBe(failure);
  await nothingLeft();
});

test('a change of the schema under way is a conflict, and the change itself goes on', async () => {
  const app = await rig.app();
  await app.query('BEGIN; ALTER TABLE ledger ADD COLUMN note text');
  const impatient = { ...appTarget(rig.instance), lockTimeoutMs: 300 };
  expect(await failureOf(dumpDatabase({ connect, jobs: rig.jobs }, impatient, never))).toMatchObject({
    kind: 'CONFLICT',
    retryable: true,
  });
  await app.query('COMMIT');
  await app.end();
  await nothingLeft();
});

test('no password is in the arguments of a job, nor is the superuser anywhere', async () => {
  const seen: { argv: string[]; env: Record<string, string> }[] = [];
  const watched: Jobs = {
    run: (request) => {
      seen.push(request);
      return rig.jobs.run(request);
    },
  };
  const dump = await dumpDatabase({ connect, jobs: watched }, appTarget(rig.instance), never);
  await collect(dump.bytes);
  await dump.report;
  expect(seen).toHaveLength(1);
  expect(seen[0]?.argv.join(' ')).not.toContain(rig.instance.readerPassword);
  expect(seen[0]?.env).toMatchObject({ PGUSER: 'berth_reader', PGPASSWORD: rig.instance.readerPassword });
  expect(Object.values(seen[0]?.env ?? {})).not.toContain(rig.instance.adminPassword);
});

test('a restore is one transaction, unless that would lock more than a server has room for', () => {
  const command = (entries: number): string[] => restoreCommand({ ownerRole: 'app' }, { database: 'app_2', entries });
  expect(command(2000)).toContain('--single-transaction');
  expect(command(2001)).not.toContain('--single-transaction');
  expect(command(2001)).toContain('--exit-on-error');
});
