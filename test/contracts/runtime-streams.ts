import { describe, expect, test } from 'bun:test';
import type { RuntimeEvent } from '#engines/runtime/port';
import { type Bench, FAILURE_CODE, SAID, text } from './runtime-bench.ts';

/** What a container said. */
export const logContract = (bench: Bench): void => {
  describe('logs', () => {
    test('all lines of a container that ended come in order, with stream and time', async () => {
      const id = await bench.run('says');
      await bench.ended(id);
      const lines = await bench.allLines(id);
      for (const stream of ['stdout', 'stderr'] as const) {
        expect(text(lines.filter((line) => line.stream === stream))).toEqual(
          SAID.filter((line) => line.stream === stream).map(({ line }) => line),
        );
      }
      const times = lines.map(({ ts }) => ts);
      expect(times.every((ts) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$/.test(ts))).toBe(true);
      expect(times.toSorted()).toEqual(times);
    });
    test('tail gives the last lines only', async () => {
      const id = await bench.run('says');
      await bench.ended(id);
      const lines = await bench.allLines(id);
      expect(await bench.allLines(id, { tail: 1 })).toEqual(lines.slice(-1));
      expect(await bench.allLines(id, { tail: 0 })).toEqual([]);
    });
    test('since is exclusive', async () => {
      const id = await bench.run('says');
      await bench.ended(id);
      const [first, ...rest] = await bench.allLines(id);
      expect(await bench.allLines(id, { since: first?.ts ?? '' })).toEqual(rest);
    });
    test('following ends when the container does', async () => {
      const id = await bench.run('says');
      const lines = await Array.fromAsync(bench.runtime.logs(id, { follow: true }));
      expect(text(lines).toSorted()).toEqual(SAID.map(({ line }) => line).toSorted());
    });
    test('following ends at once when it is aborted', async () => {
      const id = await bench.run('idle');
      const abort = new AbortController();
      const reading = Array.fromAsync(bench.runtime.logs(id, { follow: true, signal: abort.signal }));
      setTimeout(() => abort.abort(), 50);
      const begin = performance.now();
      expect(await reading).toEqual([]);
      expect(performance.now() - begin).toBeLessThan(3000);
    });
  });
};

/** What a container uses. */
export const statsContract = (bench: Bench): void => {
  describe('statistics', () => {
    test('what several use is read at once; those that do not run, or are not there, are left out', async () => {
      const [one, two] = [await bench.run('idle'), await bench.run('idle')];
      const { id: still } = await bench.runtime.create(bench.spec('idle'));
      const usage = await bench.runtime.usage([one, still, 'f'.repeat(64), two]);
      expect([...usage.keys()].sort()).toEqual([one, two].sort());
      for (const { cpuSeconds, memoryBytes } of usage.values()) {
        expect(cpuSeconds).toBeGreaterThan(0);
        expect(cpuSeconds).toBeLessThan(60);
        expect(memoryBytes).toBeGreaterThan(0);
        expect(memoryBytes).toBeLessThanOrEqual(64 * 1024 ** 2);
      }
    });
  });
};

/** What happens to containers. */
export const eventContract = (bench: Bench): void => {
  describe('events', () => {
    test('tell of the life of containers with the labels, and of no other', async () => {
      const abort = new AbortController();
      const seen: RuntimeEvent[] = [];
      const watch = async (): Promise<void> => {
        for await (const event of bench.runtime.events({ ...bench.labels, 'berth.kind': 'seen' }, abort.signal)) {
          seen.push(event);
          if (event.action === 'destroy') return;
        }
      };
      const watching = watch();
      await bench.runtime.remove(await bench.run('fails'));
      const id = await bench.run('fails', { labels: { ...bench.labels, 'berth.kind': 'seen' } });
      await bench.ended(id);
      await bench.runtime.remove(id);
      await watching;
      expect(new Set(seen.map(({ containerId }) => containerId))).toEqual(new Set([id]));
      expect(seen.map(({ action }) => action)).toEqual(['create', 'start', 'die', 'destroy']);
      const died = seen.find(({ action }) => action === 'die');
      expect(died?.exitCode).toBe(FAILURE_CODE);
      expect(died?.labels).toMatchObject({ 'berth.kind': 'seen' });
      expect(Math.abs(Date.now() - (died?.at ?? 0))).toBeLessThan(60_000);
    });
    test('end when they are aborted', async () => {
      const abort = new AbortController();
      const watching = Array.fromAsync(bench.runtime.events(bench.labels, abort.signal));
      setTimeout(() => abort.abort(), 50);
      expect(await watching).toEqual([]);
    });
  });
};
