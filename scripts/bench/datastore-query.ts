import { Client } from 'pg';
import type { Berth } from '#test/support/berth.ts';
import type { Benchmark } from './kit/bench.ts';
import { peakDuring, residentOf } from './kit/memory-watch.ts';
import { asApp, datastorePath, ensurePostgres, withClient } from './kit/postgres.ts';
import { median, summarise } from './kit/stats.ts';

const PROJECT = 'bench-query';
const NAME = 'postgres';
const ROWS = 10_000;
/** Of each side, for each run. */
const QUERIES = 100;
const ONE_ROW = 'SELECT id, at, email, body FROM people WHERE id = $1';
/** Ten million rows, which the server makes as they are asked for. */
const MANY_ROWS = `SELECT a * 10000 + b AS id, 'user' || b || '@example.com' AS email, now() AS at
  FROM generate_series(0, 999) a, generate_series(1, 10000) b`;
const MANY_TIMES = 5;
const SHOWN_ROWS = 500;

/** Queries through the API: what one row costs beyond a bare client, and what ten million do to memory. */
export const datastoreQuery: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  const row = await ensurePostgres(berth, PROJECT, NAME);
  await withClient(asApp(row), fill);
  const client = new Client(asApp(row));
  await client.connect();
  bench.scope.defer(() => client.end());
  const times: { baseline: number[]; berth: number[] } = { baseline: [], berth: [] };
  for (let run = 0; run <= bench.runs; run += 1) {
    const one = { baseline: [] as number[], berth: [] as number[] };
    for (let number = 1; number <= QUERIES; number += 1) {
      one.baseline.push(await timed(() => bareQuery(client, number)));
      one.berth.push(await timed(() => query(berth, ONE_ROW, [number])));
    }
    if (run === 0) continue;
    bench.say(`query ${run}: baseline ${median(one.baseline).toFixed(2)} ms, berth ${median(one.berth).toFixed(2)} ms`);
    times.baseline.push(...one.baseline);
    times.berth.push(...one.berth);
  }
  await berth.stop();
  await berth.start();
  await query(berth, ONE_ROW, [1]);
  const before = residentOf(berth.pid);
  const growth: number[] = [];
  const took: number[] = [];
  for (let time = 1; time <= MANY_TIMES; time += 1) {
    const { result, peak } = await peakDuring(berth.pid, () => timed(() => query(berth, MANY_ROWS, [], SHOWN_ROWS)));
    growth.push(peak - before);
    took.push(result);
  }
  return [
    {
      what: 'Postgres: query of one row through the API',
      unit: 'ms',
      baseline: summarise(times.baseline),
      berth: summarise(times.berth),
      target: { kind: 'excess', atMost: 5 },
      notes: ['baseline: the same statement by `pg` on this machine, its connection open'],
    },
    {
      what: "Postgres: growth of berth's memory in a query of 10 million rows",
      unit: 'MB',
      berth: summarise(growth),
      target: { kind: 'value', atMost: 30 },
      notes: [
        `resident: ${(before + Math.max(...growth)).toFixed(0)} MB at most, ${before.toFixed(0)} MB in a new process that has run a query of one row`,
        `${SHOWN_ROWS} rows are shown, after ${median(took).toFixed(0)} ms`,
      ],
    },
  ];
};

const fill = async (client: Client): Promise<void> => {
  await client.query('DROP TABLE IF EXISTS people');
  await client.query('CREATE TABLE people (id int PRIMARY KEY, at timestamptz, email text, body text)');
  await client.query(
    `INSERT INTO people SELECT g, now(), 'user' || g || '@example.com', repeat(md5(g::text), 4) FROM generate_series(1, $1) g`,
    [ROWS],
  );
  await client.query('VACUUM (ANALYZE) people');
};

const timed = async (work: () => Promise<void>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

const bareQuery = async (client: Client, number: number): Promise<void> => {
  const { rows } = await client.query(ONE_ROW, [number]);
  if (rows.length !== 1) throw new Error('the bare client found no row');
};

const query = async (berth: Berth, text: string, params: unknown[], wanted = 1): Promise<void> => {
  const path = `${datastorePath(PROJECT, NAME)}/query`;
  const { status, body } = await berth.api(path, { method: 'POST', body: { query: text, params } });
  if (status !== 200 || body.row_count !== wanted) throw new Error(`the query failed: ${JSON.stringify(body)}`);
};
