import { describe, expect, test } from 'bun:test';
import { type Bench, FAILURE_CODE, kindOf, until } from './runtime-bench.ts';

/** What containers go through, from creation to removal. */
export const containerContract = (bench: Bench): void => {
  describe('containers', () => {
    test('a created container does not run until it is started', async () => {
      const { id } = await bench.runtime.create(bench.spec('idle'));
      expect(await bench.runtime.inspect(id)).toMatchObject({
        id,
        status: 'created',
        pid: null,
        exitCode: null,
        startedAt: null,
      });
      await bench.runtime.start(id);
      const state = await bench.runtime.inspect(id);
      expect(state).toMatchObject({ status: 'running', image: bench.harness.image, restartCount: 0, oomKilled: false });
      expect(state?.pid).toBeGreaterThan(1);
      expect(state?.startedAt).toMatch(/^\d{4}-\d\d-\d\dT/);
    });
    test('a container has the fixed address that it was given, and its labels', async () => {
      const given = bench.spec('idle');
      const { id } = await bench.runtime.create(given);
      await bench.runtime.start(id);
      const state = await bench.runtime.inspect(id);
      expect(state?.ip).toBe(typeof given.network === 'string' ? null : given.network.ip);
      expect(state?.labels).toMatchObject(bench.labels);
      expect(state?.name).toBe(given.name);
    });
    test('starting a running container again changes nothing', async () => {
      const id = await bench.run('idle');
      const before = await bench.runtime.inspect(id);
      await bench.runtime.start(id);
      expect(await bench.runtime.inspect(id)).toEqual(before);
    });
    test('list finds by labels, running or not', async () => {
      const first = await bench.run('idle', { labels: { ...bench.labels, 'berth.kind': 'a' } });
      const { id: second } = await bench.runtime.create(
        bench.spec('idle', { labels: { ...bench.labels, 'berth.kind': 'b' } }),
      );
      const all = await bench.runtime.list(bench.labels);
      expect(new Map(all.map(({ id, running }) => [id, running]))).toEqual(
        new Map([
          [first, true],
          [second, false],
        ]),
      );
      const some = await bench.runtime.list({ ...bench.labels, 'berth.kind': 'b' });
      expect(some.map(({ id }) => id)).toEqual([second]);
      expect(some[0]?.labels).toMatchObject({ 'berth.kind': 'b' });
    });
  });
};

/** What can't be made. */
export const refusalContract = (bench: Bench): void => {
  describe('containers that cannot be', () => {
    test('a second container of the same name is a CONFLICT', async () => {
      const given = bench.spec('idle');
      await bench.runtime.create(given);
      expect(await kindOf(bench.runtime.create(given))).toBe('CONFLICT');
    });
    test('a second running container at the same address is a CONFLICT', async () => {
      const first = bench.spec('idle');
      const { id } = await bench.runtime.create(first);
      await bench.runtime.start(id);
      const second = await bench.runtime.create(bench.spec('idle', { network: first.network }));
      expect(await kindOf(bench.runtime.start(second.id))).toBe('CONFLICT');
    });
    test('an image that is not there is NOT_FOUND', async () => {
      expect(await kindOf(bench.runtime.create(bench.spec('idle', { image: 'berth-test/none:1' })))).toBe('NOT_FOUND');
    });
  });
};

/** How containers end. */
export const endContract = (bench: Bench): void => {
  describe('the end of containers', () => {
    test('the exit code of a container that ended is kept', async () => {
      const id = await bench.run('fails');
      await bench.ended(id);
      const state = await bench.runtime.inspect(id);
      expect(state).toMatchObject({ status: 'exited', exitCode: FAILURE_CODE, pid: null, oomKilled: false });
      expect(state?.finishedAt).not.toBeNull();
    });
    test('a container that must not stop is restarted when it fails', async () => {
      const id = await bench.run('fails', { restart: 'unless-stopped' });
      await until(async () => ((await bench.runtime.inspect(id))?.restartCount ?? 0) > 0);
    });
    test('a container that was asked to keep running is restarted when it fails', async () => {
      const { id } = await bench.runtime.create(bench.spec('fails', { restart: 'no' }));
      await bench.runtime.keepRunning(id);
      await bench.runtime.start(id);
      await until(async () => ((await bench.runtime.inspect(id))?.restartCount ?? 0) > 0);
    });
    test('stop ends the container, and does so only once', async () => {
      const id = await bench.run('idle');
      await bench.runtime.stop(id, 2);
      expect(await bench.runtime.inspect(id)).toMatchObject({ status: 'exited', exitCode: 143 });
      await bench.runtime.stop(id, 2);
    });
    test('remove kills a running container', async () => {
      const id = await bench.run('idle');
      await bench.runtime.remove(id);
      expect(await bench.runtime.inspect(id)).toBeUndefined();
    });
    test('two removals of one container at the same time both succeed', async () => {
      const id = await bench.run('idle');
      await Promise.all([bench.runtime.remove(id), bench.runtime.remove(id)]);
      expect(await bench.runtime.inspect(id)).toBeUndefined();
    });
  });
};

/** What is said of a container that is gone. */
export const goneContract = (bench: Bench): void => {
  describe('a container that is gone', () => {
    const gone = 'f'.repeat(64);
    test('answers NOT_FOUND', async () => {
      expect(await kindOf(bench.runtime.start(gone))).toBe('NOT_FOUND');
      expect(await kindOf(bench.allLines(gone))).toBe('NOT_FOUND');
      expect(await bench.runtime.inspect(gone)).toBeUndefined();
    });
    test('can be stopped and removed again', async () => {
      await bench.runtime.stop(gone, 1);
      await bench.runtime.remove(gone);
    });
  });
};

/** What another installation on the same engine sees. */
export const strangerContract = (bench: Bench): void => {
  describe('another installation', () => {
    test('does not see or touch containers of this one', async () => {
      const id = await bench.run('idle');
      const { stranger } = bench.harness;
      expect(await stranger.inspect(id)).toBeUndefined();
      expect(await stranger.list({})).toEqual([]);
      expect(await kindOf(stranger.start(id))).toBe('NOT_FOUND');
      expect(await kindOf(Array.fromAsync(stranger.logs(id, { follow: false })))).toBe('NOT_FOUND');
      await stranger.stop(id, 1);
      await stranger.remove(id);
      expect((await bench.runtime.inspect(id))?.status).toBe('running');
    });
    test('does not see or remove networks of this one', async () => {
      expect(await bench.harness.stranger.listNetworks({})).toEqual([]);
      expect(await kindOf(bench.harness.stranger.removeNetwork(bench.network().name))).toBe('NOT_FOUND');
      expect(await bench.runtime.listNetworks(bench.labels)).toHaveLength(1);
    });
  });
};
