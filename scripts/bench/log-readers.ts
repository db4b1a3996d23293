import { existsSync } from 'node:fs';
import { freePorts } from '#test/support/ports.ts';
import { nodeApp } from '#test/support/apps.ts';
import type { Bench, Benchmark } from './kit/bench.ts';
import { memoryOf } from './kit/process-usage.ts';
import { replicaIds, untilSettled } from './kit/server.ts';
import { median, summarise } from './kit/stats.ts';
import { startWorker } from './kit/worker.ts';
import type { BareStreamOptions } from './processes/bare-stream.ts';
import type { ReadersOptions, ReadersResult } from './processes/stream-readers.ts';

const PROJECT = 'bench-logs';
const READERS = 500;
const STALLED = 50;
const PER_SECOND = 1000;
const SESSIONS = 2;
const WINDOW_SECONDS = 5;
const WARM_UP_SECONDS = 5;
/** Of resident memory, which a garbage collector lets swing. */
const GROWTH_MB = 16;

interface Session {
  /** Of each window, in ms. */
  p99: number[];
  /** Resident memory in MB, a sample every quarter of a second, and that before the readers came. */
  memory: number[];
  before: number;
  result: ReadersResult;
}

/** 500 readers of one service's log, 50 of which stopped reading; beside a bare stream that is fed by the same container. */
export const logReaders: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  await berth.deploy(PROJECT, 'web', chattyApp());
  await untilSettled(berth, PROJECT, 'web');
  const [container = ''] = await replicaIds(berth, PROJECT, 'web');
  const [port = 0] = await freePorts(1);
  const bareOptions: BareStreamOptions = { port, container };
  const windows = Math.max(2, Math.ceil(bench.runs / SESSIONS));
  const sessions: { baseline: Session[]; berth: Session[] } = { baseline: [], berth: [] };
  for (let number = 1; number <= SESSIONS; number += 1) {
    const scope = bench.scope.part();
    const bare = await startWorker(scope, 'bare-stream', bareOptions);
    sessions.baseline.push(await readAlong(bench, { port, path: '/', headers: {}, windows }, bare.pid));
    await scope.close();
    const path = `/v1/projects/${PROJECT}/services/web/logs?tail=0`;
    const headers = { authorization: `Bearer ${berth.token}` };
    sessions.berth.push(await readAlong(bench, { port: berth.ports.api, path, headers, windows }, berth.pid));
    bench.say(`log readers, session ${number}: p99 baseline ${said(sessions.baseline)}, berth ${said(sessions.berth)}`);
  }
  const results = sessions.berth.map(({ result }) => result);
  return [
    {
      what: `log stream: ${READERS} readers, ${STALLED} of them stalled, ${PER_SECOND} lines/s: p99 of the delivery`,
      unit: 'ms',
      baseline: summarise(sessions.baseline.flatMap(({ p99 }) => p99)),
      berth: summarise(sessions.berth.flatMap(({ p99 }) => p99)),
      target: { kind: 'ratio', atMost: 2 },
      notes: [
        'baseline: bare Bun streams fed by the same container',
        `from the app's write to the reader; ${results.map(({ lines }) => lines).join(' and ')} lines looked at, ${results.map(({ gaps }) => gaps).join(' and ')} missing`,
      ],
    },
    {
      what: `log stream: growth of berth's memory in the second half of a session`,
      unit: 'MB',
      baseline: summarise(sessions.baseline.map(laterGrowth)),
      berth: summarise(sessions.berth.map(laterGrowth)),
      target: { kind: 'value', atMost: GROWTH_MB },
      notes: [`berth: ${peaks(sessions.berth)}`, `bare stream: ${peaks(sessions.baseline)}`],
    },
  ];
};

const said = (sessions: readonly Session[]): string => `${median(sessions.at(-1)?.p99 ?? []).toFixed(1)} ms`;

/** Between the medians of the two halves; a server that keeps what readers don't take grows on. */
const laterGrowth = ({ memory }: Session): number => {
  const half = Math.floor(memory.length / 2);
  return Math.max(0, median(memory.slice(half)) - median(memory.slice(0, half)));
};

const peaks = (sessions: readonly Session[]): string =>
  sessions
    .map(({ memory, before }) => `${before.toFixed(0)} MB resident before, ${Math.max(...memory).toFixed(0)} at most`)
    .join('; ');

const readAlong = async (
  bench: Bench,
  from: Pick<ReadersOptions, 'port' | 'path' | 'headers' | 'windows'>,
  serverPid: number,
): Promise<Session> => {
  const scope = bench.scope.part();
  const before = memoryOf(serverPid).rss;
  const memory: number[] = [];
  const sampler = setInterval(() => {
    if (existsSync(`/proc/${serverPid}`)) memory.push(memoryOf(serverPid).rss);
  }, 250);
  scope.defer(() => clearInterval(sampler));
  try {
    const options: ReadersOptions = {
      ...from,
      readers: READERS,
      stalled: STALLED,
      warmUpSeconds: WARM_UP_SECONDS,
      windowSeconds: WINDOW_SECONDS,
    };
    const worker = await startWorker<ReadersResult>(scope, 'stream-readers', options);
    const result = await worker.finish();
    return { p99: result.windows.map(({ p99 }) => p99), memory, before, result };
  } finally {
    await scope.close();
  }
};

/** Writes numbered lines with the time of each. */
const chattyApp = (): Record<string, string> => {
  const files = nodeApp('(request, response) => response.end()');
  const chatter = `
let number = 0;
const begun = performance.now();
setInterval(() => {
  const due = Math.floor(performance.now() - begun);
  let text = '';
  for (; number < due; number += 1)
    text += 'n=' + number + ' t=' + (performance.timeOrigin + performance.now()).toFixed(3) + ' GET /some/path 200 in 12 ms, 3456 bytes sent\\n';
  process.stdout.write(text);
}, 4);
`;
  return { ...files, 'server.js': `${files['server.js']}${chatter}` };
};
