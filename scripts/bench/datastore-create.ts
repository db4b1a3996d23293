import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Berth } from '#test/support/berth.ts';
import type { Benchmark } from './kit/bench.ts';
import { at, begin, followPhases } from './kit/operation-stream.ts';
import { PlainPostgres } from './kit/plain-postgres.ts';
import { asApp, datastorePath, rowOf, untilSelect } from './kit/postgres.ts';
import type { Row } from './kit/row.ts';
import { median, summarise } from './kit/stats.ts';

const PROJECT = 'bench-create';
const NAME = 'postgres';
const PREPARED_MS = 60_000;

/** A new Postgres to the first `SELECT 1` with what apps are given, beside `docker run postgres:17`. */
export const datastoreCreate: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  const plain = PlainPostgres.create(bench.scope);
  const times = { baseline: [] as number[], first: [] as Created[], next: [] as Created[] };
  for (let run = 0; run <= bench.runs; run += 1) {
    const baseline = await plain.runUntilSelect();
    removeTemplates(berth);
    const first = await createOnce(berth);
    await untilPrepared(berth);
    const next = await createOnce(berth);
    if (run === 0) continue;
    bench.say(
      `create ${run}: baseline ${baseline.toFixed(0)} ms, berth ${first.selected.toFixed(0)} ms, ` +
        `from the template ${next.selected.toFixed(0)} ms`,
    );
    times.baseline.push(baseline);
    times.first.push(first);
    times.next.push(next);
  }
  const baseline = summarise(times.baseline);
  const row = (what: string, created: Created[], atMost: number): Row => ({
    what,
    unit: 'ms',
    baseline,
    berth: summarise(created.map(({ selected }) => selected)),
    target: { kind: 'ratio', atMost },
    notes: [
      'baseline: `docker run postgres:17` in an empty volume, and `SELECT 1` by `pg` every 10 ms',
      `ready after ${median(created.map(({ ready }) => ready)).toFixed(0)} ms`,
    ],
  });
  return [
    row('create the first Postgres of an image, to SELECT 1', times.first, 1.1),
    row('create a further Postgres, to SELECT 1', times.next, 0.6),
  ];
};

interface Created {
  ready: number;
  selected: number;
}

const createOnce = async (berth: Berth): Promise<Created> => {
  const begun = performance.now();
  const body = { kind: 'postgres', name: NAME };
  const operation = await begin(berth, `/v1/projects/${PROJECT}/datastores`, body);
  const ready = at(await followPhases(berth, operation, { since: begun }), 'ready');
  const selected = await untilSelect(begun, asApp(rowOf(berth, PROJECT, NAME)));
  const removal = await begin(berth, `${datastorePath(PROJECT, NAME)}?confirm=true`, undefined, 'DELETE');
  await followPhases(berth, removal, { since: begun });
  return { ready, selected };
};

/** As if the image had just come: nothing is prepared yet. */
const removeTemplates = (berth: Berth): void => {
  for (const file of templates(berth)) rmSync(file);
};

/** In the background, once nothing else is to be done. */
const untilPrepared = async (berth: Berth): Promise<void> => {
  const begun = performance.now();
  while (!templates(berth).some((file) => file.includes('postgres-17-'))) {
    if (performance.now() - begun > PREPARED_MS) throw new Error('berth has prepared no data directory');
    await Bun.sleep(100);
  }
};

const templates = (berth: Berth): string[] => {
  const dir = join(berth.dataDir, 'datastores', 'templates');
  return listed(dir)
    .filter((name) => name.endsWith('.tar'))
    .map((name) => join(dir, name));
};

const listed = (dir: string): string[] => {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
};
