import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Benchmark } from './kit/bench.ts';
import { succeed, untilSettled } from './kit/server.ts';
import { startWorker } from './kit/worker.ts';
import { untilAnswer } from './kit/until.ts';
import type { TrafficOptions, TrafficResult } from './processes/traffic.ts';

const PROJECT = 'bench-traffic';
const APP = join(import.meta.dir, 'apps/traffic');
const DEPLOYS = 20;

/** 20 deploys one after the other, under load: no request may fail, and no WebSocket may break. */
export const traffic: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  const deploy = async (version: string): Promise<void> => {
    const { body } = await berth.upload(PROJECT, 'web', app(version));
    await succeed(berth, body.operation_id);
  };
  await deploy('0');
  await untilAnswer(performance.now(), (init) => berth.app(PROJECT, 'web', '/', init));
  const options: TrafficOptions = {
    port: berth.ports.http,
    host: `web--${PROJECT}.localhost`,
    perSecond: 300,
    slowPerSecond: 4,
    sockets: 20,
  };
  const load = await startWorker<TrafficResult>(bench.scope, 'traffic', options);
  const begun = performance.now();
  for (let number = 1; number <= DEPLOYS; number += 1) {
    await deploy(String(number));
    bench.say(`traffic: deploy ${number} of ${DEPLOYS} is live`);
  }
  // The load goes on until the last old replica was drained and told to end.
  await untilSettled(berth, PROJECT, 'web');
  const seconds = (performance.now() - begun) / 1000;
  const result = await load.finish();
  const reasons = Object.entries(result.reasons).map(([reason, count]) => `${count} × ${reason}`);
  return [
    {
      what: '20 deploys under 300 requests/s with 5 s requests and WebSockets: errors',
      unit: '',
      berth: { median: result.failed, p95: result.failed, count: DEPLOYS },
      target: { kind: 'value', atMost: 0 },
      notes: [
        `${result.ok} requests and ${result.slowOk} of 5 s answered in ${seconds.toFixed(0)} s`,
        `${result.messages} WebSocket messages came back, ${result.closedWell} WebSockets were closed by an app that ended, with 1001`,
        ...(reasons.length === 0 ? [] : [`errors: ${reasons.join(', ')}`]),
      ],
    },
  ];
};

const app = (version: string): Record<string, string> => {
  const read = (name: string): string => readFileSync(join(APP, name), 'utf8');
  return {
    Dockerfile: read('Dockerfile'),
    'package.json': read('package.json'),
    'server.js': read('server.js').replace("'VERSION'", JSON.stringify(version)),
  };
};
