import type { Runtime } from '#engines/runtime/port';
import { isoTime } from '#kernel/clock';
import { messageOf } from '#kernel/errors';
import type { Operations } from '#modules/operations';
import { createCare, type CareDeps } from './care.ts';
import { createTend } from './tend.ts';
import { createWatch } from './watch.ts';

export interface UpkeepDeps extends CareDeps {
  runtime: Pick<Runtime, 'events'>;
  queue: Pick<Operations, 'openChanges'>;
  /** Prepares what new datastores begin with, while nothing else is to be done. */
  keepPrepared: (signal: AbortSignal, isIdle: () => boolean) => Promise<void>;
}

const EVERY_MS = 60_000;
/** Datastores that are looked after at once: one that reads its log for minutes after a crash holds no other one up. */
const AT_ONCE = 4;

/** What berth does for datastores unasked: heals, measures, backs up at night, and lets go of what is past its time. */
export interface Upkeep {
  /** Until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Looks at once: the engine was away. */
  hurry(): void;
}

export const createUpkeep = (deps: UpkeepDeps): Upkeep => {
  const { store, clock, log } = deps;
  const tend = createTend(deps);
  // Operations on a datastore are under way: it may be stopped on purpose.
  const isBusy: Parameters<typeof createCare>[0]['isBusy'] = ({ project, name }) =>
    deps.queue.openChanges(project, { datastore: name }).length > 0;
  const care = createCare({ ...deps, isBusy });

  const look = async (signal: AbortSignal): Promise<void> => {
    const ids = store.all().map(({ id }) => id);
    const one = async (): Promise<void> => {
      for (let id = ids.shift(); id !== undefined && !signal.aborted; id = ids.shift())
        await care.lookAfter(id, signal);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, one));
  };

  let pause = new AbortController();
  const hurry = (): void => {
    pause.abort();
    pause = new AbortController();
  };
  const repeat = async (work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const { signal: hurried } = pause;
      try {
        await work(signal);
      } catch (error) {
        log.warn('upkeep of datastores could not go on', { reason: messageOf(error) });
      }
      await clock.sleep(EVERY_MS, AbortSignal.any([signal, hurried]));
    }
  };
  const watch = createWatch({ ...deps, isBusy, onNeed: hurry });

  return {
    hurry,
    run: async (signal) => {
      log.debug('upkeep of datastores begins', { at: isoTime(clock.now()) });
      // Copies to a bucket may take hours, in which datastores are healed all the same.
      const prepared = deps.keepPrepared(signal, () => deps.operations.open().length === 0);
      await Promise.all([repeat(look, signal), repeat(tend, signal), watch(signal), prepared]);
    },
  };
};
