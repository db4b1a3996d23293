import { describe } from 'bun:test';
import { archiveContract } from './git-archives.ts';
import { commitsContract } from './git-commits.ts';
import { diffsContract } from './git-diffs.ts';
import { readsContract } from './git-reads.ts';
import type { GitHarness } from './git-bench.ts';

export type { GitHarness } from './git-bench.ts';

/** Holds an implementation of the port to its contract. */
export const gitContract = (name: string, boot: () => GitHarness): void => {
  describe(`git contract: ${name}`, () => {
    readsContract(boot);
    diffsContract(boot);
    archiveContract(boot);
    commitsContract(boot);
  });
};
