import { locateRemote } from '#engines/git/locate';
import type { Git } from '#engines/git/port';
import type { Outgoing } from '#engines/outgoing/port';
import type { Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import { systemCtx } from '#kernel/ctx';
import { toBerthError } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import type { Log } from '#kernel/log';
import type { Events } from '#modules/events';
import type { RepoRow, RepoStore } from '#modules/repos';
import { createPolls, type Polls } from './poll.ts';
import type { Pushes } from './push.ts';

export interface MirrorsDeps {
  config: Pick<Config, 'maxRepoBytes' | 'mirrorPollSeconds'>;
  clock: Clock;
  log: Log;
  newId: NewId;
  git: Git;
  outgoing: Outgoing;
  store: RepoStore;
  events: Pick<Events, 'emit'>;
  pushes: Pick<Pushes, 'react'>;
}

/** Copies of repositories elsewhere, fetched when a webhook or a user asks, and now and then. What moved there is deployed. */
export const createMirrors = (deps: MirrorsDeps): Polls => {
  const { clock, log, store, git } = deps;

  const emit = (row: RepoRow, kind: 'repo.mirrored' | 'repo.mirror_failed', data: Record<string, unknown>): void =>
    deps.events.emit({ project: row.project, kind, actor: 'berth', data: { repo: row.name, ...data } });

  /** An empty repository takes over the default branch of the other side. */
  const followHead = async (row: RepoRow, branch: string | null): Promise<void> => {
    if (row.pushed_at !== null || branch === null || branch === row.default_branch) return;
    await git.setDefaultBranch(row.id, branch);
    store.update(row.id, { default_branch: branch });
  };

  const fetch = async (row: RepoRow, url: string, signal: AbortSignal): Promise<void> => {
    const { defaultBranch, ...source } = await locateRemote(deps.outgoing, {
      url,
      credential: row.mirror_credential,
      signal,
    });
    const maxBytes = Math.max(1, deps.config.maxRepoBytes - row.size_bytes);
    const updates = await git.mirror(row.id, { ...source, maxBytes, signal });
    await followHead(row, defaultBranch);
    const done = { mirrored_at: clock.now(), mirror_error: null };
    if (updates.length === 0) {
      store.update(row.id, done);
      return;
    }
    const { begun } = await deps.pushes.react(systemCtx(deps.newId('req')), row, { updates, options: [] });
    const operations = begun.flatMap(({ operation }) => (operation === null ? [] : [operation.operation_id]));
    store.update(row.id, done);
    emit(row, 'repo.mirrored', { refs: updates.length, operations });
  };

  const poll = async (id: string, signal: AbortSignal): Promise<boolean> => {
    const row = store.byId(id);
    if (row === undefined || row.mirror_of === null) return true;
    try {
      await fetch(row, row.mirror_of, signal);
      return true;
    } catch (thrown) {
      if (signal.aborted) return false;
      const error = toBerthError(thrown);
      store.update(id, { mirror_error: error.toBody() });
      // Said once, not at every attempt.
      if (row.mirror_error?.message !== error.message)
        emit(row, 'repo.mirror_failed', { code: error.kind, message: error.message });
      log.warn('cannot mirror a repository', { project: row.project, repo: row.name, reason: error.message });
      return false;
    }
  };

  return createPolls({
    clock,
    log,
    targets: () =>
      store
        .all()
        .filter((row) => row.mirror_of !== null)
        .map((row) => ({ id: row.id, last: row.mirrored_at ?? 0 })),
    poll,
    everyMs: deps.config.mirrorPollSeconds * 1000,
  });
};
