import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Benchmark } from './kit/bench.ts';
import { MONOREPOS, type Monorepo, writeMonorepo } from './kit/monorepo.ts';
import { median, summarise } from './kit/stats.ts';

const FILES = 20_000;

/** From a source on disk to its plan, in a process that never planned before: nothing is compiled or cached yet. */
export const planning: Benchmark = async (bench) => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-planning-'));
  bench.scope.defer(async () => rmSync(dir, { recursive: true, force: true }));
  for (const kind of MONOREPOS) writeMonorepo(join(dir, kind), kind, FILES);
  const times = new Map<Monorepo, number[]>(MONOREPOS.map((kind) => [kind, []]));
  for (let run = 0; run <= bench.runs; run += 1) {
    for (const kind of MONOREPOS) {
      const time = await planOnce(join(dir, kind));
      if (run > 0) times.get(kind)?.push(time);
    }
    if (run > 0) bench.say(`planning ${run}: ${MONOREPOS.map((kind) => `${kind} ${last(times, kind)} ms`).join(', ')}`);
  }
  const slowest = Array.from({ length: bench.runs }, (_none, run) =>
    Math.max(...[...times.values()].map((each) => each[run] ?? 0)),
  );
  return [
    {
      what: `detection and planning of a monorepo of ${FILES.toLocaleString('en')} files`,
      unit: 'ms',
      berth: summarise(slowest),
      target: { kind: 'value', atMost: 200 },
      notes: [
        `the slowest of ${MONOREPOS.length} kinds; medians in ms: ${[...times].map(([kind, each]) => `${kind} ${median(each).toFixed(0)}`).join(', ')}`,
        'from the folder on disk to the plan, each time in a new process',
      ],
    },
  ];
};

const last = (times: Map<Monorepo, number[]>, kind: Monorepo): string => (times.get(kind)?.at(-1) ?? 0).toFixed(0);

const planOnce = async (dir: string): Promise<number> => {
  const script = join(import.meta.dir, 'processes/planning.ts');
  const child = Bun.spawn([process.execPath, script, dir], { stdout: 'pipe', stderr: 'inherit' });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`planning ${dir} failed`);
  return Number(text);
};
