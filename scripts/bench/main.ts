#!/usr/bin/env bun
/**
 * Measures berth beside its baselines.
 *   bun run bench                       everything
 *   bun run bench redeploy rollback     some of it
 *   --runs N            measured runs of each side (10)
 *   --idle-seconds N    how long an idle server is watched (30)
 *   --size-mb N         how much data is backed up and restored (1024)
 *   --write             puts the figures into docs/benchmarks.md
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { docker } from '#test/support/docker.ts';
import type { Berth } from '#test/support/berth.ts';
import { apiRead } from './api-read.ts';
import { builder } from './builder.ts';
import { cliStart, cliStatus } from './cli.ts';
import { cliPack } from './cli-pack.ts';
import { crash } from './crash.ts';
import { dashboard } from './dashboard.ts';
import { dashboardAudit } from './dashboard-audit.ts';
import { dashboardLive } from './dashboard-live.ts';
import { datastoreApi } from './datastore-api.ts';
import { datastoreBackup } from './datastore-backup.ts';
import { datastoreCreate } from './datastore-create.ts';
import { datastoreQuery } from './datastore-query.ts';
import { firstDeploy } from './first-deploy.ts';
import { gitApi } from './git-api.ts';
import { gitDeploy } from './git-deploy.ts';
import { gitMemory, gitTransfer } from './git.ts';
import { idle } from './idle.ts';
import type { Bench, Benchmark } from './kit/bench.ts';
import { withRows } from './kit/document.ts';
import { printable } from './kit/print.ts';
import { isMet, type Row } from './kit/row.ts';
import { Scope } from './kit/scope.ts';
import { bootServer } from './kit/server.ts';
import { logReaders } from './log-readers.ts';
import { planning } from './planning.ts';
import { redeploy } from './redeploy.ts';
import { rollback } from './rollback.ts';
import { serverInstall } from './server-install.ts';
import { traffic } from './traffic.ts';

const BENCHMARKS: Record<string, Benchmark> = {
  redeploy,
  'first-deploy': firstDeploy,
  rollback,
  traffic,
  'api-read': apiRead,
  'log-readers': logReaders,
  crash,
  idle,
  planning,
  'cli-pack': cliPack,
  builder,
  'datastore-create': datastoreCreate,
  'datastore-query': datastoreQuery,
  'datastore-backup': datastoreBackup,
  'datastore-api': datastoreApi,
  'cli-start': cliStart,
  'cli-status': cliStatus,
  'git-transfer': gitTransfer,
  'git-memory': gitMemory,
  'git-api': gitApi,
  'git-deploy': gitDeploy,
  'server-install': serverInstall,
  dashboard,
  'dashboard-live': dashboardLive,
  'dashboard-audit': dashboardAudit,
};

const DOCUMENT = join(import.meta.dir, '../../docs/benchmarks.md');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '10' },
    'idle-seconds': { type: 'string', default: '30' },
    'size-mb': { type: 'string', default: '1024' },
    write: { type: 'boolean', default: false },
  },
});

const numberOf = (text: string, name: string): number => {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} must be a whole number from 1 on`);
  return number;
};

const chosen = (): [string, Benchmark][] => {
  const names = positionals.length === 0 ? Object.keys(BENCHMARKS) : positionals;
  return names.map((name) => {
    const benchmark = BENCHMARKS[name];
    if (benchmark === undefined)
      throw new Error(`no benchmark ${name}; there are: ${Object.keys(BENCHMARKS).join(', ')}`);
    return [name, benchmark];
  });
};

const machineLine = async (): Promise<string> => {
  const version = (await docker(['version', '--format', '{{.Server.Version}}'])).trim();
  return `${availableParallelism()} cores, Docker ${version.split('+')[0]}`;
};

const say = (line: string): void => console.error(line);
const whole = new Scope();

/** One benchmark; what it set up is gone after it, whether it succeeded or not. */
const measure = async (benchmark: Benchmark, shared: Bench['berth']): Promise<Row[]> => {
  const scope = whole.part();
  const bench: Bench = {
    runs: numberOf(values.runs, 'runs'),
    idleSeconds: numberOf(values['idle-seconds'], 'idle-seconds'),
    sizeMb: numberOf(values['size-mb'], 'size-mb'),
    say,
    scope,
    berth: shared,
  };
  try {
    return await benchmark(bench);
  } finally {
    await scope.close();
  }
};

const run = async (): Promise<boolean> => {
  const machine = { line: await machineLine(), date: new Date().toISOString().slice(0, 10) };
  console.log(machine.line);
  let server: Promise<Berth> | undefined;
  const shared = (): Promise<Berth> => (server ??= bootServer(whole));
  const rows: Row[] = [];
  let broken = false;
  for (const [name, benchmark] of chosen()) {
    try {
      const measured = await measure(benchmark, shared);
      rows.push(...measured);
      console.log(`\n${printable(measured)}`);
    } catch (error) {
      broken = true;
      console.error(`${name} could not be measured:`, error);
    }
  }
  if (rows.length > 0) console.log(`\n${machine.line}\n${printable(rows)}`);
  if (values.write) writeFileSync(DOCUMENT, withRows(readFileSync(DOCUMENT, 'utf8'), rows, machine));
  return !broken && rows.every(isMet);
};

const interrupted = (): void => {
  say('ending, and cleaning up');
  void whole.close().finally(() => process.exit(130));
};
process.once('SIGINT', interrupted);
process.once('SIGTERM', interrupted);

try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await whole.close();
}
