import { createHash } from 'node:crypto';
import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';

/** Between two looks at an address that nothing is wrong with. */
const EVERY_MS = 300_000;
/** However often it failed, it is tried about twice a day. */
const LONGEST_MS = 12 * 3_600_000;
/** Share of the pause by which it varies, so that mirrors which began together do not stay together. */
const JITTER = 0.2;

export interface PollState {
  id: string;
  /** When it was last tried, in milliseconds since the epoch; 0 for never. */
  last: number;
  /** In a row. */
  failures: number;
  everyMs?: number;
}

/** When to look next: doubled for each failure in a row, and a little later for some than for others. */
export const nextPoll = ({ id, last, failures, everyMs = EVERY_MS }: PollState): number => {
  if (last === 0) return 0;
  const pause = Math.min(everyMs * 2 ** failures, Math.max(everyMs, LONGEST_MS));
  const varied = createHash('sha256').update(`${id} ${last}`).digest().readUInt32BE() / 2 ** 32;
  return last + Math.round(pause * (1 + JITTER * varied));
};

export interface PollsDeps {
  clock: Clock;
  log: Log;
  /** All that is polled, with the time of the last success; 0 for never. */
  targets: () => { id: string; last: number }[];
  /** Says whether it succeeded; what went wrong is noted by whoever does it. */
  poll: (id: string, signal: AbortSignal) => Promise<boolean>;
  everyMs?: number;
}

export interface Polls {
  /** Asks for one to be polled soon: once, however often it is asked; once more when it is under way. */
  request(id: string): void;
  /** Polls what is asked for and what is due until the signal aborts; resolves when nothing is under way any more. */
  run(signal: AbortSignal): Promise<void>;
}

/** At a time. One that hangs holds up no other as long as there is a lane. */
const LANES = 4;
/** New targets are found within this. */
const LOOK_MS = 15_000;

export const createPolls = (deps: PollsDeps): Polls => {
  const { clock, log, everyMs = EVERY_MS } = deps;
  const wanted = new Set<string>();
  const running = new Map<string, Promise<void>>();
  /** Of the attempts since the start. */
  const history = new Map<string, { tried: number; failures: number }>();
  let wake = new AbortController();

  const attempt = async (id: string, signal: AbortSignal): Promise<void> => {
    const failures = history.get(id)?.failures ?? 0;
    history.set(id, { tried: clock.now(), failures });
    const succeeded = await tried(id, signal);
    history.set(id, { tried: clock.now(), failures: succeeded ? 0 : failures + 1 });
  };
  const tried = async (id: string, signal: AbortSignal): Promise<boolean> => {
    try {
      return await deps.poll(id, signal);
    } catch (thrown) {
      if (!signal.aborted) log.error('a poll broke off', thrown, { id });
      return false;
    }
  };
  const start = (id: string, signal: AbortSignal): void => {
    wanted.delete(id);
    const under = attempt(id, signal).finally(() => {
      running.delete(id);
      wake.abort();
    });
    running.set(id, under);
  };
  const dueAt = ({ id, last }: { id: string; last: number }, now: number): number => {
    const past = history.get(id);
    // A clock that was set back must not make a mirror wait for the time it had.
    const latest = Math.max(0, ...[last, past?.tried ?? 0].filter((at) => at <= now));
    return nextPoll({ id, last: latest, failures: past?.failures ?? 0, everyMs });
  };
  /** Starts what there are lanes for, and says until when nothing else is due. */
  const turn = (signal: AbortSignal): number => {
    const now = clock.now();
    const targets = deps.targets();
    const known = new Set(targets.map(({ id }) => id));
    for (const id of [...history.keys(), ...wanted]) if (!known.has(id) && !running.has(id)) forget(id);
    const plan = targets
      .map((target) => ({ id: target.id, at: wanted.has(target.id) ? 0 : dueAt(target, now) }))
      .filter(({ id }) => !running.has(id))
      .sort((left, right) => left.at - right.at);
    for (const { id, at } of plan) if (at <= now && running.size < LANES) start(id, signal);
    const next = plan.find(({ at }) => at > now)?.at ?? Infinity;
    return Math.max(1, Math.min(LOOK_MS, next - now));
  };
  const forget = (id: string): void => {
    history.delete(id);
    wanted.delete(id);
  };

  return {
    request: (id) => {
      wanted.add(id);
      wake.abort();
    },
    run: async (signal) => {
      while (!signal.aborted) {
        wake = new AbortController();
        await clock.sleep(turn(signal), AbortSignal.any([signal, wake.signal]));
      }
      await Promise.all(running.values());
    },
  };
};
