import type { Database } from 'bun:sqlite';
import { randomBytes } from 'node:crypto';
import type { Git } from '#engines/git/port';
import { isoTime, type Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import type { Ctx } from '#kernel/ctx';
import { BerthError, conflict, invalidInput, notFound } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import { dryRun, type DryRun, type Page } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { EventKind, Events } from '#modules/events';
import type { CreatedRepo, CreateRepo, Repo, UpdatedRepo, UpdateRepo } from './model.ts';
import type { RepoRow, RepoStore } from './store.ts';

export interface RepoPath {
  project: string;
  repo: string;
}

/** The verbs on repositories themselves; those on what is in them are in content.ts. */
export interface Repos {
  /** At most `page.limit + 1` in the order of their names. `origin`: where the caller reached the API. */
  listRepos(ctx: Ctx, project: string, page: Page, origin: string): Repo[];
  getRepo(ctx: Ctx, path: RepoPath, origin: string): Repo;
  createRepo(ctx: Ctx, project: string, body: CreateRepo, origin: string): Promise<CreatedRepo | DryRun>;
  updateRepo(ctx: Ctx, path: RepoPath, body: UpdateRepo, origin: string): Promise<UpdatedRepo | DryRun>;
  deleteRepo(ctx: Ctx, path: RepoPath): Promise<{ deleted: true } | DryRun>;
  /** NOT_FOUND for a missing repository, and for one out of scope alike. */
  requireRepo(ctx: Ctx, path: RepoPath): RepoRow;
  /** Deletes all of a project from the disk. */
  removeProject(project: string): Promise<void>;
}

export interface ReposDeps {
  db: Database;
  config: Config;
  clock: Clock;
  newId: NewId;
  store: RepoStore;
  git: Git;
  events: Pick<Events, 'emit'>;
  /** Rejects addresses that berth must not reach, before anything is stored. */
  checkMirror: (url: string) => void;
  /** Told when a mirror was made or pointed elsewhere. */
  onMirror: (id: string) => void;
  requireActive: (project: string) => void;
  requireExists: (project: string) => void;
}

export const DEFAULT_BRANCH = 'main';

export const createRepos = (deps: ReposDeps): Repos => {
  const { db, store, git, clock } = deps;

  const requireRow = ({ project, repo }: RepoPath): RepoRow => {
    const row = store.get(project, repo);
    if (row === undefined) throw repoNotFound({ project, repo });
    return row;
  };
  const emit = (ctx: Ctx, project: string, kind: EventKind, data: Record<string, unknown>): void =>
    deps.events.emit({ project, kind, actor: ctx.actor.principal, data });

  const insert = async (ctx: Ctx, row: RepoRow): Promise<void> => {
    await git.create(row.id, row.default_branch);
    try {
      db.transaction(() => {
        store.insert(row);
        emit(ctx, row.project, 'repo.created', { repo: row.name, deploy_service: row.deploy_service });
      }).immediate();
    } catch (error) {
      await git.remove(row.id);
      throw error;
    }
  };

  const existing = (ctx: Ctx, row: RepoRow, origin: string): CreatedRepo | DryRun =>
    ctx.dryRun
      ? dryRun(`repository ${row.name} exists already: nothing to do`, [])
      : { ...repoView(row, origin), created: false, webhook_secret: null };

  return {
    listRepos: (ctx, project, page, origin) => {
      requireProject(ctx.actor, project);
      deps.requireExists(project);
      return store.list(project, page).map((row) => repoView(row, origin));
    },
    getRepo: (ctx, path, origin) => {
      requireProject(ctx.actor, path.project);
      deps.requireExists(path.project);
      return repoView(requireRow(path), origin);
    },
    createRepo: async (ctx, project, body, origin) => {
      requireProject(ctx.actor, project);
      deps.requireActive(project);
      const there = store.get(project, body.name);
      if (there !== undefined) return existing(ctx, there, origin);
      requireRoom(deps, project);
      if (body.mirror_of !== undefined) deps.checkMirror(body.mirror_of);
      else requireNoMirrorSettings(body);
      if (ctx.dryRun) {
        return dryRun(`create repository ${body.name}`, [
          { action: 'create', resource: 'repo', name: body.name, deploy_service: body.deploy_service ?? null },
        ]);
      }
      const row = newRow(deps, ctx, project, body);
      await insert(ctx, row);
      if (row.mirror_of !== null) deps.onMirror(row.id);
      return { ...repoView(row, origin), created: true, webhook_secret: row.webhook_secret };
    },
    updateRepo: async (ctx, path, body, origin) => {
      requireProject(ctx.actor, path.project);
      deps.requireActive(path.project);
      const row = requireRow(path);
      if (body.name !== undefined && body.name !== row.name && store.get(path.project, body.name) !== undefined)
        throw conflict(`a repository named "${body.name}" exists`, 'choose another name');
      if (typeof body.mirror_of === 'string') deps.checkMirror(body.mirror_of);
      const changes = Object.keys(body);
      if (ctx.dryRun) {
        return dryRun(`change ${changes.join(', ')} of repository ${row.name}`, [
          { action: 'update', resource: 'repo', name: row.name, changes },
        ]);
      }
      if (body.default_branch !== undefined) await git.setDefaultBranch(row.id, body.default_branch);
      const secret = needsSecret(row, body) ? newSecret() : null;
      const made = secret === null ? {} : { webhook_secret: secret };
      const next: RepoRow = { ...row, ...body, ...made, updated_at: clock.now() };
      db.transaction(() => {
        store.update(row.id, next);
        emit(ctx, row.project, 'repo.updated', { repo: next.name, changes });
      }).immediate();
      if (body.mirror_of !== undefined && next.mirror_of !== null) deps.onMirror(row.id);
      return { ...repoView(next, origin), webhook_secret: secret };
    },
    deleteRepo: async (ctx, path) => {
      requireProject(ctx.actor, path.project);
      deps.requireActive(path.project);
      const row = requireRow(path);
      if (ctx.dryRun) {
        return dryRun(`delete repository ${row.name} with all its history`, [
          { action: 'delete', resource: 'repo', name: row.name, size_bytes: row.size_bytes },
        ]);
      }
      // The row last: after a crash between both it is still listed, and can be deleted again.
      await git.remove(row.id);
      db.transaction(() => {
        store.remove(row.id);
        emit(ctx, row.project, 'repo.deleted', { repo: row.name });
      }).immediate();
      return { deleted: true };
    },
    requireRepo: (ctx, path) => {
      requireProject(ctx.actor, path.project);
      deps.requireExists(path.project);
      return requireRow(path);
    },
    removeProject: async (project) => {
      for (const row of store.list(project)) {
        await git.remove(row.id);
        store.remove(row.id);
      }
    },
  };
};

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : isoTime(ms));

