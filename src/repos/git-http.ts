import type { Config } from '#kernel/config';
import { BerthError } from '#kernel/errors';
import type { GitHttp, RepoRow, Repos } from '#modules/repos';
import type { Pushes } from './push.ts';

export interface GitHttpDeps {
  config: Pick<Config, 'maxPushBytes' | 'maxRepoBytes'>;
  repos: Pick<Repos, 'requireRepo'>;
  pushes: Pushes;
  requireActive: (project: string) => void;
}

/** What git over HTTP asks: which repository, whether it may be pushed to, and what a push brings about. */
export const createGitHttp = ({ config, repos, pushes, requireActive }: GitHttpDeps): GitHttp => ({
  resolve: (ctx, path) => repos.requireRepo(ctx, path).id,
  admitPush: (ctx, path) => {
    const row = repos.requireRepo(ctx, path);
    requireActive(path.project);
    if (row.mirror_of !== null) throw isMirror(row, row.mirror_of);
    const left = config.maxRepoBytes - row.size_bytes;
    if (left <= 0) throw full(row, config.maxRepoBytes);
    return { maxPushBytes: Math.min(config.maxPushBytes, left) };
  },
  sink: (ctx, path) => pushes.sink(ctx, repos.requireRepo(ctx, path)),
});

const isMirror = (row: RepoRow, url: string): BerthError =>
  new BerthError('CONFLICT', `repository "${row.name}" follows ${url} and takes no pushes`, {
    hint: 'push there; or end the mirror: PATCH the repository with {"mirror_of": null}',
    httpStatus: 403,
  });

const full = (row: RepoRow, limit: number): BerthError => {
  const mib = (bytes: number): number => Math.ceil(bytes / 1024 / 1024);
  return new BerthError(
    'QUOTA_EXCEEDED',
    `repository "${row.name}" has ${mib(row.size_bytes)} MiB of at most ${mib(limit)} MiB`,
    {
      hint: 'remove large files from its history, or raise max_repo_bytes in the server configuration',
      httpStatus: 403,
    },
  );
};
