import type { Connection } from '#engines/docker/connection';
import type { Clock } from '#kernel/clock';
import { ask } from '#engines/docker/calls';

const PING_EVERY_MS = 10_000;
const PING_DEADLINE_MS = 10_000;
/** A busy engine may miss one. */
const MISSES_ALLOWED = 1;

/** A build may be silent for minutes: so ask beside it. Never resolves; rejects when the engine stops answering. */
export const watchEngine = async ({ call }: Connection, clock: Clock, ended: AbortSignal): Promise<never> => {
  let missed = 0;
  for (;;) {
    await clock.sleep(PING_EVERY_MS, ended);
    if (ended.aborted) return new Promise<never>(() => undefined);
    try {
      await call(
        'answer during a build',
        (docker, signal) => ask(docker, { method: 'GET', path: '/_ping', query: {}, signal }),
        {
          deadlineMs: PING_DEADLINE_MS,
        },
      );
      missed = 0;
    } catch (thrown) {
      missed += 1;
      if (missed > MISSES_ALLOWED) throw thrown;
    }
  }
};
