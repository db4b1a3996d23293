import type { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import type { Benchmark } from './kit/bench.ts';
import { expressApp } from './kit/express-app.ts';
import { PlainDocker } from './kit/plain-docker.ts';
import type { Row } from './kit/row.ts';
import { firstAnswer, replicaIds, succeed, untilSettled } from './kit/server.ts';
import { summarise } from './kit/stats.ts';

const PROJECT = 'bench-rollback';
const VERBS = ['rollback', 'restart'] as const;

/** Going back to the release before, and restarting, each beside `docker run` of the image that is live then. */
export const rollback: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  for (const marker of ['one', 'two']) await berth.deploy(PROJECT, 'web', expressApp(marker));
  await untilSettled(berth, PROJECT, 'web');
  const plain = await PlainDocker.create(bench.scope);
  const image = await imageOf(berth);
  const rows: Row[] = [];
  for (const verb of VERBS) {
    const times: { baseline: number[]; berth: number[] } = { baseline: [], berth: [] };
    for (let run = 0; run <= bench.runs; run += 1) {
      const baseline = await plain.runUntilAnswer(image);
      const own = await once(berth, verb);
      if (run === 0) continue;
      bench.say(`${verb} ${run}: baseline ${baseline.toFixed(0)} ms, berth ${own.toFixed(0)} ms`);
      times.baseline.push(baseline);
      times.berth.push(own);
    }
    rows.push({
      what: `${verb}, to the first new 200`,
      unit: 'ms',
      baseline: summarise(times.baseline),
      berth: summarise(times.berth),
      target: { kind: 'ratio', atMost: 1.2 },
      notes: ['baseline: `docker run` of that image with a published port'],
    });
  }
  return rows;
};

const imageOf = async (berth: Berth): Promise<string> => {
  const [id = ''] = await replicaIds(berth, PROJECT, 'web');
  return (await docker(['inspect', '--format', '{{.Image}}', id])).trim();
};

const once = async (berth: Berth, verb: (typeof VERBS)[number]): Promise<number> => {
  const before = await berth.appText(PROJECT, 'web');
  const begun = performance.now();
  const { status, body } = await berth.api(`/v1/projects/${PROJECT}/services/web/${verb}`, { method: 'POST' });
  if (status !== 202) throw new Error(`the ${verb} was refused: ${JSON.stringify(body)}`);
  const isNew = (text: string): boolean => text !== before;
  const milliseconds = await firstAnswer(berth, begun, {
    project: PROJECT,
    service: 'web',
    streamUrl: body.stream_url,
    isWanted: isNew,
  });
  await succeed(berth, body.operation_id);
  await untilSettled(berth, PROJECT, 'web');
  return milliseconds;
};
