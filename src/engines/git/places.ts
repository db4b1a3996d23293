import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { notFound } from '#kernel/errors';
import type { RepoId } from './port.ts';

/** Where repositories are on disk. */
export interface Places {
  /** The directory of all repositories. */
  readonly dir: string;
  /** The path that a repository has or would have; NOT_FOUND for what cannot be an id. */
  of(repo: RepoId): string;
  /** The path of a repository that exists; NOT_FOUND else. */
  existing(repo: RepoId): string;
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;

export const createPlaces = (dir: string): Places => {
  const of = (repo: RepoId): string => {
    if (!ID.test(repo)) throw noRepo();
    return join(dir, `${repo}.git`);
  };
  return {
    dir,
    of,
    existing: (repo) => {
      const path = of(repo);
      if (!existsSync(join(path, 'HEAD'))) throw noRepo();
      return path;
    },
  };
};

const noRepo = () => notFound('no such git repository', 'list the repositories of the project');
