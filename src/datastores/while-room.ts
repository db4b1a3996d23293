import { toBerthError, type BerthError } from '#kernel/errors';
import type { DatastoreDeps } from './deps.ts';

/** A disk that is written to at full speed loses its last 2 GB in no less than this. */
const LOOK_MS = 3000;

/**
 * Runs `work` while the disks have room: its signal aborts when they have not any more, and it then fails with what
 * `requireDisk` said. Does not begin when they have none.
 */
export const whileRoom = async <T>(
  { requireDisk, clock }: Pick<DatastoreDeps, 'requireDisk' | 'clock'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  await requireDisk();
  const [full, done] = [new AbortController(), new AbortController()];
  let said: BerthError | undefined;
  const watch = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(LOOK_MS, done.signal);
      if (done.signal.aborted) return;
      try {
        await requireDisk();
      } catch (thrown) {
        said = toBerthError(thrown);
        full.abort(said);
        return;
      }
    }
  };
  const watching = watch();
  try {
    return await work(AbortSignal.any([signal, full.signal]));
  } catch (thrown) {
    throw said ?? thrown;
  } finally {
    done.abort();
    await watching;
  }
};
