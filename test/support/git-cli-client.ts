import { dirname } from 'node:path';
import { mkdirSync } from 'node:fs';
import { git, tryGit } from './git-client.ts';
import type { GitClient } from './git-scenarios.ts';

const over = (protocol: number | undefined): string[] => ['-c', `protocol.version=${protocol ?? 2}`];

/** Git's own command line. */
export const cliClient: GitClient = {
  name: 'git',
  can: new Set(['shallow', 'partial', 'push-options', 'atomic', 'remote-lines', 'v0', 'v1', 'force']),
  clone: async (url, dir, { depth, filter, protocol } = {}) => {
    mkdirSync(dirname(dir), { recursive: true });
    const flags = [
      ...(depth === undefined ? [] : [`--depth=${depth}`]),
      ...(filter === undefined ? [] : [`--filter=${filter}`]),
    ];
    await git(dirname(dir), ...over(protocol), 'clone', '--quiet', ...flags, '--', url, dir);
  },
  fetch: async (dir, url, { unshallow, protocol } = {}) => {
    const flags = unshallow === true ? ['--unshallow'] : [];
    await git(
      dir,
      ...over(protocol),
      'fetch',
      '--quiet',
      '--prune',
      ...flags,
      url,
      '+refs/heads/*:refs/remotes/origin/*',
    );
  },
  push: async (dir, url, refspecs, { force, atomic, options, protocol } = {}) => {
    const flags = [
      ...(force === true ? ['--force'] : []),
      ...(atomic === true ? ['--atomic'] : []),
      ...(options ?? []).flatMap((option) => ['-o', option]),
    ];
    const { code, text } = await tryGit(dir, [...over(protocol), 'push', ...flags, url, ...refspecs]);
    return { ok: code === 0, text };
  },
};
