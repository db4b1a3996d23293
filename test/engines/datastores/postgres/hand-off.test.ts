import { describe, expect, test } from 'bun:test';
import { createHandOff } from '#engines/datastores/postgres/hand-off';
import { failureOf } from './bytes.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const nothing = (): Promise<void> => Promise.resolve();

const isPending = async (promise: Promise<unknown>): Promise<boolean> => {
  const later = Symbol('later');
  return (await Promise.race([promise, Promise.resolve(later)])) === later;
};

describe('a hand-off', () => {
  test('holds one chunk: the next one is let in when its reader is done with that', async () => {
    const handOff = createHandOff(nothing);
    const iterator = handOff.bytes[Symbol.asyncIterator]();
    const put = handOff.put(bytes(1));
    expect((await iterator.next()).value).toEqual(bytes(1));
    expect(await isPending(put)).toBe(true);
    const second = iterator.next();
    await put;
    const later = handOff.put(bytes(2));
    expect((await second).value).toEqual(bytes(2));
    expect(await isPending(later)).toBe(true);
    const end = iterator.next();
    await later;
    handOff.end();
    expect((await end).done).toBe(true);
  });

  test('gives the chunk that is waiting before the end', async () => {
    const handOff = createHandOff(nothing);
    void handOff.put(bytes(1));
    handOff.end();
    const seen: Uint8Array[] = [];
    for await (const chunk of handOff.bytes) seen.push(chunk);
    expect(seen).toEqual([bytes(1)]);
  });

  test('tells a reader that waits of a failure, once, and lets go of who puts', async () => {
    const handOff = createHandOff(nothing);
    const iterator = handOff.bytes[Symbol.asyncIterator]();
    const next = iterator.next();
    handOff.end(new Error('broken'));
    expect((await failureOf(next)).message).toContain('broken');
    expect((await iterator.next()).done).toBe(true);
    await handOff.put(bytes(2));
  });

  test('drops what was offered when it fails', async () => {
    const handOff = createHandOff(nothing);
    const put = handOff.put(bytes(1));
    handOff.end(new Error('broken'));
    await put;
    expect((await failureOf(handOff.bytes[Symbol.asyncIterator]().next())).message).toContain('broken');
  });

  test('calls off the work when its reader leaves, even before it read anything', async () => {
    let left = false;
    const handOff = createHandOff(async () => {
      left = true;
    });
    const put = handOff.put(bytes(1));
    await handOff.bytes[Symbol.asyncIterator]().return?.();
    await put;
    expect(left).toBe(true);
  });
});
