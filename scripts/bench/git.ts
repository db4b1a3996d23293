import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Berth } from '#test/support/berth.ts';
import { freePorts } from '#test/support/ports.ts';
import type { Bench, Benchmark } from './kit/bench.ts';
import { bigRepository, packedMegabytes } from './kit/git-repository.ts';
import { hostRepository, milliseconds, runGit } from './kit/git-run.ts';
import { peakDuring, residentOf } from './kit/memory-watch.ts';
import type { Row } from './kit/row.ts';
import { summarise } from './kit/stats.ts';
import { startWorker } from './kit/worker.ts';
import type { GitCgiOptions } from './processes/git-cgi.ts';

const PROJECT = 'bench-git';
const AT_ONCE = 8;

/** One server of the same repository. */
interface Side {
  url: string;
  /** Makes an empty repository; its address. */
  fresh(): Promise<string>;
}

interface Setup {
  berth: Berth;
  /** The repository where it was made. */
  source: string;
  /** Folder for clones. */
  work: string;
  megabytes: number;
  sides: Record<'baseline' | 'berth', Side>;
}

/** Clients of git beside the same against `git http-backend` behind a plain CGI server, with the same repository. */
export const gitTransfer: Benchmark = async (bench) => {
  const setup = await prepare(bench);
  const { megabytes } = setup;
  const clones = await inTurns(bench, setup, 'clone', (side) => milliseconds(() => clone(setup, side.url)));
  const pushes = await inTurns(bench, setup, 'push', async (side) => {
    const to = await side.fresh();
    return milliseconds(() => runGit(setup.source, 'push', '--quiet', to, 'main'));
  });
  const many = await inTurns(bench, setup, `${AT_ONCE} clones at once`, (side) =>
    milliseconds(() => Promise.all(Array.from({ length: AT_ONCE }, (_, n) => clone(setup, side.url, n)))),
  );
  const client = join(setup.work, 'client.git');
  await runGit(setup.work, 'clone', '--quiet', '--bare', setup.source, client);
  const fetches = await inTurns(bench, setup, 'empty fetch', (side) =>
    milliseconds(() => runGit(client, 'fetch', '--quiet', side.url, 'main')),
  );
  const notes = [
    `${megabytes.toFixed(0)} MB packed, 20,000 commits`,
    'baseline: `git http-backend` behind a plain CGI server, with the same pack, bitmap and checks of what is pushed',
  ];
  const throughput = (what: string, times: Times, count = 1): Row => {
    const rates = (side: number[]) =>
      summarise(
        side.map((ms) => (megabytes * count * 1000) / ms),
        'low',
      );
    const [baseline, berth] = [rates(times.baseline), rates(times.berth)];
    return { what, unit: 'MB/s', baseline, berth, target: { kind: 'ratio', atLeast: 0.95 }, notes };
  };
  return [
    throughput('git: clone', clones),
    throughput('git: push into an empty repository', pushes),
    throughput(`git: ${AT_ONCE} clones at once, together`, many, AT_ONCE),
    {
      what: 'git: fetch that brings nothing',
      unit: 'ms',
      baseline: summarise(fetches.baseline),
      berth: summarise(fetches.berth),
      target: { kind: 'excess', atMost: 10 },
      notes,
    },
  ];
};

const prepare = async (bench: Bench): Promise<Setup> => {
  const source = await bigRepository(bench.say);
  const berth = await bench.berth();
  await berth.project(PROJECT);
  const work = join(berth.dataDir, 'bench-git');
  const root = join(work, 'cgi');
  mkdirSync(root, { recursive: true });
  bench.scope.defer(() => rmSync(work, { recursive: true, force: true }));
  const { url, dir } = await hostRepository(berth, PROJECT, { name: 'big' });
  await runGit(source, 'push', '--quiet', url, 'main');
  // As after maintenance.
  await runGit(dir, 'repack', '-a', '-d', '--write-bitmap-index', '--quiet');
  cpSync(dir, join(root, 'big.git'), { recursive: true });
  const [port = 0] = await freePorts(1);
  const options: GitCgiOptions = { port, root };
  await startWorker(bench.scope, 'git-cgi', options);
  const fresh = {
    baseline: async (): Promise<string> => {
      const path = join(root, 'fresh.git');
      rmSync(path, { recursive: true, force: true });
      await runGit(root, 'init', '--quiet', '--bare', '--initial-branch=main', path);
      await runGit(path, 'config', 'receive.fsckObjects', 'true');
      return `http://127.0.0.1:${port}/fresh.git`;
    },
    berth: async (): Promise<string> => {
      await berth.api(`/v1/projects/${PROJECT}/repos/fresh`, { method: 'DELETE' });
      return (await hostRepository(berth, PROJECT, { name: 'fresh' })).url;
    },
  };
  const baseline = { url: `http://127.0.0.1:${port}/big.git`, fresh: fresh.baseline };
  const sides = { baseline, berth: { url, fresh: fresh.berth } };
  return { berth, source, work, megabytes: await packedMegabytes(dir), sides };
};

