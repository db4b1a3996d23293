import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { type Clock, systemClock } from '#kernel/clock';
import type { BerthError } from '#kernel/errors';
import { createDockerRuntime } from '#engines/runtime/docker';
import type { Runtime } from '#engines/runtime/port';
import { bash, type Lab, type LabNetwork, openLab, quiet, SOCKET } from './support.ts';
import { openSocketProxy, type SocketProxy } from './socket-proxy.ts';

// A busy machine may take its time.
setDefaultTimeout(60_000);

/** Time passes a hundred times as fast: a deadline of 30 s comes after 0.3 s. */
const hurried: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 100, signal) };

const failure = async (promise: Promise<unknown>): Promise<BerthError> => {
  try {
    await promise;
  } catch (error) {
    return error as BerthError;
  }
  throw new Error('it did not fail');
};
const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

let proxy: SocketProxy;
let runtime: Runtime;
const boot = async (clock: Clock = systemClock): Promise<void> => {
  proxy = await openSocketProxy(SOCKET);
  runtime = createDockerRuntime({ socketPath: proxy.path, clock, log: quiet });
};

describe('with Docker away', () => {
  test('a call fails at once, says how to go on, and works again when Docker is back', async () => {
    await boot();
    await runtime.info();
    for (let round = 0; round < 3; round += 1) {
      await proxy.takeAway();
      const error = await failure(runtime.list({}));
      expect(error).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
      expect(error.hint).toContain('berth doctor');
      await proxy.bringBack();
      expect((await runtime.info()).cpus).toBeGreaterThan(0);
    }
    await proxy.close();
  });
  test('a restart of Docker between two calls goes unnoticed', async () => {
    await boot();
    await runtime.info();
    await proxy.takeAway();
    await proxy.bringBack();
    expect((await runtime.info()).cpus).toBeGreaterThan(0);
    await proxy.close();
  });
});

describe('with Docker hanging', () => {
  test('every call ends at its deadline, and closes its connection', async () => {
    await boot(hurried);
    await runtime.info();
    proxy.hang();
    const id = 'f'.repeat(64);
    const calls: [string, () => Promise<unknown>][] = [
      ['info', () => runtime.info()],
      ['inspect', () => runtime.inspect(id)],
      ['list', () => runtime.list({})],
      ['start', () => runtime.start(id)],
      ['stop', () => runtime.stop(id, 10)],
      ['remove', () => runtime.remove(id)],
      ['usage', () => runtime.usage([id])],
      ['logs', () => Array.fromAsync(runtime.logs(id, { follow: true }))],
      ['events', () => Array.fromAsync(runtime.events({}, new AbortController().signal))],
      ['ensureNetwork', () => runtime.removeNetwork('x')],
      ['usedSubnets', () => runtime.usedSubnets()],
      ['inspectImage', () => runtime.inspectImage('x')],
      ['tagImage', () => runtime.tagImage('x', 'y')],
      ['removeImage', () => runtime.removeImage('x')],
    ];
    const begin = performance.now();
    for (const error of await Promise.all(calls.map(([, call]) => failure(call())))) {
      expect(error).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
      expect(error.message).toContain('within');
      expect(error.hint).toContain('berth doctor');
    }
    expect(performance.now() - begin).toBeLessThan(5000);
    const end = performance.now() + 1000;
    while (proxy.openConnections() > 0 && performance.now() < end) await Bun.sleep(5);
    expect(proxy.openConnections()).toBe(0);
    await proxy.close();
  });
  test('a pull can be given up by its caller', async () => {
    await boot();
    proxy.hang();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 50);
    const error = await failure(runtime.ensureImage('x', abort.signal));
    expect(error.message).toContain('cancelled');
    await proxy.close();
  });
});

let lab: Lab;
let network: LabNetwork;
let link: SocketProxy;
let proxied: Runtime;
let last = 1;

const run = async (script: string): Promise<string> => {
  last += 1;
  const { id } = await lab.runtime.create(lab.spec(network, network.gateway.replace(/\.1$/, `.${last}`), bash(script)));
  await lab.runtime.start(id);
  return id;
};

beforeAll(async () => {
  lab = openLab();
  network = await lab.addNetwork('a');
  link = await openSocketProxy(SOCKET);
  proxied = createDockerRuntime({ socketPath: link.path, clock: systemClock, log: quiet });
});
afterAll(async () => {
  await link.close();
  await lab.cleanUp();
});

