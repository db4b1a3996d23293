import { expect, test } from 'bun:test';
import { givenAway, lent, release } from '#kernel/release';

const whole = (byte: number): Uint8Array => new Uint8Array(new ArrayBuffer(8)).fill(byte);

async function* of(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

test('a chunk that was given away is empty once it is released', () => {
  const chunk = givenAway(whole(1));
  release(chunk);
  expect(chunk.byteLength).toBe(0);
  release(chunk);
});

test('a chunk of whoever keeps it, and a view of it, stay as they are', () => {
  const kept = whole(1);
  release(kept);
  expect(kept).toEqual(whole(1));
  const given = givenAway(whole(2));
  release(given.subarray(0, 4));
  expect(given).toEqual(whole(2));
});

test('a part of a pool stays, also when it was given away', () => {
  const pool = whole(3);
  const part = givenAway(pool.subarray(0, 4));
  release(part);
  expect(pool).toEqual(whole(3));
});

test('what is lent is there until the next is asked for', async () => {
  const [first, second] = [whole(1), whole(2)];
  const chunks = lent(of(first, second));
  expect((await chunks.next()).value).toEqual(whole(1));
  expect((await chunks.next()).value).toEqual(whole(2));
  expect(first.byteLength).toBe(0);
  expect((await chunks.next()).done).toBe(true);
  expect(second.byteLength).toBe(0);
});
