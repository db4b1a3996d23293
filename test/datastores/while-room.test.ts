import { expect, test } from 'bun:test';
import { whileRoom } from '#datastores/while-room';
import { BerthError } from '#kernel/errors';
import { failureOf } from '#test/contracts/backups.ts';

const full = new BerthError('QUOTA_EXCEEDED', 'the disk has 1 GB left', { hint: 'free room' });
const NEVER = new AbortController().signal;

/** A clock on which every sleep passes at once, but lets others go on. */
const clock = {
  now: () => 0,
  monotonic: () => 0,
  sleep: (_ms: number, signal?: AbortSignal) => (signal?.aborted === true ? Promise.resolve() : Bun.sleep(1)),
};
/** Room at so many looks, and then none. */
const roomFor = (looks: number) => () => (looks-- > 0 ? Promise.resolve() : Promise.reject(full));

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('called off')));
  });

test('work on a disk that runs full is called off, and the disk is what is told', async () => {
  const work = whileRoom({ requireDisk: roomFor(3), clock }, NEVER, untilAborted);
  expect(await failureOf(work)).toBe(full);
});

test('work does not begin on a full disk', async () => {
  let begun = false;
  const work = whileRoom({ requireDisk: roomFor(0), clock }, NEVER, async () => {
    begun = true;
  });
  expect([await failureOf(work), begun]).toEqual([full, false]);
});

test('work that ends, fails or is called off is told as it was', async () => {
  const deps = { requireDisk: roomFor(Infinity), clock };
  expect(await whileRoom(deps, NEVER, () => Promise.resolve('done'))).toBe('done');
  const failure = new Error('of its own');
  expect(await whileRoom(deps, NEVER, () => Promise.reject(failure)).catch((thrown: unknown) => thrown)).toBe(failure);
  const calledOff = whileRoom(deps, AbortSignal.abort(), (signal) => Promise.reject(new Error(String(signal.aborted))));
  expect(await calledOff.catch(String)).toContain('true');
});
