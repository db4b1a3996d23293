import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Bench, Benchmark } from './kit/bench.ts';
import { expressApp } from './kit/express-app.ts';
import { summarise } from './kit/stats.ts';

const EXECUTABLE = join(import.meta.dir, '../../dist/berth');
const PROJECT = 'bench-cli';

/** Runs of a command are short: so many for each run of the bench. */
const REPEATS = 5;

/** From the start of the process to its end, beside a program that does nothing, compiled alike. */
export const cliStart: Benchmark = async (bench) => {
  const dir = temporary(bench);
  const nothing = await compileNothing(dir);
  const commands = { version: ['version'], help: ['--help'] };
  const times = { nothing: [] as number[], version: [] as number[], help: [] as number[] };
  for (let run = 0; run <= bench.runs * REPEATS; run += 1) {
    const baseline = await timeOf([nothing], dir);
    const version = await timeOf([EXECUTABLE, ...commands.version], dir);
    const help = await timeOf([EXECUTABLE, ...commands.help], dir);
    if (run === 0) continue;
    times.nothing.push(baseline);
    times.version.push(version);
    times.help.push(help);
  }
  const row = (what: 'version' | 'help') => ({
    what: `start of the client: berth ${commands[what].join(' ')}`,
    unit: 'ms',
    baseline: summarise(times.nothing),
    berth: summarise(times[what]),
    target: { kind: 'excess', atMost: 60 } as const,
    notes: ['baseline: an empty program, compiled with the same options; from the start of the process to its end'],
  });
  return [row('version'), row('help')];
};

/** `berth status` of a project with a service that runs, against a server on this machine. */
export const cliStatus: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  await berth.deploy(PROJECT, 'web', expressApp('status'));
  const dir = temporary(bench);
  const env = { SERVICE_ENDPOINT: berth.url, SERVICE_TOKEN: berth.token };
  const times: number[] = [];
  for (let run = 0; run <= bench.runs * REPEATS; run += 1) {
    const time = await timeOf([EXECUTABLE, 'status', '-p', PROJECT, '--no-json'], dir, env);
    if (run > 0) times.push(time);
  }
  return [
    {
      what: '`berth status` against a server on the same machine',
      unit: 'ms',
      berth: summarise(times),
      target: { kind: 'value', atMost: 150 },
      notes: ['wall clock of the whole command, a project with one service'],
    },
  ];
};

const temporary = (bench: Bench): string => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-cli-bench-'));
  bench.scope.defer(async () => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

/** As scripts/build.ts compiles berth. */
const compileNothing = async (dir: string): Promise<string> => {
  const source = join(dir, 'nothing.ts');
  const outfile = join(dir, 'nothing');
  writeFileSync(source, 'process.exitCode = 0;\n');
  const result = await Bun.build({
    entrypoints: [source],
    bytecode: true,
    format: 'esm',
    compile: { outfile, autoloadDotenv: false, autoloadBunfig: false },
  });
  if (!result.success) throw new AggregateError(result.logs, 'cannot compile the baseline');
  return outfile;
};

/** Milliseconds of a command that must succeed. */
const timeOf = async (argv: string[], home: string, env: Record<string, string> = {}): Promise<number> => {
  const begun = performance.now();
  const child = Bun.spawn(argv, {
    stdin: 'ignore',
    stdout: 'ignore',
    stderr: 'inherit',
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
  });
  const code = await child.exited;
  const time = performance.now() - begun;
  if (code !== 0) throw new Error(`${argv.join(' ')} ended with ${code}`);
  return time;
};
