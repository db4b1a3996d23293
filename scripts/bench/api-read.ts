import type { Benchmark } from './kit/bench.ts';
import { expressApp } from './kit/express-app.ts';
import { summarise } from './kit/stats.ts';
import { freePorts } from '#test/support/ports.ts';
import { startWorker } from './kit/worker.ts';
import type { BareApiOptions } from './processes/bare-api.ts';
import type { HttpLoadOptions, HttpLoadResult } from './processes/http-load.ts';

const PROJECT = 'bench-api';
const CONNECTIONS = 32;
const SECONDS = 2;

/** An authenticated read of a project, beside a bare `Bun.serve` that reads one row of the same size from SQLite. */
export const apiRead: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  await berth.deploy(PROJECT, 'web', expressApp('read'));
  const path = `/v1/projects/${PROJECT}`;
  const payload = JSON.stringify((await berth.api(path)).body);
  const [barePort = 0] = await freePorts(1);
  const bare: BareApiOptions = { port: barePort, name: PROJECT, payload };
  await startWorker(bench.scope, 'bare-api', bare);
  const load = async (port: number, headers: Record<string, string>): Promise<number> => {
    const scope = bench.scope.part();
    const options: HttpLoadOptions = { port, path, headers, connections: CONNECTIONS, seconds: SECONDS };
    const worker = await startWorker<HttpLoadResult>(scope, 'http-load', options);
    const result = await worker.finish();
    await scope.close();
    if (result.failed > 0) throw new Error(`${result.failed} reads failed: ${result.reason}`);
    return result.answered / result.seconds;
  };
  const rates: { baseline: number[]; berth: number[] } = { baseline: [], berth: [] };
  for (let run = 0; run <= bench.runs; run += 1) {
    const baseline = await load(barePort, {});
    const own = await load(berth.ports.api, { authorization: `Bearer ${berth.token}` });
    if (run === 0) continue;
    bench.say(`api read ${run}: baseline ${baseline.toFixed(0)}/s, berth ${own.toFixed(0)}/s`);
    rates.baseline.push(baseline);
    rates.berth.push(own);
  }
  return [
    {
      what: 'API: authenticated read of a project',
      unit: 'requests/s',
      baseline: summarise(rates.baseline, 'low'),
      berth: summarise(rates.berth, 'low'),
      target: { kind: 'ratio', atLeast: 0.6 },
      notes: [
        `baseline: bare \`Bun.serve\` with one SQLite read, the same ${payload.length} bytes, no authentication`,
        `${CONNECTIONS} connections, ${SECONDS} s a run, from a process of its own`,
      ],
    },
  ];
};
