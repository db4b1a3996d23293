import type { DatastoreRow } from '#modules/datastores';
import type { Berth } from '#test/support/berth.ts';
import type { Benchmark } from './kit/bench.ts';
import { filledPostgres, NAME, PROJECT, settleDisk } from './kit/filled-postgres.ts';
import { peakDuring, residentOf } from './kit/memory-watch.ts';
import { at, begin, followPhases } from './kit/operation-stream.ts';
import { PlainPostgres } from './kit/plain-postgres.ts';
import { datastorePath, ensurePostgres, withClient, asAdmin } from './kit/postgres.ts';
import type { Row } from './kit/row.ts';
import { median, summarise } from './kit/stats.ts';

/** They take long enough for a few to tell as much as many. */
const MOST_RUNS = 3;
const GROWTH_MB = 30;
const SETTLE_MS = 3000;
/** As berth compresses. */
const DUMP = ['pg_dump', '--format=custom', '--compress=zstd:3', '--dbname=app'];
/** As berth's reader dumps: who may read everything may not read large objects of others unless it says so. */
const LARGE_OBJECTS = '-c lo_compat_privileges=on';
const BESIDE = 'plain';
/** As berth restores. */
const RESTORE = [
  'pg_restore',
  '--format=custom',
  '--exit-on-error',
  '--single-transaction',
  '--no-owner',
  '--no-tablespaces',
  '--role=app',
  `--dbname=${BESIDE}`,
];

interface Times {
  dumps: { baseline: number[]; berth: number[]; verified: number[] };
  restores: { baseline: number[]; berth: number[]; loaded: number[] };
  /** Resident memory in MiB: between what is measured, and at most during it. */
  memory: { idle: number[]; dump: number[]; verify: number[]; restore: number[] };
}

/** Backing up and restoring much data, beside `pg_dump` and `pg_restore` with the same options on the same server. */
export const datastoreBackup: Benchmark = async (bench) => {
  const berth = await bench.berth();
  const { row, note } = await filledPostgres(bench, berth);
  const plain = PlainPostgres.create(bench.scope);
  await warmUp(berth);
  const times: Times = {
    dumps: { baseline: [], berth: [], verified: [] },
    restores: { baseline: [], berth: [], loaded: [] },
    memory: { idle: [], dump: [], verify: [], restore: [] },
  };
  for (let run = 1; run <= Math.min(bench.runs, MOST_RUNS); run += 1) {
    await oneRun({ berth, row, plain, times });
    const { dumps, restores, memory } = times;
    bench.say(
      `backup ${run}: baseline ${last(dumps.baseline)} ms, berth ${last(dumps.berth)} ms, verified ${last(dumps.verified)} ms; ` +
        `restore: baseline ${last(restores.baseline)} ms, loaded ${last(restores.loaded)} ms, all ${last(restores.berth)} ms; ` +
        `memory ${last(memory.idle)} MB, at most ${last(memory.dump)}, ${last(memory.verify)} and ${last(memory.restore)} MB`,
    );
  }
  return rowsOf(times, note);
};

const last = (values: readonly number[]): string => values.at(-1)?.toFixed(0) ?? '–';

/** A new process, which has made a small backup and restored it: so growth is that of much data. */
const warmUp = async (berth: Berth): Promise<void> => {
  await berth.stop();
  await berth.start();
  const name = 'small';
  await ensurePostgres(berth, PROJECT, name);
  const { key } = await backUp(berth, name, berth.pid);
  await restore(berth, { name, key });
  await Bun.sleep(SETTLE_MS);
};

interface OneRun {
  berth: Berth;
  row: DatastoreRow;
  plain: PlainPostgres;
  times: Times;
}

const oneRun = async ({ berth, row, plain, times }: OneRun): Promise<void> => {
  const { dumps, restores, memory } = times;
  await settleDisk(row);
  const file = plain.path('plain.dump');
  dumps.baseline.push(await plainDump(plain, row, file));
  await settleDisk(row);
  memory.idle.push(residentOf(berth.pid));
  const backup = await backUp(berth, NAME, berth.pid);
  dumps.berth.push(backup.dumped);
  dumps.verified.push(backup.verified);
  memory.dump.push(backup.dumpPeak);
  memory.verify.push(backup.verifyPeak);
  restores.baseline.push(await plainRestore(row, plain, file));
  await settleDisk(row);
  memory.idle.push(residentOf(berth.pid));
  const { result, peak } = await peakDuring(berth.pid, () => restore(berth, { name: NAME, key: backup.key }));
  restores.berth.push(result.done);
  restores.loaded.push(result.loaded);
  memory.restore.push(peak);
  await berth.api(`${datastorePath(PROJECT, NAME)}/backups/${backup.key}?confirm=true`, { method: 'DELETE' });
};

