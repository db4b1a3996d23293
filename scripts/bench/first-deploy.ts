import { pack, type Berth } from '#test/support/berth.ts';
import { randomBytes } from 'node:crypto';
import type { Benchmark } from './kit/bench.ts';
import { expressApp, expressDockerfile } from './kit/express-app.ts';
import { PlainDocker } from './kit/plain-docker.ts';
import { firstAnswer, phaseNote, phaseTimes, succeed } from './kit/server.ts';
import { median, summarise } from './kit/stats.ts';

const PROJECT = 'bench-first';

/** A service that berth has never seen, built without any cache: layers and the package manager's are new on both sides. */
export const firstDeploy: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  const plain = await PlainDocker.create(bench.scope);
  const salt = randomBytes(4).toString('hex');
  const times: { baseline: number[]; berth: number[] } = { baseline: [], berth: [] };
  const phases: Map<string, number>[] = [];
  // The first run brings the base image into berth's registry, where it is anyway soon after a server's first start.
  for (let run = 0; run <= bench.runs; run += 1) {
    const files = { ...expressApp(`plain-${run}`), Dockerfile: expressDockerfile(`berth-bench-${salt}-${run}`) };
    const baseline = await plain.deploy(await pack(files), { noCache: true });
    const own = await deployNew(berth, `web-${run}`);
    if (run === 0) continue;
    bench.say(`first deploy ${run}: baseline ${baseline.toFixed(0)} ms, berth ${own.milliseconds.toFixed(0)} ms`);
    times.baseline.push(baseline);
    times.berth.push(own.milliseconds);
    phases.push(own.phases);
  }
  return [
    {
      what: 'first deploy of the same app, no cache',
      unit: 'ms',
      baseline: summarise(times.baseline),
      berth: summarise(times.berth),
      target: { kind: 'ratio', atMost: 1.15 },
      notes: ['baseline: the same as above, without cache; both download the packages', phaseNote(phases, median)],
    },
  ];
};

const deployNew = async (berth: Berth, service: string) => {
  const archive = await pack(expressApp(service));
  const begun = performance.now();
  const { status, body } = await berth.uploadArchive(PROJECT, service, archive, '?no_cache=true');
  if (status !== 202) throw new Error(`the deploy was refused: ${JSON.stringify(body)}`);
  const milliseconds = await firstAnswer(berth, begun, { project: PROJECT, service, streamUrl: body.stream_url });
  await succeed(berth, body.operation_id);
  const phases = await phaseTimes(berth, body.operation_id);
  // The service stays: without its repository the next push would find no layer of the base image to share.
  return { milliseconds, phases };
};