describe('streams over a bad link', () => {
  test('of logs fail when the link breaks, and can be resumed without loss or repetition', async () => {
    const id = await run('for i in {1..200}; do echo $i; sleep 0.005; done');
    const seen: string[] = [];
    let since: string | undefined;
    let breaks = 0;
    for (let done = false; !done;) {
      try {
        for await (const { line, ts } of proxied.logs(id, {
          follow: true,
          ...(since === undefined ? {} : { since }),
        })) {
          seen.push(line);
          since = ts;
          if (seen.length % 50 === 10 && breaks < 3) {
            breaks += 1;
            link.cut();
          }
        }
        done = true;
      } catch (error) {
        expect(error).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
      }
    }
    expect(breaks).toBe(3);
    expect(seen).toEqual(Array.from({ length: 200 }, (_, i) => String(i + 1)));
  });
  test('of events end when the link breaks', async () => {
    const events = proxied.events({ 'berth.test': 'events' }, new AbortController().signal)[Symbol.asyncIterator]();
    const first = events.next();
    const spec = lab.spec(network, network.gateway.replace(/\.1$/, '.250'), ['true']);
    const { id } = await lab.runtime.create({ ...spec, labels: { 'berth.test': 'events' } });
    expect((await first).value).toMatchObject({ action: 'create', containerId: id });
    link.cut();
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});

describe('streams', () => {
  test('leave no open descriptor behind, whichever way they end', async () => {
    const id = await run('while true; do echo line; sleep 0.01; done');
    const before = openDescriptors();
    for (let round = 0; round < 20; round += 1) {
      const abort = new AbortController();
      for await (const { line } of lab.runtime.logs(id, { follow: true, signal: abort.signal })) {
        expect(line).toBe('line');
        if (round % 2 === 0) abort.abort();
        else break;
      }
    }
    await Bun.sleep(100);
    expect(openDescriptors()).toBeLessThanOrEqual(before);
  });
  test('of two containers with 1,000 lines a second each lose nothing', async () => {
    const script = `exec perl -e '$| = 1; for $i (1..3000) { print "$i some ordinary text of a log line\\n"; select(undef, undef, undef, 0.001) }'`;
    const ids = await Promise.all([run(script), run(script)]);
    const all = await Promise.all(ids.map((id) => Array.fromAsync(lab.runtime.logs(id, { follow: true }))));
    for (const lines of all) {
      expect(lines.map(({ line }) => Number.parseInt(line, 10))).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1));
    }
  });
  test('go on over the rotation of the file, without loss or repetition', async () => {
    const script = `exec perl -e '$| = 1; for $i (1..7000) { print "$i ", "x" x 4000, "\\n"; select(undef, undef, undef, 0.002) if $i % 10 == 0 }'`;
    const lines = await Array.fromAsync(lab.runtime.logs(await run(script), { follow: true }));
    expect(lines.map(({ line }) => Number.parseInt(line, 10))).toEqual(Array.from({ length: 7000 }, (_, i) => i + 1));
  });
  test('wait for a slow reader instead of filling the memory', async () => {
    const id = await run('exec yes 0123456789012345678901234567890123456789');
    Bun.gc(true);
    const before = process.memoryUsage().rss;
    let count = 0;
    for await (const { line } of lab.runtime.logs(id, { follow: true })) {
      expect(line).toHaveLength(40);
      count += 1;
      if (count % 200 === 0) await Bun.sleep(100);
      if (count === 4000) break;
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(32 * 1024 ** 2);
    await lab.runtime.remove(id);
  });
  test('decode what a container really writes: long lines, both streams, invalid bytes, no last newline', async () => {
    const id = await run(
      `head -c 40000 /dev/zero | tr '\\0' x; echo; printf 'gr\\xc3\\xbc\\xc3\\x9fe \\xff\\n' >&2; sleep 0.1; printf end`,
    );
    const lines = await Array.fromAsync(lab.runtime.logs(id, { follow: true }));
    const stdout = lines.filter(({ stream }) => stream === 'stdout').map(({ line }) => line);
    expect(stdout).toEqual(['x'.repeat(16 * 1024), 'end']);
    expect(lines.find(({ stream }) => stream === 'stderr')?.line).toBe('grüße \u{fffd}');
  });
});
