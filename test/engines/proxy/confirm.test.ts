import { expect, test } from 'bun:test';
import { ApiUnreachable } from '#engines/proxy/api';
import { type Confirmation, confirmLive, PATIENCE } from '#engines/proxy/confirm';
import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';

const UNREACHABLE = Symbol('unreachable');
type Answer = string | null | typeof UNREACHABLE;

/** Runs a confirmation whose probe answers by the time that has passed, on a clock that jumps. */
const run = async (answerAt: (ms: number) => Answer): Promise<{ at: number; nudges: number[]; error: unknown }> => {
  let now = 0;
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: async (ms) => {
      now += ms;
    },
  };
  const nudges: number[] = [];
  const confirmation: Confirmation = {
    clock,
    patience: PATIENCE,
    subject: 'the route shop.web',
    probe: async () => {
      const answer = answerAt(now);
      if (answer === UNREACHABLE) throw new ApiUnreachable('refused');
      return answer;
    },
    nudge: async () => {
      nudges.push(now);
    },
    obstacle: async () => '; a stranger is there',
  };
  const error: unknown = await confirmLive(confirmation).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { at: now, nudges, error };
};

test('a route that is live at once is confirmed without a pause', async () => {
  expect(await run(() => null)).toEqual({ at: 0, nudges: [], error: undefined });
});

test('a route that comes after 50 ms is confirmed within 5 ms of that', async () => {
  const { at, nudges, error } = await run((ms) => (ms < 50 ? 'old' : null));
  expect(error).toBeUndefined();
  expect(at).toBeLessThanOrEqual(55);
  expect(nudges).toEqual([]);
});

test('when nothing happens for 2 s the change is announced again, and that is enough', async () => {
  const announced: number[] = [];
  const { nudges, error } = await run((ms) => {
    if (ms > 2_200) announced.push(ms);
    return announced.length > 0 ? null : 'old';
  });
  expect(error).toBeUndefined();
  expect(nudges).toHaveLength(1);
  expect(nudges[0]).toBeWithin(2_000, 2_201);
});

test('after 10 s it is a retryable error with the reason and what may be in the way', async () => {
  const { at, error } = await run(() => 'its upstreams are the old ones');
  expect(at).toBeWithin(10_000, 10_201);
  expect(error).toBeInstanceOf(BerthError);
  expect(error).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  expect(String(error)).toContain('its upstreams are the old ones; a stranger is there');
});

test('a proxy that does not answer for 3 s does not run', async () => {
  const { at, error } = await run(() => UNREACHABLE);
  expect(at).toBeWithin(3_000, 3_201);
  expect(error).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
  expect(String(error)).toContain('does not run');
});

test('a restart of the proxy in between is waited for', async () => {
  const { error } = await run((ms) => {
    if (ms > 500 && ms < 2_500) return UNREACHABLE;
    return ms < 4_000 ? 'old' : null;
  });
  expect(error).toBeUndefined();
});

test('a fault of our own is not taken for a stopped proxy', async () => {
  const { at, error } = await run(() => {
    throw new TypeError('ours');
  });
  expect(at).toBe(0);
  expect(error).toBeInstanceOf(TypeError);
});
