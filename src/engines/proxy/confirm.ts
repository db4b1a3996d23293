import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import { ApiUnreachable } from './api.ts';

export interface Patience {
  /** How long to wait for the change to be live. */
  deadlineMs: number;
  /** How long nothing may answer at the API before the proxy counts as stopped; a restart fits in. */
  unreachableMs: number;
  /** After how long without effect the change is announced once more, in case its file event was lost. */
  nudgeMs: number;
}

export const PATIENCE: Patience = { deadlineMs: 10_000, unreachableMs: 3_000, nudgeMs: 2_000 };

const SHORTEST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 200;

export interface Confirmation {
  clock: Clock;
  patience: Patience;
  /** What the change is about, for messages: `the route of shop/web`. */
  subject: string;
  /** Why the change is not live yet; null when it is. */
  probe(): Promise<string | null>;
  /** Makes the proxy look again. */
  nudge(): Promise<void>;
  /** What may keep the proxy from taking the change over, for the message; empty when nothing is known. */
  obstacle(): Promise<string>;
}

/** Polls until the proxy reports the change as live. */
export const confirmLive = async (confirmation: Confirmation): Promise<void> => {
  const { clock, patience } = confirmation;
  const start = clock.monotonic();
  let lastAnswer = start;
  let nudgeAt = start + patience.nudgeMs;
  for (;;) {
    const outcome = await attempt(confirmation);
    const now = clock.monotonic();
    if (outcome.state === 'live') return;
    if (outcome.state === 'pending') lastAnswer = now;
    if (now - lastAnswer >= patience.unreachableMs) throw notRunning(confirmation.subject, outcome.cause);
    if (now - start >= patience.deadlineMs) {
      throw notConfirmed(confirmation, outcome.reason + (await confirmation.obstacle()));
    }
    if (now >= nudgeAt) {
      nudgeAt = now + patience.nudgeMs;
      await confirmation.nudge();
    }
    await clock.sleep(pauseAfter(now - start));
  }
};

/** A tenth of the wait so far, so that polling never lengthens it by much more than that. */
const pauseAfter = (waited: number): number => Math.min(Math.max(waited / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);

interface Outcome {
  state: 'live' | 'pending' | 'unreachable';
  reason: string;
  cause?: unknown;
}

const attempt = async (confirmation: Confirmation): Promise<Outcome> => {
  try {
    const reason = await confirmation.probe();
    return reason === null ? { state: 'live', reason: '' } : { state: 'pending', reason };
  } catch (error) {
    if (!(error instanceof ApiUnreachable)) throw error;
    return { state: 'unreachable', reason: error.message, cause: error };
  }
};

const notRunning = (subject: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `the reverse proxy does not run or hangs, so ${subject} could not be made live`, {
    hint: 'start the reverse proxy (berth does so when it starts; see: berth doctor), then retry',
    retryable: true,
    cause,
  });

const notConfirmed = ({ subject, patience }: Confirmation, reason: string): BerthError =>
  new BerthError(
    'INTERNAL_ERROR',
    `the reverse proxy did not take over ${subject} within ${patience.deadlineMs / 1000} s: ${reason}`,
    { hint: 'retry; if it persists, look at the log of the reverse proxy (see: berth doctor)', retryable: true },
  );
