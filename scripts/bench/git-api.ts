import type { Benchmark } from './kit/bench.ts';
import { bigRepository } from './kit/git-repository.ts';
import { hostRepository, milliseconds, runGit } from './kit/git-run.ts';
import { summarise } from './kit/stats.ts';

const PROJECT = 'bench-git-api';
const FILES = 100;

/** Commits and readings by the API, in a repository of 100 MB with 20,000 commits. */
export const gitApi: Benchmark = async (bench) => {
  const source = await bigRepository(bench.say);
  const berth = await bench.berth();
  await berth.project(PROJECT);
  const { url } = await hostRepository(berth, PROJECT, { name: 'big' });
  await runGit(source, 'push', '--quiet', url, 'main');
  const repo = `/v1/projects/${PROJECT}/repos/big`;
  const ask =
    (path: string, options = {}) =>
    async (): Promise<void> => {
      const reply = await berth.api(`${repo}/${path}`, options);
      if (reply.status > 201) throw new Error(`${path}: ${JSON.stringify(reply.body)}`);
    };
  const times = { commit: [] as number[], tree: [] as number[], log: [] as number[] };
  for (let run = 0; run <= bench.runs; run += 1) {
    const files = Array.from({ length: FILES }, (_, n) => ({
      path: `folder-${n % 40}/file-${n % 50}.txt`,
      content: `run ${run}, file ${n}\n`.repeat(50),
    }));
    const body = { message: `run ${run}`, files };
    const commit = await milliseconds(ask('commits', { method: 'POST', body }));
    const tree = await milliseconds(ask('tree'));
    const log = await milliseconds(ask('commits'));
    if (run === 0) continue;
    bench.say(`git api ${run}: commit ${commit.toFixed(1)} ms, tree ${tree.toFixed(1)} ms, log ${log.toFixed(1)} ms`);
    times.commit.push(commit);
    times.tree.push(tree);
    times.log.push(log);
  }
  const row = (what: string, of: number[], atMost: number) => ({
    what,
    unit: 'ms',
    berth: summarise(of),
    target: { kind: 'value' as const, atMost },
    notes: ['by the API, from the request to the end of the reply; 100 MB, 20,000 commits, 2,000 files'],
  });
  return [
    row(`git: commit of ${FILES} files by the API`, times.commit, 100),
    row('git: tree of the head by the API', times.tree, 20),
    row('git: log of the head by the API, 50 commits', times.log, 20),
  ];
};
