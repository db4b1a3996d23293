import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { BerthError } from '#kernel/errors';
import type { ContainerSpec, Labels, NetworkSpec, Runtime, RuntimeEvent, RuntimeLogLine } from '#engines/runtime/port';

/** What a container of these tests does; each harness knows the command that does it. */
export type Program = 'idle' | 'says' | 'fails';

/** The lines of the program `says`, which then ends with code 0. */
export const SAID = [
  { stream: 'stdout', line: 'one' },
  { stream: 'stdout', line: 'two' },
  { stream: 'stderr', line: 'three' },
] as const;
/** The exit code of the program `fails`. */
export const FAILURE_CODE = 3;

export interface RuntimeHarness {
  runtime: Runtime;
  /** The same engine, as an installation with other labels sees it. */
  stranger: Runtime;
  /** An image that is there. */
  image: string;
  command: (program: Program) => string[];
  /** Unique to this run, so that nothing collides. */
  prefix: string;
  network: { subnet: string; gateway: string; bridge: string };
  /** Address in the network. */
  address: (index: number) => string;
  cleanUp: () => Promise<void>;
}

const kindOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
    return 'no error';
  } catch (error) {
    return (error as BerthError).kind;
  }
};

const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('the condition did not come true within 10 s');
    await Bun.sleep(10);
  }
};

