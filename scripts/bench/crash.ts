import { helloApp } from '#test/support/apps.ts';
import type { Benchmark } from './kit/bench.ts';
import { summarise } from './kit/stats.ts';
import { untilAnswer } from './kit/until.ts';
import { startWorker } from './kit/worker.ts';
import type { TrafficOptions, TrafficResult } from './processes/traffic.ts';

const PROJECT = 'bench-crash';
const PER_SECOND = 100;
/** Between two kills, so that requests meet a server that is up as well as one that is not. */
const PAUSE_MS = 1000;

/** `kill -9`, started again at once as systemd would: how long until an authenticated read answers, and what apps notice. */
export const crash: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  await berth.deploy(PROJECT, 'web', helloApp('up'));
  await untilAnswer(performance.now(), (init) => berth.app(PROJECT, 'web', '/', init));
  const options: TrafficOptions = {
    port: berth.ports.http,
    host: `web--${PROJECT}.localhost`,
    perSecond: PER_SECOND,
    slowPerSecond: 0,
    sockets: 0,
  };
  const load = await startWorker<TrafficResult>(bench.scope, 'traffic', options);
  const headers = { authorization: `Bearer ${berth.token}` };
  const times: number[] = [];
  for (let run = 1; run <= bench.runs; run += 1) {
    const begun = performance.now();
    await berth.stop('SIGKILL');
    const started = berth.start();
    const ask = (init: RequestInit): Promise<Response> =>
      fetch(`${berth.url}/v1/projects/${PROJECT}`, { ...init, headers });
    times.push(await untilAnswer(begun, ask));
    await started;
    await Bun.sleep(PAUSE_MS);
    bench.say(`kill -9 ${run}: the API answers after ${times.at(-1)?.toFixed(0)} ms`);
  }
  const result = await load.finish();
  const reasons = Object.entries(result.reasons).map(([reason, count]) => `${count} × ${reason}`);
  return [
    {
      what: '`kill -9` of berth until the API answers again',
      unit: 'ms',
      berth: summarise(times),
      target: { kind: 'value', atMost: 2000 },
      notes: ['from the kill to an authenticated 200; started again at once'],
    },
    {
      what: '`kill -9` of berth: requests to apps that failed',
      unit: '',
      berth: { median: result.failed, p95: result.failed, count: bench.runs },
      target: { kind: 'value', atMost: 0 },
      notes: [`${result.ok} requests answered at ${PER_SECOND}/s meanwhile`, ...reasons],
    },
  ];
};
