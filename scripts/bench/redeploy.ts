import { pack, type Berth } from '#test/support/berth.ts';
import type { Bench, Benchmark } from './kit/bench.ts';
import { expressApp, expressDockerfile } from './kit/express-app.ts';
import { PlainDocker } from './kit/plain-docker.ts';
import { firstAnswer, phaseNote, phaseTimes, succeed, untilSettled } from './kit/server.ts';
import { median, summarise } from './kit/stats.ts';

const PROJECT = 'bench-redeploy';

/** An edited line, from the upload to the first answer of the new version; dependencies are cached on both sides. */
export const redeploy: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  const plain = await PlainDocker.create(bench.scope);
  const times: { baseline: number[]; berth: number[] } = { baseline: [], berth: [] };
  const phases: Map<string, number>[] = [];
  // The first run of each side fills the caches, and is not counted.
  for (let run = 0; run <= bench.runs; run += 1) {
    const baseline = await plain.deploy(await baselineArchive(`plain-${run}`));
    const own = await deployOnce(berth, `berth-${run}`);
    if (run === 0) continue;
    say(bench, run, baseline, own.milliseconds);
    times.baseline.push(baseline);
    times.berth.push(own.milliseconds);
    phases.push(own.phases);
  }
  return [
    {
      what: 'redeploy after a one-line change, to the first new 200',
      unit: 'ms',
      baseline: summarise(times.baseline),
      berth: summarise(times.berth),
      target: { kind: 'ratio', atMost: 1.25 },
      notes: ['baseline: BuildKit build + `docker run` + a request every 10 ms', phaseNote(phases, median)],
    },
  ];
};

const baselineArchive = (marker: string): Promise<Uint8Array> =>
  pack({ ...expressApp(marker), Dockerfile: expressDockerfile('berth-bench-npm') });

const deployOnce = async (berth: Berth, marker: string) => {
  const archive = await pack(expressApp(marker));
  const begun = performance.now();
  const { status, body } = await berth.uploadArchive(PROJECT, 'web', archive);
  if (status !== 202) throw new Error(`the deploy was refused: ${JSON.stringify(body)}`);
  const isNew = (text: string): boolean => text.includes(`${marker} `);
  const milliseconds = await firstAnswer(berth, begun, {
    project: PROJECT,
    service: 'web',
    streamUrl: body.stream_url,
    isWanted: isNew,
  });
  await succeed(berth, body.operation_id);
  await untilSettled(berth, PROJECT, 'web');
  return { milliseconds, phases: await phaseTimes(berth, body.operation_id) };
};

const say = (bench: Bench, run: number, baseline: number, own: number): void =>
  bench.say(`redeploy ${run}: baseline ${baseline.toFixed(0)} ms, berth ${own.toFixed(0)} ms`);
