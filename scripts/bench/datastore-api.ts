import { cpus } from 'node:os';
import type { Berth } from '#test/support/berth.ts';
import type { Bench, Benchmark } from './kit/bench.ts';
import { plainDump } from './datastore-backup.ts';
import { filledPostgres, NAME, PROJECT } from './kit/filled-postgres.ts';
import { begin, followPhases } from './kit/operation-stream.ts';
import { PlainPostgres } from './kit/plain-postgres.ts';
import { datastorePath } from './kit/postgres.ts';
import type { Row } from './kit/row.ts';
import { summarise } from './kit/stats.ts';
import { startWorker } from './kit/worker.ts';
import type { PacedReadsOptions, PacedReadsResult } from './processes/paced-reads.ts';

const PER_SECOND = 200;
const IDLE_SECONDS = 20;
const MOST_RUNS = 3;

/** How long readers of the API wait while much data is backed up and restored. */
export const datastoreApi: Benchmark = async (bench) => {
  const berth = await bench.berth();
  const { row: filled, note } = await filledPostgres(bench, berth);
  const plain = PlainPostgres.create(bench.scope);
  const path = datastorePath(PROJECT, NAME);
  const results: Record<'idle' | 'beside' | 'backup' | 'restore', PacedReadsResult[]> = {
    idle: [],
    beside: [],
    backup: [],
    restore: [],
  };
  for (let run = 1; run <= Math.min(bench.runs, MOST_RUNS); run += 1) {
    results.idle.push(await readDuring(bench, berth, () => Bun.sleep(IDLE_SECONDS * 1000)));
    results.beside.push(await readDuring(bench, berth, () => plainDump(plain, filled, plain.path('plain.dump'))));
    let key = '';
    const backUp = async (): Promise<void> => {
      const operation = await begin(berth, `${path}/backups`);
      await followPhases(berth, operation, { since: 0 });
      key = (operation as unknown as { key: string }).key;
    };
    results.backup.push(await readDuring(bench, berth, backUp));
    const restore = async (): Promise<void> => {
      await followPhases(berth, await begin(berth, `${path}/restore`, { key }), { since: 0 });
    };
    results.restore.push(await readDuring(bench, berth, restore));
    await berth.api(`${path}/backups/${key}?confirm=true`, { method: 'DELETE' });
    const said = Object.entries(results).map(([what, all]) => `${what} ${all.at(-1)?.p99.toFixed(2)} ms`);
    bench.say(`API p99 ${run}: ${said.join(', ')}`);
  }
  const row = (what: 'backup' | 'restore', title: string): Row => ({
    what: `API: p99 of a read during ${title}`,
    unit: 'ms',
    baseline: summarise(results.idle.map(({ p99 }) => p99)),
    berth: summarise(results[what].map(({ p99 }) => p99)),
    target: { kind: 'ratio', atMost: 2 },
    notes: [
      `baseline: the same of an idle server; ${PER_SECOND} reads a second of a project`,
      note,
      `${summarise(results.beside.map(({ p99 }) => p99)).median.toFixed(2)} ms when berth has nothing to do while \`pg_dump\` works in a container beside it: processes wait for one of ${cpus().length} cores`,
      `medians: ${summarise(results.idle.map(({ p50 }) => p50)).median.toFixed(2)} ms idle, ${summarise(results[what].map(({ p50 }) => p50)).median.toFixed(2)} ms meanwhile`,
    ],
  });
  return [row('backup', 'a backup of 1 GB with its verification'), row('restore', 'a restore of 1 GB')];
};

const readDuring = async (bench: Bench, berth: Berth, work: () => Promise<unknown>): Promise<PacedReadsResult> => {
  const scope = bench.scope.part();
  const options: PacedReadsOptions = {
    url: `${berth.url}/v1/projects/${PROJECT}`,
    headers: { authorization: `Bearer ${berth.token}` },
    perSecond: PER_SECOND,
  };
  try {
    const worker = await startWorker<PacedReadsResult>(scope, 'paced-reads', options);
    await work();
    const result = await worker.finish();
    if (result.failed > 0) throw new Error(`${result.failed} of ${result.sent} reads failed`);
    return result;
  } finally {
    await scope.close();
  }
};
