import { openArchive } from './archive.ts';
import { compareRefs } from './compare.ts';
import type { GitDeps } from './deps.ts';
import { diffOfCommit } from './diff.ts';
import { readFile } from './file.ts';
import { listCommits, readCommit } from './history.ts';
import type { Git } from './port.ts';
import { listRefs } from './refs.ts';
import { resolve } from './resolve.ts';
import { listTree } from './tree.ts';
import { createWriteCommit } from './write-commit.ts';

type Part = Pick<
  Git,
  'resolve' | 'refs' | 'commits' | 'commit' | 'tree' | 'file' | 'diff' | 'compare' | 'archive' | 'writeCommit'
>;

/** What is in repositories, read and written without a checkout. */
export const createContents = (deps: GitDeps): Part => ({
  resolve: (repo, ref) => resolve(deps, repo, ref),
  refs: (repo, page) => listRefs(deps, repo, page),
  commits: (repo, query) => listCommits(deps, repo, query),
  commit: (repo, id) => readCommit(deps, repo, id),
  tree: (repo, query) => listTree(deps, repo, query),
  file: (repo, query) => readFile(deps, repo, query),
  diff: (repo, id, options) => diffOfCommit(deps, repo, { id, ...options }),
  compare: (repo, range) => compareRefs(deps, repo, range),
  archive: (repo, query) => openArchive(deps, repo, query),
  writeCommit: createWriteCommit(deps),
});
