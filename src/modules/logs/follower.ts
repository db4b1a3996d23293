import type { Runtime, RuntimeLogLine } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import { BerthError, messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';

export interface FollowerDeps {
  runtime: Pick<Runtime, 'logs' | 'inspect'>;
  clock: Clock;
  log: Log;
  containerId: string;
  /** Timestamp of the last line that was taken. */
  cursor: () => string | undefined;
  take: (line: RuntimeLogLine) => void;
}

/** Follows one container's log from the cursor on, over its restarts and the engine's, until it is gone. */
export interface Follower {
  /** Resolves when the container is gone, or the follower was ended. */
  readonly done: Promise<'gone' | 'ended'>;
  /** Stops following, after having taken what the engine still holds; bounded. */
  drain(): Promise<void>;
  /** Stops at once; what is left is taken when berth follows it again. */
  stop(): Promise<void>;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** A container that has ended closes its log by itself; one that runs on is not waited for longer. */
const CLOSE_GRACE_MS = 250;
const DRAIN_LIMIT_MS = 2000;

export const startFollower = (deps: FollowerDeps): Follower => {
  const { runtime, clock, containerId } = deps;
  const ending = new AbortController();
  const aborted = new AbortController();
  let pause = FIRST_PAUSE_MS;
  let away = false;

  const read = async (follow: boolean, signal: AbortSignal): Promise<void> => {
    const since = deps.cursor();
    const options = { follow, signal, ...(since === undefined ? {} : { since }) };
    for await (const line of runtime.logs(containerId, options)) {
      if (signal.aborted) return;
      deps.take(line);
      pause = FIRST_PAUSE_MS;
    }
  };
  /** False when the container is gone. */
  const readOnce = async (): Promise<boolean> => {
    try {
      await read(true, aborted.signal);
      const there = aborted.signal.aborted || (await runtime.inspect(containerId)) !== undefined;
      away = false;
      return there;
    } catch (error) {
      if (aborted.signal.aborted) return true;
      if (error instanceof BerthError && error.kind === 'NOT_FOUND') return false;
      if (!away)
        deps.log.warn('cannot follow the log of a container; trying again', {
          container: containerId,
          reason: messageOf(error),
        });
      away = true;
      return true;
    }
  };
  const run = async (): Promise<'gone' | 'ended'> => {
    while (!ending.signal.aborted) {
      if (!(await readOnce())) return 'gone';
      await clock.sleep(pause, ending.signal);
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
    }
    return 'ended';
  };
  const done = run();

  const stop = async (): Promise<void> => {
    ending.abort();
    aborted.abort();
    await done;
  };
  return {
    done,
    stop,
    drain: async () => {
      ending.abort();
      await Promise.race([done, clock.sleep(CLOSE_GRACE_MS)]);
      await stop();
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), DRAIN_LIMIT_MS);
      try {
        await read(false, limit.signal);
      } catch (error) {
        const gone = error instanceof BerthError && error.kind === 'NOT_FOUND';
        if (!gone)
          deps.log.warn('the end of a container’s log was not read', {
            container: containerId,
            reason: messageOf(error),
          });
      } finally {
        clearTimeout(timer);
      }
    },
  };
};