const clone = async ({ work }: Setup, url: string, n = 0): Promise<void> => {
  const to = join(work, `clone-${n}.git`);
  await runGit(work, 'clone', '--quiet', '--bare', url, to);
  rmSync(to, { recursive: true, force: true });
};

type Times = Record<'baseline' | 'berth', number[]>;

/** The first run of each side fills the caches, and is not counted. */
const inTurns = async (
  bench: Bench,
  { sides }: Setup,
  what: string,
  once: (side: Side) => Promise<number>,
): Promise<Times> => {
  const times: Times = { baseline: [], berth: [] };
  for (let run = 0; run <= bench.runs; run += 1) {
    const baseline = await once(sides.baseline);
    const berth = await once(sides.berth);
    if (run === 0) continue;
    bench.say(`${what} ${run}: baseline ${baseline.toFixed(0)} ms, berth ${berth.toFixed(0)} ms`);
    times.baseline.push(baseline);
    times.berth.push(berth);
  }
  return times;
};

const SMALL_MB = 100;
const LARGE_MB = 500;

/** What berth needs for a push and a clone, beside the same with a repository five times as large. */
export const gitMemory: Benchmark = async (bench) => {
  const berth = await bench.berth();
  await berth.project(PROJECT);
  const work = join(berth.dataDir, 'bench-git-memory');
  mkdirSync(work, { recursive: true });
  bench.scope.defer(() => rmSync(work, { recursive: true, force: true }));
  const peaks: Record<'small' | 'large', number[]> = { small: [], large: [] };
  for (const [side, megabytes] of [
    ['small', SMALL_MB],
    ['large', LARGE_MB],
  ] as const) {
    const source = await randomRepository(work, megabytes);
    for (let run = 0; run <= Math.min(bench.runs, 5); run += 1) {
      const { peak } = await peakDuring(berth.pid, async () => {
        const { url } = await hostRepository(berth, PROJECT, { name: 'random' });
        await runGit(source, 'push', '--quiet', url, 'main');
        const to = join(work, 'clone.git');
        await runGit(work, 'clone', '--quiet', '--bare', url, to);
        rmSync(to, { recursive: true, force: true });
        await berth.api(`/v1/projects/${PROJECT}/repos/random`, { method: 'DELETE' });
      });
      if (run > 0) peaks[side].push(peak);
    }
    rmSync(source, { recursive: true, force: true });
  }
  bench.say(`memory: ${JSON.stringify(peaks)}, ${residentOf(berth.pid).toFixed(0)} MB now`);
  return [
    {
      what: `git: memory of berth at most while ${LARGE_MB} MB are pushed and cloned`,
      unit: 'MB',
      baseline: summarise(peaks.small),
      berth: summarise(peaks.large),
      target: { kind: 'excess', atMost: 64 },
      notes: [`baseline: berth with ${SMALL_MB} MB; resident, executable included; random bytes in files of 1 MB`],
    },
  ];
};

const randomRepository = async (work: string, megabytes: number): Promise<string> => {
  const dir = join(work, `random-${megabytes}`);
  await runGit(work, 'init', '--quiet', '--initial-branch=main', dir);
  for (let n = 0; n < megabytes; n += 1) await Bun.write(join(dir, `file-${n}`), randomBytes(1024 * 1024));
  await runGit(dir, 'add', '--all');
  await runGit(dir, 'commit', '--quiet', '-m', 'random');
  return dir;
};
