import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBuildkitBuilder } from '#engines/builder/buildkit';
import { planBuild } from '#engines/builder/detect';
import { contextFiles } from '#engines/builder/dockerfile';
import { readSourceTree } from '#engines/builder/source-tree-read';
import { packContext } from '#engines/source/context';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { CATALOGUE } from '#test/e2e/examples/catalogue/index.ts';
import { packDirectory } from '#test/support/berth.ts';
import { docker, removeByLabel } from '#test/support/docker.ts';
import { EXAMPLES_DIR, type Edit } from '#test/support/examples.ts';
import type { Bench, Benchmark } from './kit/bench.ts';
import { buildImage } from './kit/engine-build.ts';
import type { Row } from './kit/row.ts';
import { summarise } from './kit/stats.ts';

const DOCKERFILES = join(import.meta.dir, 'dockerfiles');

/** Examples that have a hand-written Dockerfile beside them in `dockerfiles/`. */
const APPS: { name: string; title: string }[] = [
  { name: 'node-express', title: 'Express' },
  { name: 'node-next', title: 'Next' },
  { name: 'node-vite-pnpm', title: 'Vite' },
  { name: 'python-fastapi', title: 'FastAPI' },
  { name: 'python-django', title: 'Django' },
  { name: 'go-chi', title: 'Go' },
  { name: 'rust-axum', title: 'Rust' },
  { name: 'java-spring-boot', title: 'Spring Boot' },
];

/** Cold builds download everything, so that a few tell as much as many. */
const MOST_COLD_RUNS = 3;

/** What berth makes of an app, beside a Dockerfile that somebody wrote with care for it. */
export const builder: Benchmark = async (bench) => {
  bench.scope.defer(() => removeByLabel(LABEL));
  const rows: Row[] = [];
  for (const { name, title } of APPS) rows.push(...(await compare(bench, name, title)));
  return rows;
};

interface Side {
  cold: number[];
  edit: number[];
  megabytes: number[];
}

const compare = async (bench: Bench, name: string, title: string): Promise<Row[]> => {
  const baseline: Side = { cold: [], edit: [], megabytes: [] };
  const berth: Side = { cold: [], edit: [], megabytes: [] };
  const sides = { baseline: handWritten(name), berth: generated(name) };
  const cold = Math.min(bench.runs, MOST_COLD_RUNS);
  for (let run = 0; run < cold + bench.runs; run += 1) {
    const phase = run < cold ? 'cold' : 'edit';
    const app = new App(name, phase === 'edit' ? editOf(name) : undefined, run);
    try {
      // The edits build on what the last cold build left in the caches.
      const cache = `bench-${app.salt(Math.min(run, cold - 1))}`;
      const turns = [
        [baseline, sides.baseline],
        [berth, sides.berth],
      ] as const;
      // Who comes second finds the mirrors of the packages warm.
      for (const [side, build] of run % 2 === 0 ? turns : turns.toReversed()) {
        const begun = performance.now();
        const image = await build(app, { cache, noCache: phase === 'cold' });
        side[phase].push(performance.now() - begun);
        side.megabytes.push(await megabytesOf(image));
      }
    } finally {
      app.remove();
    }
    bench.say(
      `${title}, ${phase}: baseline ${last(baseline[phase]).toFixed(0)} ms, berth ${last(berth[phase]).toFixed(0)} ms; ` +
        `${last(baseline.megabytes).toFixed(1)} and ${last(berth.megabytes).toFixed(1)} MB`,
    );
  }
  const row = (what: string, unit: string, key: keyof Side, atMost: number): Row => ({
    what: `${title}: ${what}`,
    unit,
    baseline: summarise(baseline[key]),
    berth: summarise(berth[key]),
    target: { kind: 'ratio', atMost },
  });
  return [
    row('cold build', 'ms', 'cold', 1.15),
    row('build after a one-line change', 'ms', 'edit', 1.1),
    row('image', 'MB', 'megabytes', 1.1),
  ];
};

const last = (values: readonly number[]): number => values.at(-1) ?? Number.NaN;

const SALT = randomBytes(4).toString('hex');

/** A copy of an example, changed a little more with every run. */
class App {
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-bench-app-'));
  readonly name: string;

  constructor(name: string, edit: Edit | undefined, run: number) {
    this.name = name;
    cpSync(join(EXAMPLES_DIR, name), this.dir, { recursive: true });
    if (edit === undefined) return;
    const file = join(this.dir, edit.file);
    writeFileSync(file, readFileSync(file, 'utf8').replace(edit.from, `${edit.to} ${SALT}${run}`));
  }

  salt(run: number): string {
    return `${SALT}-${this.name}-${run}`;
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

interface BuildOptions {
  /** Where this side keeps the caches of package managers. */
  cache: string;
  noCache: boolean;
}

type Build = (app: App, options: BuildOptions) => Promise<string>;

const LABEL = 'dev.berth.bench=builder';

const handWritten = (name: string): Build => {
  const text = readFileSync(join(DOCKERFILES, `${name}.Dockerfile`), 'utf8');
  return async (app, { cache, noCache }) => {
    writeFileSync(join(app.dir, 'Dockerfile'), text.replaceAll('@cache@', `plain-${cache}`));
    try {
      return await buildImage(await packDirectory(app.dir), { label: LABEL, noCache });
    } finally {
      rmSync(join(app.dir, 'Dockerfile'));
    }
  };
};

const generated = (name: string): Build => {
  const log = createLog('error', (line) => process.stderr.write(line), Date.now);
  const builder = createBuildkitBuilder({ socketPath: '/var/run/docker.sock', clock: systemClock, log });
  return async ({ dir }, { cache, noCache }) => {
    const plan = planBuild(readSourceTree(dir), { projectEnv: {}, remembered: {}, serviceName: name });
    const built = await builder.build({
      context: packContext({ layers: [{ dir, prefix: 'source' }], files: contextFiles(plan, {}, cache) }),
      dockerfile: 'berth/Dockerfile',
      tag: 'berth-bench/generated',
      buildArgs: {},
      labels: Object.fromEntries([LABEL.split('=')]),
      cacheScope: cache,
      noCache,
      signal: AbortSignal.timeout(900_000),
      onLog: () => undefined,
    });
    return built.imageId;
  };
};

const megabytesOf = async (image: string): Promise<number> =>
  Number(await docker(['image', 'inspect', '--format', '{{.Size}}', image])) / 1e6;

const editOf = (name: string): Edit => {
  const edit = Object.values(CATALOGUE)
    .flat()
    .find((example) => example.name === name)?.edit;
  if (edit === undefined) throw new Error(`the catalogue has no edit for ${name}`);
  return edit;
};
