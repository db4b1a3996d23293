import { nodeApp } from '#test/support/apps.ts';
import type { Berth } from '#test/support/berth.ts';
import { startLoad } from '#test/support/load.ts';
import type { Benchmark } from './kit/bench.ts';
import { cpuSecondsOf } from './kit/process-usage.ts';
import { bootServer, succeed } from './kit/server.ts';
import { summarise } from './kit/stats.ts';
import { startWorker } from './kit/worker.ts';
import type { DashboardsOptions, DashboardsResult, OpenPage } from './processes/dashboards.ts';

const PROJECT = 'bench-live';
const SERVICES = ['web', 'api', 'worker', 'docs'];
const DASHBOARDS = 50;
const REQUESTS_PER_SECOND = 5;
const SETTLE_MS = 15_000;

/** A log line for each request, as apps write them. */
const APP = nodeApp(
  `(request, response) => { console.log(request.method + ' ' + request.url + ' 200'); response.end('ok'); }`,
);

/** What open dashboards cost a server whose apps are used a little: half on the overview, half on the page of a service. */
export const dashboardLive: Benchmark = async (bench) => {
  const berth = await bootServer(bench.scope);
  await berth.project(PROJECT);
  for (const service of SERVICES) {
    const { body } = await berth.upload(PROJECT, service, APP);
    await succeed(berth, body.operation_id);
  }
  let next = 0;
  const load = startLoad({
    request: () => berth.app(PROJECT, SERVICES[(next += 1) % SERVICES.length] ?? 'web', '/items'),
    perSecond: REQUESTS_PER_SECOND,
  });
  bench.scope.defer(() => load.stop());
  await Bun.sleep(SETTLE_MS);
  const without = await cpuShare(berth, bench.idleSeconds, bench.runs);
  const options: DashboardsOptions = { url: berth.url, token: berth.token, pages: openPages() };
  const worker = await startWorker<DashboardsResult>(bench.scope, 'dashboards', options);
  await Bun.sleep(SETTLE_MS);
  const withThem = await cpuShare(berth, bench.idleSeconds, bench.runs);
  const { events, open } = await worker.finish();
  if (open !== DASHBOARDS) throw new Error(`only ${open} of ${DASHBOARDS} streams stayed open`);
  const base = summarise(without);
  return [
    {
      what: `${DASHBOARDS} open dashboards: CPU of the server beyond what it uses without them`,
      unit: '% of a core',
      berth: summarise(withThem.map((share) => share - base.median)),
      target: { kind: 'value', atMost: 5 },
      notes: [
        `without: ${base.median.toFixed(1)} %, with: ${summarise(withThem).median.toFixed(1)} %; ${REQUESTS_PER_SECOND} requests/s to ${SERVICES.length} apps`,
        `${events} events received`,
      ],
    },
  ];
};

/** Every other one shows the overview, the rest a service. */
const openPages = (): OpenPage[] =>
  Array.from({ length: DASHBOARDS }, (_none, index) => {
    if (index % 2 === 0) return { topics: ['projects'], reads: [] };
    const service = SERVICES[index % SERVICES.length] ?? 'web';
    return {
      topics: ['projects', `project:${PROJECT}`, `usage:${PROJECT}/${service}`],
      reads: [{ path: `/v1/projects/${PROJECT}/services/${service}/usage?from=1h&points=60`, everySeconds: 15 }],
    };
  });

/** Per cent of one core, in as many windows. */
const cpuShare = async (berth: Berth, seconds: number, windows: number): Promise<number[]> => {
  const shares: number[] = [];
  for (let window = 0; window < windows; window += 1) {
    const [begun, before] = [performance.now(), cpuSecondsOf(berth.pid)];
    await Bun.sleep((seconds * 1000) / windows);
    shares.push(((cpuSecondsOf(berth.pid) - before) / ((performance.now() - begun) / 1000)) * 100);
  }
  return shares;
};
