import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pack, type Berth } from '#test/support/berth.ts';
import type { Benchmark } from './kit/bench.ts';
import { expressApp } from './kit/express-app.ts';
import { hostRepository, runGit } from './kit/git-run.ts';
import { firstAnswer, succeed, untilSettled } from './kit/server.ts';
import { summarise } from './kit/stats.ts';

const PROJECT = 'bench-push';
const LIVE = { push: 'pushed', tarball: 'packed' } as const;

/** A push until the new version answers, beside the same deploy by an archive; dependencies are cached on both sides. */
export const gitDeploy: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  const dir = join(berth.dataDir, 'bench-push');
  mkdirSync(dir);
  bench.scope.defer(() => rmSync(dir, { recursive: true, force: true }));
  await runGit(dir, 'init', '--quiet', '--initial-branch=main');
  const { url } = await hostRepository(berth, PROJECT, { name: 'app', deploy_service: LIVE.push });
  const times: { baseline: number[]; berth: number[] } = { baseline: [], berth: [] };
  for (let run = 0; run <= bench.runs; run += 1) {
    const baseline = await deployTarball(berth, `tarball-${run}`);
    const own = await deployPush(berth, { dir, url, marker: `push-${run}` });
    if (run === 0) continue;
    bench.say(`push to live ${run}: tarball ${baseline.toFixed(0)} ms, push ${own.toFixed(0)} ms`);
    times.baseline.push(baseline);
    times.berth.push(own);
  }
  return [
    {
      what: 'git: push of a one-line change, to the first new 200',
      unit: 'ms',
      baseline: summarise(times.baseline),
      berth: summarise(times.berth),
      target: { kind: 'ratio', atMost: 1.1 },
      notes: [
        'baseline: berth, the same app as an archive that is packed before; the push from the start of `git push`',
      ],
    },
  ];
};

const deployTarball = async (berth: Berth, marker: string): Promise<number> => {
  const archive = await pack(expressApp(marker));
  const begun = performance.now();
  const { status, body } = await berth.uploadArchive(PROJECT, LIVE.tarball, archive);
  if (status !== 202) throw new Error(`the deploy was refused: ${JSON.stringify(body)}`);
  const operation = { id: String(body.operation_id), streamUrl: String(body.stream_url) };
  return untilLive(berth, { begun, operation, service: LIVE.tarball, marker });
};

interface Push {
  dir: string;
  url: string;
  marker: string;
}

const deployPush = async (berth: Berth, { dir, url, marker }: Push): Promise<number> => {
  for (const [name, content] of Object.entries(expressApp(marker))) writeFileSync(join(dir, name), content);
  await runGit(dir, 'add', '--all');
  await runGit(dir, 'commit', '--quiet', '-m', marker);
  const begun = performance.now();
  const child = Bun.spawn(['git', '-C', dir, 'push', url, 'main'], { stdout: 'ignore', stderr: 'pipe' });
  const id = Promise.withResolvers<string>();
  const reading = (async () => {
    let text = '';
    for await (const chunk of child.stderr) {
      text += Buffer.from(chunk).toString();
      const found = /operation (?<id>op_\w+)/.exec(text)?.groups?.['id'];
      if (found !== undefined) id.resolve(found);
    }
    id.reject(new Error(`the push began no deploy: ${text}`));
  })();
  const operation = await id.promise;
  const streamUrl = `/v1/operations/${operation}/stream`;
  const live = await untilLive(berth, { begun, operation: { id: operation, streamUrl }, service: LIVE.push, marker });
  await reading;
  return live;
};

interface Awaited {
  begun: number;
  operation: { id: string; streamUrl: string };
  service: string;
  marker: string;
}

const untilLive = async (berth: Berth, { begun, operation, service, marker }: Awaited): Promise<number> => {
  const live = await firstAnswer(berth, begun, {
    project: PROJECT,
    service,
    streamUrl: operation.streamUrl,
    isWanted: (text) => text.includes(`${marker} `),
  });
  await succeed(berth, operation.id);
  await untilSettled(berth, PROJECT, service);
  return live;
};
