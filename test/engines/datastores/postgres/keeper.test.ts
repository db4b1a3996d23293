import { expect, test } from 'bun:test';
import { createKeeper } from '#engines/datastores/postgres/keeper';
import { quiet } from '#test/engines/runtime/support.ts';

/** A clock on which every sleep passes at once, and is written down; at the last one the keeper is told to stop. */
const clockUntil = (sleeps: number) => {
  const stop = new AbortController();
  const slept: number[] = [];
  return {
    signal: stop.signal,
    slept,
    clock: {
      now: () => 0,
      monotonic: () => 0,
      sleep: (ms: number) => {
        slept.push(ms);
        if (slept.length === sleeps) stop.abort();
        return Promise.resolve();
      },
    },
  };
};

const keeperOn = (clock: ReturnType<typeof clockUntil>, prepare: (version: string) => Promise<void>) =>
  createKeeper({ clock: clock.clock, log: quiet, templates: { prepare }, versions: ['17', '16'] });

test('every version is prepared, one after the other, some time after the start', async () => {
  const clock = clockUntil(4);
  const prepared: string[] = [];
  const prepare = (version: string): Promise<void> => {
    prepared.push(`${version} after ${clock.slept.length}`);
    return Promise.resolve();
  };
  await keeperOn(clock, prepare).run(clock.signal, () => true);
  expect(prepared).toEqual(['17 after 1', '16 after 1', '17 after 3', '16 after 3']);
});

test('nothing is prepared while operations run', async () => {
  const clock = clockUntil(5);
  const prepared: number[] = [];
  await keeperOn(clock, () => Promise.resolve(void prepared.push(clock.slept.length))).run(
    clock.signal,
    () => clock.slept.length > 3,
  );
  expect(prepared[0]).toBe(4);
});

test('what fails is tried again ever more rarely, and then as before', async () => {
  const clock = clockUntil(10);
  let left = 3;
  const prepare = (): Promise<void> => (left-- > 0 ? Promise.reject(new Error('disk full')) : Promise.resolve());
  await keeperOn(clock, prepare).run(clock.signal, () => true);
  expect(clock.slept.filter((ms) => ms >= 60_000)).toEqual([120_000, 240_000, 480_000, 60_000, 60_000]);
});
