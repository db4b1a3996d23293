import { describe, expect, test } from 'bun:test';
import type { Clock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { createPolls, nextPoll } from '#repos/poll';

const MINUTE = 60_000;
const HOUR = 3_600_000;

describe('the next look at a mirror', () => {
  const pause = (failures: number, id = 'r1', last = 1_000_000): number => nextPoll({ id, last, failures }) - last;

  test('is at once for one that was never looked at', () => {
    expect(nextPoll({ id: 'r1', last: 0, failures: 0 })).toBe(0);
  });

  test('comes after five minutes, or what is set, and up to a fifth later', () => {
    const pauses = Array.from({ length: 200 }, (_each, index) => pause(0, `r${index}`));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(5 * MINUTE);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(6 * MINUTE);
    expect(new Set(pauses).size).toBeGreaterThan(190);
    expect(nextPoll({ id: 'r1', last: 1, failures: 0, everyMs: 1000 })).toBeLessThanOrEqual(1201);
  });

  test('doubles with each failure, to half a day', () => {
    for (const [failures, least] of [
      [1, 10 * MINUTE],
      [2, 20 * MINUTE],
      [5, 160 * MINUTE],
      [8, 12 * HOUR],
      [5000, 12 * HOUR],
    ] as const) {
      expect(pause(failures)).toBeGreaterThanOrEqual(least);
      expect(pause(failures)).toBeLessThanOrEqual(least * 1.2);
    }
    expect(nextPoll({ id: 'r1', last: 1, failures: 9, everyMs: 24 * HOUR })).toBeGreaterThan(24 * HOUR);
  });
});

/** Time that passes when the test says so. */
const handClock = () => {
  let now = 1_000_000_000;
  const sleepers = new Set<{ at: number; wake: () => void }>();
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        const sleeper = {
          at: now + ms,
          wake: () => {
            sleepers.delete(sleeper);
            resolve();
          },
        };
        sleepers.add(sleeper);
        if (signal?.aborted) sleeper.wake();
        else signal?.addEventListener('abort', sleeper.wake, { once: true });
      }),
  };
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  return {
    clock,
    settle,
    set: (to: number) => (now = to),
    /** Passes in small steps, as real time does. */
    pass: async (ms: number): Promise<void> => {
      const until = now + ms;
      while (now < until) {
        now = Math.min(until, now + 5000);
        for (const sleeper of sleepers) if (sleeper.at <= now) sleeper.wake();
        await settle();
      }
    },
  };
};

const polling = (ids: string[]) => {
  const time = handClock();
  const polled: string[] = [];
  const open = new Map<string, () => void>();
  const answers = new Map<string, boolean | 'throws' | 'hangs'>();
  const targets = new Map(ids.map((id) => [id, 0]));
  const polls = createPolls({
    clock: time.clock,
    log: createLog('error', () => undefined, time.clock.now),
    targets: () => [...targets].map(([id, last]) => ({ id, last })),
    poll: async (id, signal) => {
      polled.push(id);
      const answer = answers.get(id) ?? true;
      if (answer === 'throws') throw new Error('broken');
      if (answer !== 'hangs') return answer;
      await new Promise<void>((resolve) => {
        open.set(id, resolve);
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      return true;
    },
  });
  const stop = new AbortController();
  const ended = polls.run(stop.signal);
  const count = (id: string): number => polled.filter((each) => each === id).length;
  return { ...time, polls, polled, open, answers, targets, count, stop: () => stop.abort(), ended };
};

describe('the loop', () => {
  test('looks at all at the start, then at each every five to six minutes', async () => {
    const run = polling(['a', 'b']);
    await run.settle();
    expect(run.polled.sort()).toEqual(['a', 'b']);
    await run.pass(HOUR);
    for (const id of ['a', 'b']) {
      expect(run.count(id)).toBeGreaterThanOrEqual(10);
      expect(run.count(id)).toBeLessThanOrEqual(13);
    }
    run.stop();
    await run.ended;
  });

  test('does not look again at a start at what was looked at a moment ago', async () => {
    const run = polling([]);
    run.targets.set('a', run.clock.now() - MINUTE);
    await run.pass(3 * MINUTE);
    expect(run.count('a')).toBe(0);
    await run.pass(3 * MINUTE);
    expect(run.count('a')).toBe(1);
    run.stop();
    await run.ended;
  });

  test('looks at once when asked, however often once, and once more when it is under way', async () => {
    const run = polling(['a']);
    await run.settle();
    run.answers.set('a', 'hangs');
    for (let times = 0; times < 5; times += 1) run.polls.request('a');
    await run.settle();
    expect(run.count('a')).toBe(2);
    run.polls.request('a');
    run.polls.request('a');
    await run.settle();
    expect(run.count('a')).toBe(2);
    run.answers.set('a', true);
    run.open.get('a')?.();
    await run.settle();
    expect(run.count('a')).toBe(3);
    run.stop();
    await run.ended;
  });

  test('goes on with the others when one hangs or breaks', async () => {
    const run = polling([]);
    run.answers.set('hangs', 'hangs');
    run.answers.set('throws', 'throws');
    for (const id of ['hangs', 'throws', 'fine']) run.targets.set(id, 0);
    await run.pass(HOUR);
    expect(run.count('hangs')).toBe(1);
    expect(run.count('fine')).toBeGreaterThanOrEqual(10);
    expect(run.count('throws')).toBeLessThanOrEqual(4);
    run.polls.request('throws');
    await run.settle();
    expect(run.count('throws')).toBeGreaterThanOrEqual(4);
    run.stop();
    await run.ended;
  });

  test('has a few under way at a time', async () => {
    const run = polling([]);
    for (let index = 0; index < 10; index += 1) {
      run.answers.set(`h${index}`, 'hangs');
      run.targets.set(`h${index}`, 0);
    }
    await run.pass(MINUTE);
    expect(run.polled).toHaveLength(4);
    run.open.get('h0')?.();
    await run.settle();
    expect(run.polled).toHaveLength(5);
    run.stop();
    await run.ended;
  });

  test('backs off from failures, and returns after a success', async () => {
    const run = polling(['a']);
    run.answers.set('a', false);
    await run.pass(6 * HOUR);
    expect(run.count('a')).toBeLessThanOrEqual(8);
    run.answers.set('a', true);
    run.polls.request('a');
    await run.settle();
    const before = run.count('a');
    await run.pass(HOUR);
    expect(run.count('a') - before).toBeGreaterThanOrEqual(9);
    run.stop();
    await run.ended;
  });

  test('finds new ones, leaves deleted ones, and asks for none that is not there', async () => {
    const run = polling([]);
    run.polls.request('never');
    run.targets.set('a', 0);
    await run.pass(20_000);
    expect(run.polled).toEqual(['a']);
    run.targets.delete('a');
    await run.pass(HOUR);
    expect(run.polled).toEqual(['a']);
    run.stop();
    await run.ended;
  });

  test('survives a clock that is set back', async () => {
    const run = polling(['a']);
    await run.pass(10 * MINUTE);
    run.set(run.clock.now() - 24 * HOUR);
    run.targets.set('a', run.clock.now() + 23 * HOUR);
    const before = run.count('a');
    run.polls.request('never');
    await run.settle();
    await run.pass(HOUR);
    expect(run.count('a') - before).toBeGreaterThanOrEqual(9);
    run.stop();
    await run.ended;
  });

  test('ends when what is under way has ended', async () => {
    const run = polling(['a']);
    run.answers.set('a', 'hangs');
    await run.settle();
    run.stop();
    await run.ended;
    expect(run.polled).toEqual(['a']);
  });
});
