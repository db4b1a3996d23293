import type { Git } from '#engines/git/port';
import type { Clock } from '#kernel/clock';
import { messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { RepoStore } from '#modules/repos';

export interface RepoUpkeepDeps {
  clock: Clock;
  log: Log;
  git: Git;
  store: RepoStore;
}

const EVERY_MS = 3_600_000;
/** After a start, so that what matters more comes first. */
const FIRST_MS = 60_000;
/** Webhooks are told apart from repetitions for this long. */
const DELIVERIES_MS = 2 * 86_400_000;

/** Packs repositories and weighs them, one after the other, until the signal aborts. */
export const runRepoUpkeep = async (deps: RepoUpkeepDeps, signal: AbortSignal): Promise<void> => {
  const { clock, log, git, store } = deps;
  await clock.sleep(FIRST_MS, signal);
  while (!signal.aborted) {
    for (const row of store.all()) {
      if (signal.aborted) return;
      try {
        await git.maintain(row.id, signal);
        const size = await git.sizeBytes(row.id);
        if (size !== row.size_bytes) store.update(row.id, { size_bytes: size });
      } catch (error) {
        if (signal.aborted) return;
        log.warn('cannot maintain a repository', { project: row.project, repo: row.name, reason: messageOf(error) });
      }
    }
    store.forgetDeliveries(clock.now() - DELIVERIES_MS);
    await clock.sleep(EVERY_MS, signal);
  }
};
