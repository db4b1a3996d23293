import { isoTime } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { conflict, notFound } from '#kernel/errors';
import type { PlannedBuild } from '#kernel/planned-build';
import type { Page } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import { compareReleases } from './compare.ts';
import type { Comparison, Release } from './model.ts';
import type { ReleaseRow, ReleaseStore } from './store.ts';

/** The verbs on releases. */
export interface Releases {
  /** Newest first, at most `page.limit + 1`. */
  listReleases(ctx: Ctx, path: { project: string; service: string }, page: Page): Release[];
  /** What a release has that another one, the live one when none is named, has not, and the other way round. */
  compare(ctx: Ctx, path: ReleasePath, other: string | undefined): Comparison;
  /** The newest of a whole project. */
  recent(project: string, count: number): Release[];
}

export interface ReleasePath {
  project: string;
  service: string;
  release: string;
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
    compare: (ctx, { project, service, release }, other) => {
      requireProject(ctx.actor, project);
      const live = liveRelease(project, service);
      const require = (id: string): { row: ReleaseRow; view: Release } => {
        const row = store.get(project, service, id);
        if (row === undefined)
          throw notFound(
            `service "${service}" has no release "${id}"`,
            `list them with GET /v1/projects/${project}/services/${service}/releases`,
          );
        return { row, view: view(row) };
      };
      const from = other ?? live;
      const to = require(release);
      if (from === null)
        throw conflict(
          `service "${service}" has no live release to compare with`,
          'name another one with the parameter "with"',
        );
      return compareReleases(require(from), to);
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
  start_command: startOf(row),
  operation_id: row.operation_id,
  created_at: isoTime(row.created_at),
  created_by: row.created_by,
  live: row.id === live,
});

/** Of a release's build only this is shown with each of them; the rest is told by comparing. */
const startOf = ({ build }: ReleaseRow): string[] | null => {
  const { start = [] } = build === null ? {} : (JSON.parse(build) as Partial<PlannedBuild>);
  return start.length === 0 ? null : start;
};
