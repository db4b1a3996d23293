import { describe, expect, test } from 'bun:test';
import { createHandOff } from '#engines/datastores/postgres/hand-off';
import { collect, failureOf } from './bytes.ts';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const nothing = (): Promise<void> => Promise.resolve();

describe('a hand-off', () => {
  test('copies what it is given, in order, however large', async () => {
    const handOff = createHandOff(nothing);
    const given = Buffer.from(Array.from({ length: 700_001 }, (_, at) => at % 251));
    const sent = new Uint8Array(given);
    const putting = (async () => {
      await handOff.put(sent);
      sent.fill(0);
      handOff.end();
    })();
    expect((await collect(handOff.bytes)).equals(given)).toBe(true);
    await putting;
  });

  test('keeps a few MB at most: more is let in when its reader asks for the next', async () => {
    const handOff = createHandOff(nothing);
    const iterator = handOff.bytes[Symbol.asyncIterator]();
    let put = 0;
    const putting = (async () => {
      for (let at = 1; at <= 9; at += 1) {
        await handOff.put(new Uint8Array(256 * 1024).fill(at));
        put = at;
      }
    })();
    await Bun.sleep(5);
    expect(put).toBe(8);
    const first = (await iterator.next()).value as Uint8Array;
    await Bun.sleep(5);
    expect(put).toBe(8);
    expect(first.every((byte) => byte === 1)).toBe(true);
    await iterator.next();
    await putting;
    expect(put).toBe(9);
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
    await handOff.put(bytes(1));
    handOff.end(new Error('broken'));
    expect((await failureOf(handOff.bytes[Symbol.asyncIterator]().next())).message).toContain('broken');
  });

  test('calls off the work when its reader leaves, even before it read anything', async () => {
    let left = false;
    const handOff = createHandOff(async () => {
      left = true;
    });
    const put = handOff.put(new Uint8Array(4 * 1024 * 1024));
    await handOff.bytes[Symbol.asyncIterator]().return?.();
    await put;
    expect(left).toBe(true);
  });
});
