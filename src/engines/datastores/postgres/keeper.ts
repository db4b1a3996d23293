import { messageOf } from '#kernel/errors';
import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import type { Templates } from './template.ts';

export interface KeeperDeps {
  clock: Clock;
  log: Log;
  templates: Pick<Templates, 'prepare'>;
  versions: readonly string[];
}

/** Has a prepared data directory ready for each image of Postgres that is there, made while nothing else is to be done. */
export interface Keeper {
  /** Until the signal aborts; one at a time, and only while `isIdle`. */
  run(signal: AbortSignal, isIdle: () => boolean): Promise<void>;
  /** One was missed: looks soon. */
  hurry(): void;
}

/** The start of berth, and of what a new datastore restarts, comes first. */
const FIRST_PAUSE_MS = 3000;
const BUSY_PAUSE_MS = 2000;
const EVERY_MS = 60_000;
/** After a failure, twice as long each time. */
const LONGEST_PAUSE_MS = 3_600_000;

export const createKeeper = ({ clock, log, templates, versions }: KeeperDeps): Keeper => {
  let pause = new AbortController();
  const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
    clock.sleep(ms, AbortSignal.any([signal, pause.signal]));

  /** Resolves with whether all went well. */
  const round = async (signal: AbortSignal): Promise<boolean> => {
    try {
      for (const version of versions) await templates.prepare(version, signal);
      return true;
    } catch (thrown) {
      if (!signal.aborted) log.warn('cannot prepare a data directory of Postgres', { reason: messageOf(thrown) });
      return false;
    }
  };

  return {
    hurry: () => {
      pause.abort();
      pause = new AbortController();
    },
    run: async (signal, isIdle) => {
      let between = EVERY_MS;
      await clock.sleep(FIRST_PAUSE_MS, signal);
      while (!signal.aborted) {
        if (!isIdle()) {
          await clock.sleep(BUSY_PAUSE_MS, signal);
          continue;
        }
        between = (await round(signal)) ? EVERY_MS : Math.min(between * 2, LONGEST_PAUSE_MS);
        await sleep(between, signal);
        if (!signal.aborted) await clock.sleep(BUSY_PAUSE_MS, signal);
      }
    },
  };
};
