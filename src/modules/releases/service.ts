import { isoTime } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import type { Page } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { Release } from './model.ts';
import type { ReleaseRow, ReleaseStore } from './store.ts';

/** The verbs on releases. */
export interface Releases {
  /** Newest first, at most `page.limit + 1`. */
  listReleases(ctx: Ctx, path: { project: string; service: string }, page: Page): Release[];
  /** The newest of a whole project. */
  recent(project: string, count: number): Release[];
}

export interface ReleasesDeps {
  store: ReleaseStore;
  /** NOT_FOUND for a missing project or service; says which release is live. */
  liveRelease: (project: string, service: string) => string | null;
}

export const createReleases = ({ store, liveRelease }: ReleasesDeps): Releases => {
  const view = (row: ReleaseRow): Release => releaseView(row, liveRelease(row.project, row.service));
  return {
    listReleases: (ctx, { project, service }, page) => {
      requireProject(ctx.actor, project);
      liveRelease(project, service);
      return store.list(project, service, page).map(view);
    },
    recent: (project, count) => store.recent(project, count).map(view),
  };
};

const releaseView = (row: ReleaseRow, live: string | null): Release => ({
  id: row.id,
  project: row.project,
  service: row.service,
  digest: row.digest,
  size_bytes: row.size_bytes,
  provider: row.provider,
  source_sha256: row.source_sha256,
  commit: row.commit_id,
  operation_id: row.operation_id,
  created_at: isoTime(row.created_at),
  created_by: row.created_by,
  live: row.id === live,
});