const backUp = async (berth: Berth, name: string, pid: number) => {
  const since = performance.now();
  const operation = await begin(berth, `${datastorePath(PROJECT, name)}/backups`);
  const { key } = operation as unknown as { key: string };
  const dump = await peakDuring(pid, () => followPhases(berth, operation, { since, until: 'verifying' }));
  const rest = await peakDuring(pid, () => followPhases(berth, operation, { since }));
  return {
    key,
    dumped: at(dump.result, 'verifying'),
    verified: at(rest.result, 'done'),
    dumpPeak: dump.peak,
    verifyPeak: rest.peak,
  };
};

const restore = async (berth: Berth, { name, key }: { name: string; key: string }) => {
  const since = performance.now();
  const operation = await begin(berth, `${datastorePath(PROJECT, name)}/restore`, { key });
  const phases = await followPhases(berth, operation, { since });
  return { loaded: at(phases, 'swapping'), done: at(phases, 'done') };
};

/** `pg_dump` into a file, in a container beside the server; its time in ms. */
export const plainDump = (plain: PlainPostgres, row: DatastoreRow, file: string): Promise<number> =>
  plain.tool(row, { ...readerOf(row), options: LARGE_OBJECTS, argv: [...DUMP, `--file=${file}`] });

const readerOf = ({ secrets }: DatastoreRow) => ({ user: 'berth_reader', password: secrets.readerPassword });
const writerOf = ({ secrets }: DatastoreRow) => ({ user: 'berth_writer', password: secrets.writerPassword });

const plainRestore = async (row: DatastoreRow, plain: PlainPostgres, file: string): Promise<number> => {
  const asked = async (statement: string): Promise<void> =>
    withClient(asAdmin(row), async (client) => {
      await client.query('SET statement_timeout = 0');
      await client.query(statement);
    });
  await asked(`CREATE DATABASE ${BESIDE} TEMPLATE template0 OWNER app`);
  try {
    await settleDisk(row);
    return await plain.tool(row, { ...writerOf(row), argv: [...RESTORE, file] });
  } finally {
    await asked(`DROP DATABASE ${BESIDE} WITH (FORCE)`);
  }
};

const rowsOf = ({ dumps, restores, memory }: Times, note: string): Row[] => [
  {
    what: 'Postgres: backup of 1 GB, until its bytes are on disk',
    unit: 'ms',
    baseline: summarise(dumps.baseline),
    berth: summarise(dumps.berth),
    target: { kind: 'ratio', atMost: 1.1 },
    notes: [
      'baseline: `pg_dump -Fc --compress=zstd:3` into a file, in a container on this machine',
      note,
      `with its verification (restored elsewhere and counted): ${median(dumps.verified).toFixed(0)} ms`,
    ],
  },
  {
    what: 'Postgres: restore of 1 GB, loaded, checked and swapped',
    unit: 'ms',
    baseline: summarise(restores.baseline),
    berth: summarise(restores.berth),
    target: { kind: 'ratio', atMost: 1.15 },
    notes: [
      'baseline: `pg_restore` with the same options from a file, in a container on this machine',
      `loaded and checked after ${median(restores.loaded).toFixed(0)} ms`,
    ],
  },
  ...memoryRows(memory),
];

/** Beyond the least that it had before any of them. */
const memoryRows = ({ idle, ...peaks }: Times['memory']): Row[] => {
  const least = Math.min(...idle);
  const row = (what: string, values: readonly number[]): Row => ({
    what: `Postgres: growth of berth's memory in ${what}`,
    unit: 'MB',
    berth: summarise(values.map((value) => value - least)),
    target: { kind: 'value', atMost: GROWTH_MB },
    notes: [`resident: ${Math.max(...values).toFixed(0)} MB at most, ${least.toFixed(0)} MB at least before`],
  });
  return [
    row('a dump of 1 GB', peaks.dump),
    row('the verification of that', peaks.verify),
    row('a restore of 1 GB', peaks.restore),
  ];
};