/** Holds an implementation of the port to its contract. */
export const runtimeContract = (name: string, boot: () => Promise<RuntimeHarness>): void => {
  describe(`runtime contract: ${name}`, () => {
    let harness: RuntimeHarness;
    let runtime: Runtime;
    let labels: Labels;
    let counter = 0;

    beforeEach(async () => {
      harness = await boot();
      ({ runtime } = harness);
      labels = { 'berth.test': harness.prefix };
      await runtime.ensureNetwork(network());
    });
    afterEach(() => harness.cleanUp());

    const network = (): NetworkSpec => ({
      name: `${harness.prefix}-net`,
      ...harness.network,
      labels: { 'berth.test': harness.prefix },
      interContainer: true,
    });
    const spec = (program: Program, overrides: Partial<ContainerSpec> = {}): ContainerSpec => {
      counter += 1;
      return {
        name: `${harness.prefix}-${counter}`,
        image: harness.image,
        entrypoint: harness.command(program),
        command: [],
        env: {},
        labels,
        network: { name: `${harness.prefix}-net`, ip: harness.address(counter % 100), aliases: ['app'] },
        loopbackPorts: [],
        mounts: [],
        volumes: [],
        memoryBytes: 64 * 1024 ** 2,
        cpus: 0.5,
        pidsLimit: 64,
        capAdd: [],
        readOnlyRoot: false,
        tmpfs: [],
        restart: 'no',
        init: true,
        stopGraceSeconds: 2,
        ...overrides,
      };
    };
    const run = async (program: Program, overrides: Partial<ContainerSpec> = {}): Promise<string> => {
      const { id } = await runtime.create(spec(program, overrides));
      await runtime.start(id);
      return id;
    };
    const ended = (id: string): Promise<void> => until(async () => (await runtime.inspect(id))?.status === 'exited');
    const allLines = async (id: string, options: { tail?: number; since?: string } = {}): Promise<RuntimeLogLine[]> =>
      await Array.fromAsync(runtime.logs(id, { follow: false, ...options }));
    const text = (lines: RuntimeLogLine[]): string[] => lines.map(({ line }) => line);

    describe('containers', () => {
      test('a created container does not run until it is started', async () => {
        const { id } = await runtime.create(spec('idle'));
        expect(await runtime.inspect(id)).toMatchObject({
          id,
          status: 'created',
          pid: null,
          exitCode: null,
          startedAt: null,
        });
        await runtime.start(id);
        const state = await runtime.inspect(id);
        expect(state).toMatchObject({ status: 'running', image: harness.image, restartCount: 0, oomKilled: false });
        expect(state?.pid).toBeGreaterThan(1);
        expect(state?.startedAt).toMatch(/^\d{4}-\d\d-\d\dT/);
      });
      test('a container has the fixed address that it was given, and its labels', async () => {
        const given = spec('idle');
        const { id } = await runtime.create(given);
        await runtime.start(id);
        const state = await runtime.inspect(id);
        expect(state?.ip).toBe(given.network === 'host' ? null : given.network.ip);
        expect(state?.labels).toMatchObject(labels);
        expect(state?.name).toBe(given.name);
      });
      test('starting a running container again changes nothing', async () => {
        const id = await run('idle');
        const before = await runtime.inspect(id);
        await runtime.start(id);
        expect(await runtime.inspect(id)).toEqual(before);
      });
      test('a second container of the same name is a CONFLICT', async () => {
        const given = spec('idle');
        await runtime.create(given);
        expect(await kindOf(runtime.create(given))).toBe('CONFLICT');
      });
      test('a second running container at the same address is a CONFLICT', async () => {
        const first = spec('idle');
        const { id } = await runtime.create(first);
        await runtime.start(id);
        const second = await runtime.create(spec('idle', { network: first.network }));
        expect(await kindOf(runtime.start(second.id))).toBe('CONFLICT');
      });
      test('an image that is not there is NOT_FOUND', async () => {
        expect(await kindOf(runtime.create(spec('idle', { image: 'berth-test/none:1' })))).toBe('NOT_FOUND');
      });
      test('the exit code of a container that ended is kept', async () => {
        const id = await run('fails');
        await ended(id);
        const state = await runtime.inspect(id);
        expect(state).toMatchObject({ status: 'exited', exitCode: FAILURE_CODE, pid: null, oomKilled: false });
        expect(state?.finishedAt).not.toBeNull();
      });
      test('a container that must not stop is restarted when it fails', async () => {
        const id = await run('fails', { restart: 'unless-stopped' });
        await until(async () => ((await runtime.inspect(id))?.restartCount ?? 0) > 0);
      });
      test('stop ends the container, and does so only once', async () => {
        const id = await run('idle');
        await runtime.stop(id, 2);
        expect(await runtime.inspect(id)).toMatchObject({ status: 'exited', exitCode: 143 });
        await runtime.stop(id, 2);
      });
      test('remove kills a running container', async () => {
        const id = await run('idle');
        await runtime.remove(id);
        expect(await runtime.inspect(id)).toBeUndefined();
      });
      test('two removals of one container at the same time both succeed', async () => {
        const id = await run('idle');
        await Promise.all([runtime.remove(id), runtime.remove(id)]);
        expect(await runtime.inspect(id)).toBeUndefined();
      });
      test('list finds by labels, running or not', async () => {
        const first = await run('idle', { labels: { ...labels, 'berth.kind': 'a' } });
        const { id: second } = await runtime.create(spec('idle', { labels: { ...labels, 'berth.kind': 'b' } }));
        const all = await runtime.list(labels);
        expect(new Map(all.map(({ id, running }) => [id, running]))).toEqual(
          new Map([
            [first, true],
            [second, false],
          ]),
        );
        const some = await runtime.list({ ...labels, 'berth.kind': 'b' });
        expect(some.map(({ id }) => id)).toEqual([second]);
        expect(some[0]?.labels).toMatchObject({ 'berth.kind': 'b' });
      });
    });

    describe('a container that is gone', () => {
      const gone = 'f'.repeat(64);
      test('answers NOT_FOUND', async () => {
        expect(await kindOf(runtime.start(gone))).toBe('NOT_FOUND');
        expect(await kindOf(runtime.stats(gone))).toBe('NOT_FOUND');
        expect(await kindOf(allLines(gone))).toBe('NOT_FOUND');
        expect(await runtime.inspect(gone)).toBeUndefined();
      });
      test('can be stopped and removed again', async () => {
        await runtime.stop(gone, 1);
        await runtime.remove(gone);
      });
    });

    describe('another installation', () => {
      test('does not see or touch containers of this one', async () => {
        const id = await run('idle');
        const { stranger } = harness;
        expect(await stranger.inspect(id)).toBeUndefined();
        expect(await stranger.list({})).toEqual([]);
        expect(await kindOf(stranger.start(id))).toBe('NOT_FOUND');
        expect(await kindOf(Array.fromAsync(stranger.logs(id, { follow: false })))).toBe('NOT_FOUND');
        await stranger.stop(id, 1);
        await stranger.remove(id);
        expect((await runtime.inspect(id))?.status).toBe('running');
      });
      test('does not see or remove networks of this one', async () => {
        expect(await harness.stranger.listNetworks({})).toEqual([]);
        expect(await kindOf(harness.stranger.removeNetwork(network().name))).toBe('NOT_FOUND');
        expect(await runtime.listNetworks(labels)).toHaveLength(1);
      });
    });

    describe('logs', () => {
      test('all lines of a container that ended come in order, with stream and time', async () => {
        const id = await run('says');
        await ended(id);
        const lines = await allLines(id);
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
        const id = await run('says');
        await ended(id);
        const lines = await allLines(id);
        expect(await allLines(id, { tail: 1 })).toEqual(lines.slice(-1));
        expect(await allLines(id, { tail: 0 })).toEqual([]);
      });
      test('since is exclusive', async () => {
        const id = await run('says');
        await ended(id);
        const [first, ...rest] = await allLines(id);
        expect(await allLines(id, { since: first?.ts ?? '' })).toEqual(rest);
      });
      test('following ends when the container does', async () => {
        const id = await run('says');
        const lines = await Array.fromAsync(runtime.logs(id, { follow: true }));
        expect(text(lines).toSorted()).toEqual(SAID.map(({ line }) => line).toSorted());
      });
      test('following ends at once when it is aborted', async () => {
        const id = await run('idle');
        const abort = new AbortController();
        const reading = Array.fromAsync(runtime.logs(id, { follow: true, signal: abort.signal }));
        setTimeout(() => abort.abort(), 50);
        const begin = performance.now();
        expect(await reading).toEqual([]);
        expect(performance.now() - begin).toBeLessThan(1000);
      });
    });

    describe('statistics', () => {
      test('a running container uses memory and processes, within its limit', async () => {
        const id = await run('idle');
        const stats = await runtime.stats(id);
        expect(stats?.memoryBytes).toBeGreaterThan(0);
        expect(stats?.memoryLimitBytes).toBe(64 * 1024 ** 2);
        expect(stats?.pids).toBeGreaterThan(0);
        expect(stats?.cpu).toBeLessThan(1);
      });
      test('a container that does not run has none', async () => {
        const { id } = await runtime.create(spec('idle'));
        expect(await runtime.stats(id)).toBeUndefined();
      });
    });

    describe('events', () => {
      test('tell of the life of containers with the labels, and of no other', async () => {
        const abort = new AbortController();
        const seen: RuntimeEvent[] = [];
        const watch = async (): Promise<void> => {
          for await (const event of runtime.events({ ...labels, 'berth.kind': 'seen' }, abort.signal)) {
            seen.push(event);
            if (event.action === 'destroy') return;
          }
        };
        const watching = watch();
        await runtime.remove(await run('fails'));
        const id = await run('fails', { labels: { ...labels, 'berth.kind': 'seen' } });
        await ended(id);
        await runtime.remove(id);
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
        const watching = Array.fromAsync(runtime.events(labels, abort.signal));
        setTimeout(() => abort.abort(), 50);
        expect(await watching).toEqual([]);
      });
    });

    describe('networks', () => {
      test('are made once, found by labels, and count as used subnets', async () => {
        await runtime.ensureNetwork(network());
        const found = await runtime.listNetworks(labels);
        expect(found.map(({ name, subnet }) => ({ name, subnet }))).toEqual([
          { name: network().name, subnet: network().subnet },
        ]);
        expect(await runtime.usedSubnets()).toContain(network().subnet);
      });
      test('of one name with another subnet are a CONFLICT', async () => {
        expect(await kindOf(runtime.ensureNetwork({ ...network(), subnet: '10.207.0.0/24' }))).toBe('CONFLICT');
      });
      test('of another name with the same subnet are a CONFLICT', async () => {
        const other = { ...network(), name: `${harness.prefix}-other`, bridge: `${harness.network.bridge}x` };
        expect(await kindOf(runtime.ensureNetwork(other))).toBe('CONFLICT');
      });
      test('stay while a container runs in them, and go once, twice', async () => {
        const id = await run('idle');
        expect(await kindOf(runtime.removeNetwork(network().name))).toBe('CONFLICT');
        await runtime.remove(id);
        await runtime.removeNetwork(network().name);
        await runtime.removeNetwork(network().name);
        expect(await runtime.listNetworks(labels)).toEqual([]);
      });
    });

    describe('images', () => {
      test('that are there need no pull', async () => {
        const found = await runtime.inspectImage(harness.image);
        expect(found?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
        expect(await runtime.ensureImage(harness.image)).toEqual(found ?? expect.unreachable());
      });
      test('that are not there are undefined', async () => {
        expect(await runtime.inspectImage('berth-test/none:1')).toBeUndefined();
      });
      test('have more names by tagging, and lose them one by one', async () => {
        const target = `berth-test/${harness.prefix}:1`;
        await runtime.tagImage(harness.image, target);
        const original = await runtime.inspectImage(harness.image);
        expect((await runtime.inspectImage(target))?.id).toBe(original?.id ?? '');
        await runtime.removeImage(target);
        await runtime.removeImage(target);
        expect(await runtime.inspectImage(target)).toBeUndefined();
        expect((await runtime.inspectImage(harness.image))?.id).toBe(original?.id ?? '');
      });
      test('that are not there cannot be tagged', async () => {
        expect(await kindOf(runtime.tagImage('berth-test/none:1', 'berth-test/other:1'))).toBe('NOT_FOUND');
      });
    });

    test('info tells versions and capacity', async () => {
      const info = await runtime.info();
      expect(info.cpus).toBeGreaterThan(0);
      expect(info.memoryBytes).toBeGreaterThan(0);
      expect(info.apiVersion).toMatch(/^\d+\.\d+$/);
      expect(['1', '2']).toContain(info.cgroupVersion);
    });
  });
};