/** A repository as callers see it. */
export const repoView = (row: RepoRow, origin: string): Repo => ({
  project: row.project,
  name: row.name,
  clone_url: `${origin}/git/${row.project}/${row.name}.git`,
  default_branch: row.default_branch,
  deploy_service: row.deploy_service,
  deploy_branch: row.deploy_branch,
  root: row.root,
  preview: row.preview,
  mirror_of: row.mirror_of,
  webhook_url: row.mirror_of === null ? null : `${origin}/hooks/${row.id}`,
  mirrored_at: isoOrNull(row.mirrored_at),
  mirror_error: row.mirror_error,
  empty: row.pushed_at === null,
  size_bytes: row.size_bytes,
  pushed_at: isoOrNull(row.pushed_at),
  created_at: isoTime(row.created_at),
  created_by: row.created_by,
  updated_at: isoTime(row.updated_at),
});

const repoNotFound = ({ project, repo }: RepoPath): BerthError =>
  notFound(`no repository named "${repo}" in project "${project}"`, `list them with GET /v1/projects/${project}/repos`);

const requireRoom = ({ config, store }: ReposDeps, project: string): void => {
  const count = store.count(project);
  if (count < config.quotaRepos) return;
  throw new BerthError(
    'QUOTA_EXCEEDED',
    `project "${project}" has ${count} of at most ${config.quotaRepos} repositories`,
    {
      hint: 'delete a repository, or raise quota_repos in the server configuration',
    },
  );
};

const requireNoMirrorSettings = (body: CreateRepo): void => {
  const given = (['mirror_credential', 'webhook_secret'] as const).filter((key) => body[key] !== undefined);
  if (given.length === 0) return;
  throw invalidInput(`body.${given.join(', body.')} belongs to a mirror`, 'give mirror_of too, or leave it out');
};

/** Whether a repository begins to follow another one without a secret that its webhooks could be signed with. */
const needsSecret = (row: RepoRow, body: UpdateRepo): boolean =>
  typeof body.mirror_of === 'string' && row.webhook_secret === null && body.webhook_secret === undefined;

const newSecret = (): string => randomBytes(24).toString('hex');

const newRow = ({ newId, clock }: ReposDeps, ctx: Ctx, project: string, body: CreateRepo): RepoRow => ({
  id: newId('repo'),
  project,
  name: body.name,
  default_branch: body.default_branch ?? DEFAULT_BRANCH,
  deploy_service: body.deploy_service ?? null,
  deploy_branch: body.deploy_branch ?? null,
  root: body.root ?? null,
  preview: body.preview ?? false,
  mirror_of: body.mirror_of ?? null,
  mirror_credential: body.mirror_credential ?? null,
  webhook_secret: body.mirror_of === undefined ? null : (body.webhook_secret ?? newSecret()),
  mirrored_at: null,
  mirror_error: null,
  size_bytes: 0,
  settled_head: null,
  pushed_at: null,
  created_at: clock.now(),
  created_by: ctx.actor.principal,
  updated_at: clock.now(),
});
