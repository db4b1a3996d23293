import type { Berth } from '#test/support/berth.ts';
import { helloApp } from '#test/support/apps.ts';
import { docker } from '#test/support/docker.ts';
import type { Bench, Benchmark } from './kit/bench.ts';
import { cpuSecondsOf, memoryOf } from './kit/process-usage.ts';
import type { Row } from './kit/row.ts';
import { bootServer, succeed } from './kit/server.ts';
import { summarise } from './kit/stats.ts';

const PROJECT = 'bench-idle';
const COUNTS = [0, 10, 50];
/** After a deploy old replicas drain, and collectors of garbage run. */
const SETTLE_MS = 15_000;

interface Reading {
  apps: number;
  rss: number[];
  pss: number[];
  /** Per cent of one core. */
  cpu: number;
  parts: string;
}

/** A server of its own that nobody uses: memory and CPU of berth and Traefik together, with ever more apps. */
export const idle: Benchmark = async (bench) => {
  const berth = await bootServer(bench.scope);
  await berth.project(PROJECT);
  const readings: Reading[] = [];
  let deployed = 0;
  for (const apps of COUNTS) {
    for (; deployed < apps; deployed += 1) await deploy(berth, `app-${deployed}`);
    bench.say(`idle: ${apps} apps, watching for ${bench.idleSeconds} s`);
    await Bun.sleep(SETTLE_MS);
    readings.push(await watch(bench, berth, apps));
  }
  return [...readings.flatMap((reading) => rowsOf(bench, reading)), growthRow(readings)];
};

const deploy = async (berth: Berth, service: string): Promise<void> => {
  const { status, body } = await berth.upload(PROJECT, service, helloApp('idle'));
  if (status !== 202) throw new Error(`the deploy was refused: ${JSON.stringify(body)}`);
  await succeed(berth, body.operation_id);
};

const watch = async (bench: Bench, berth: Berth, apps: number): Promise<Reading> => {
  const proxy = `berth-${berth.instance()}-proxy`;
  const proxyPid = Number(await docker(['inspect', '--format', '{{.State.Pid}}', proxy]));
  const pids = [berth.pid, proxyPid];
  const total = (read: (pid: number) => number): number => pids.reduce((sum, pid) => sum + read(pid), 0);
  const before = total(cpuSecondsOf);
  const begun = performance.now();
  const rss: number[] = [];
  const pss: number[] = [];
  for (let sample = 0; sample < bench.runs; sample += 1) {
    await Bun.sleep((bench.idleSeconds * 1000) / bench.runs);
    rss.push(total((pid) => memoryOf(pid).rss));
    pss.push(total((pid) => memoryOf(pid).pss));
  }
  const cpu = ((total(cpuSecondsOf) - before) / ((performance.now() - begun) / 1000)) * 100;
  const parts = `berth ${memoryOf(berth.pid).rss.toFixed(0)} MB, Traefik ${memoryOf(proxyPid).rss.toFixed(0)} MB`;
  return { apps, rss, pss, cpu, parts };
};

const rowsOf = (bench: Bench, { apps, rss, pss, cpu, parts }: Reading): Row[] => [
  {
    what: `idle memory with ${apps} apps, berth and Traefik together`,
    unit: 'MB',
    berth: summarise(rss),
    target: { kind: 'value', atMost: 250 },
    notes: [`resident: ${parts}; shared pages counted once: ${summarise(pss).median.toFixed(0)} MB`],
  },
  {
    what: `idle CPU with ${apps} apps, berth and Traefik together`,
    unit: '% of a core',
    berth: { median: cpu, p95: cpu, count: 1 },
    target: { kind: 'value', atMost: 0.5 },
    notes: [`watched for ${bench.idleSeconds} s`],
  },
];

const growthRow = (readings: readonly Reading[]): Row => {
  const [first, second, last] = readings.map(({ apps, rss }) => ({ apps, rss: summarise(rss).median }));
  if (first === undefined || second === undefined || last === undefined) throw new Error('a reading is missing');
  const growth = (last.rss - second.rss) / (last.apps - second.apps);
  return {
    what: 'idle memory that one more app costs berth and Traefik',
    unit: 'MB',
    berth: { median: growth, p95: growth, count: 1 },
    target: { kind: 'value', atMost: 0.5 },
    notes: [
      `from ${second.apps} to ${last.apps} apps; from none to ${second.apps}: ${((second.rss - first.rss) / second.apps).toFixed(2)} MB each`,
    ],
  };
};
