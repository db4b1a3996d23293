import { dirname } from 'node:path';
import { mkdirSync } from 'node:fs';
import { tryGit, type Ran } from './git-client.ts';
import type { GitClient } from './git-scenarios.ts';

type RunGit = (dir: string, args: readonly string[]) => Promise<Ran>;

const over = (protocol: number | undefined): string[] => ['-c', `protocol.version=${protocol ?? 2}`];

/** Git's own command line, however it is run. */
export const cliClientOf = (name: string, run: RunGit): GitClient => ({
  name,
  can: new Set([
    'shallow',
    'unshallow',
    'partial',
    'push-options',
    'atomic',
    'unborn',
    'control-characters',
    'v0',
    'v1',
    'force',
  ]),
  clone: async (url, dir, { depth, filter, protocol } = {}) => {
    mkdirSync(dirname(dir), { recursive: true });
    const flags = [
      ...(depth === undefined ? [] : [`--depth=${depth}`]),
      ...(filter === undefined ? [] : [`--filter=${filter}`]),
    ];
    await must(run, dirname(dir), [...over(protocol), 'clone', '--quiet', ...flags, '--', url, dir]);
  },
  fetch: async (dir, url, { unshallow, protocol } = {}) => {
    const flags = unshallow === true ? ['--unshallow'] : [];
    const refspec = '+refs/heads/*:refs/remotes/origin/*';
    await must(run, dir, [...over(protocol), 'fetch', '--quiet', '--prune', ...flags, url, refspec]);
  },
  push: async (dir, url, refspecs, { force, atomic, options, protocol } = {}) => {
    const flags = [
      ...(force === true ? ['--force'] : []),
      ...(atomic === true ? ['--atomic'] : []),
      ...(options ?? []).flatMap((option) => ['-o', option]),
    ];
    const { code, text } = await run(dir, [...over(protocol), 'push', ...flags, url, ...refspecs]);
    return { ok: code === 0, text };
  },
});

const must = async (run: RunGit, dir: string, args: readonly string[]): Promise<void> => {
  const { code, text } = await run(dir, args);
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${text}`);
};

/** The machine's git. */
export const cliClient = cliClientOf('git', tryGit);
