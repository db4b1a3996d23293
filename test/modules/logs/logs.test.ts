import { describe, expect, test } from 'bun:test';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFakeRuntime, type FakeRuntime } from '#test/fakes/runtime.ts';
import { addProject, addService, call, createRig, request, tempDir, type Rig } from '../support/rig.ts';
import { readSse } from '../support/sse.ts';

const LOGS = '/v1/projects/shop/services/web/logs';

const setUp = (options: Parameters<typeof createRig>[0] = {}): Rig => {
  const rig = createRig(options);
  if (rig.projectStore.get('shop') === undefined) {
    addProject(rig, 'shop');
    addService(rig, 'shop', 'web', { live_release: 'rel_1' });
  }
  return rig;
};

const startContainer = async (runtime: FakeRuntime, name: string): Promise<string> => {
  const { id } = await runtime.create({
    name,
    image: 'app',
    env: {},
    labels: {},
    network: 'host',
    loopbackPorts: [],
    mounts: [],
    volumes: [],
    memoryBytes: 1024,
    cpus: 1,
    pidsLimit: 10,
    capAdd: [],
    readOnlyRoot: false,
    tmpfs: [],
    restart: 'unless-stopped',
    init: true,
    stopGraceSeconds: 1,
  });
  await runtime.start(id);
  return id;
};

const attach = (rig: Rig, containerId: string, name = 'r1', release = 'rel_1'): void =>
  rig.logs.attach({ containerId, name, project: 'shop', service: 'web', release });

const stored = (rig: Rig): string[] => rig.logs.tail('shop', 'web', { lines: 10_000 }).map(({ line }) => line);

const until = async (condition: () => boolean, what: string): Promise<void> => {
  const deadline = performance.now() + 4000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

describe('stored logs', () => {
  test('hold every line of a container with its time, stream, replica and release', async () => {
    const rig = setUp();
    const id = await startContainer(rig.runtime, 'r1');
    attach(rig, id);
    rig.runtime.say(id, 'hello');
    rig.runtime.say(id, 'oops', 'stderr');
    await until(() => stored(rig).length === 2, 'two lines');
    expect(rig.logs.tail('shop', 'web', { lines: 10 })).toMatchObject([
      { replica: 'r1', release: 'rel_1', stream: 'stdout', line: 'hello', ts: expect.stringMatching(/^\d{4}-.*Z$/) },
      { stream: 'stderr', line: 'oops' },
    ]);
  });

  test('have secrets masked', async () => {
    const rig = setUp();
    await call(rig, 'PUT /v1/projects/shop/env', { body: { KEY: 'planted-marker-123' } });
    const id = await startContainer(rig.runtime, 'r1');
    attach(rig, id);
    rig.runtime.say(id, 'key is planted-marker-123!');
    await until(() => stored(rig).length === 1, 'a line');
    expect(stored(rig)).toEqual(['key is [secret]!']);
    expect(await rig.logs.recent({ containerId: id, project: 'shop' }, 5)).toEqual(['key is [secret]!']);
  });

  test('go on after a restart of berth exactly where they were', async () => {
    const dataDir = tempDir();
    const runtime = createFakeRuntime({ images: ['app'] });
    const first = setUp({ dataDir, runtime });
    const [a, b] = [await startContainer(runtime, 'r1'), await startContainer(runtime, 'r2')];
    attach(first, a, 'r1');
    attach(first, b, 'r2');
    for (let i = 0; i < 50; i += 1) runtime.say(i % 2 === 0 ? a : b, `before ${i}`);
    await until(() => stored(first).length === 50, '50 lines');
    await first.logs.stop();
    for (let i = 0; i < 20; i += 1) runtime.say(i % 2 === 0 ? a : b, `meanwhile ${i}`);
    const second = setUp({ dataDir, runtime });
    attach(second, a, 'r1');
    attach(second, b, 'r2');
    runtime.say(a, 'after');
    await until(() => stored(second).length >= 71, '71 lines');
    const lines = stored(second);
    expect(lines).toHaveLength(71);
    expect(new Set(lines).size).toBe(71);
  });

  test('go on when the container restarts, and when the engine was away', async () => {
    const rig = setUp();
    const id = await startContainer(rig.runtime, 'r1');
    rig.runtime.failNext('logs');
    attach(rig, id);
    rig.runtime.say(id, 'one');
    await until(() => stored(rig).length === 1, 'the line after the engine came back');
    rig.runtime.crash(id, 1);
    await rig.runtime.start(id);
    rig.runtime.say(id, 'two');
    await until(() => stored(rig).length === 2, 'the line after the restart');
    expect(stored(rig)).toEqual(['one', 'two']);
    expect(rig.logged.filter((line) => line.includes('cannot follow'))).toHaveLength(1);
  });

  test('end when the container is gone, and keep its lines', async () => {
    const rig = setUp();
    const id = await startContainer(rig.runtime, 'r1');
    attach(rig, id);
    rig.runtime.say(id, 'last words');
    await rig.runtime.stop(id, 1);
    await rig.runtime.remove(id);
    await rig.logs.detach(id);
    expect(stored(rig)).toEqual(['last words']);
  });

  test('detach takes what the engine still holds of a container that runs', async () => {
    const rig = setUp();
    const id = await startContainer(rig.runtime, 'r1');
    attach(rig, id);
    for (let i = 0; i < 500; i += 1) rig.runtime.say(id, `line ${i}`);
    await rig.logs.detach(id);
    expect(stored(rig)).toEqual(Array.from({ length: 500 }, (_, i) => `line ${i}`));
    rig.runtime.say(id, 'too late');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(stored(rig)).toHaveLength(500);
  });

  test('attaching twice stores once', async () => {
    const rig = setUp();
    const id = await startContainer(rig.runtime, 'r1');
    attach(rig, id);
    attach(rig, id);
    rig.runtime.say(id, 'once');
    await until(() => stored(rig).length > 0, 'a line');
    await rig.logs.detach(id);
    expect(stored(rig)).toEqual(['once']);
  });

  test('are deleted with the service', async () => {
    const rig = setUp();
    const id = await startContainer(rig.runtime, 'r1');
    attach(rig, id);
    rig.runtime.say(id, 'hello');
    await until(() => stored(rig).length === 1, 'a line');
    await rig.logs.remove('shop', 'web');
    rig.runtime.say(id, 'still here');
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(existsSync(join(rig.dataDir, 'logs', 'shop', 'web'))).toBe(false);
    expect(stored(rig)).toEqual([]);
  });
});

describe('streamLogs', () => {
  const withLines = async (count: number): Promise<{ rig: Rig; id: string }> => {
    const rig = setUp();
    const id = await startContainer(rig.runtime, 'r1');
    attach(rig, id);
    for (let i = 1; i <= count; i += 1) rig.runtime.say(id, `line ${i}`);
    await until(() => stored(rig).length === count, `${count} lines`);
    return { rig, id };
  };
  const lines = (events: { data: { line: string } }[]): string[] => events.map(({ data }) => data.line);
  const numbered = (from: number, to: number): string[] =>
    Array.from({ length: to - from + 1 }, (_, i) => `line ${from + i}`);

  test('replays the last 100 lines, then follows without gap or repetition', async () => {
    const { rig, id } = await withLines(150);
    const stream = readSse(await request(rig, `GET ${LOGS}`));
    const replay = await stream.take(100);
    expect(replay[0]).toEqual({
      id: '51',
      event: 'log',
      data: { ts: expect.any(String), replica: 'r1', release: 'rel_1', stream: 'stdout', line: 'line 51' },
    });
    for (let i = 151; i <= 400; i += 1) rig.runtime.say(id, `line ${i}`);
    const live = await stream.take(250);
    expect(lines([...replay, ...live])).toEqual(numbered(51, 400));
    expect(live.at(-1)?.id).toBe('400');
  });

  test('tail, since, replica, release and follow=false choose what comes', async () => {
    const { rig } = await withLines(10);
    const other = await startContainer(rig.runtime, 'r2');
    attach(rig, other, 'r2', 'rel_2');
    rig.runtime.say(other, 'other');
    await until(() => stored(rig).length === 11, 'the other line');
    const got = async (query: string) =>
      lines(await readSse(await request(rig, `GET ${LOGS}?follow=false${query}`)).rest());
    expect(await got('')).toEqual([...numbered(1, 10), 'other']);
    expect(await got('&tail=2')).toEqual(['line 10', 'other']);
    expect(await got('&tail=0')).toEqual([]);
    expect(await got('&tail=2&replica=r1')).toEqual(numbered(9, 10));
    expect(await got('&release=rel_2')).toEqual(['other']);
    expect(await got('&replica=nobody')).toEqual([]);
    expect(await got('&since=10m')).toHaveLength(11);
    expect(await got(`&since=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
    for (const query of ['?since=soon', '?tail=-1', '?tail=x', '?follow=maybe', '?lines=5']) {
      expect({ query, ...(await call(rig, `GET ${LOGS}${query}`)) }).toMatchObject({
        query,
        status: 400,
        body: { code: 'INVALID_INPUT' },
      });
    }
  });

  test('a filtered reader follows its replica only', async () => {
    const { rig, id } = await withLines(1);
    const other = await startContainer(rig.runtime, 'r2');
    attach(rig, other, 'r2', 'rel_2');
    const stream = readSse(await request(rig, `GET ${LOGS}?replica=r2&tail=0`));
    rig.runtime.say(id, 'not this');
    rig.runtime.say(other, 'this');
    rig.runtime.say(id, 'nor this');
    rig.runtime.say(other, 'and this');
    expect(lines(await stream.take(2))).toEqual(['this', 'and this']);
  });

  test('Last-Event-ID resumes after any line', async () => {
    const { rig } = await withLines(30);
    const resume = async (id: string) =>
      lines(await readSse(await request(rig, `GET ${LOGS}?follow=false`, { headers: { 'last-event-id': id } })).rest());
    expect(await resume('10')).toEqual(numbered(11, 30));
    expect(await resume('30')).toEqual([]);
    expect(await resume('0')).toEqual(numbered(1, 30));
    expect(await resume('999')).toEqual([]);
  });

  test('lines of dead replicas of earlier releases are there', async () => {
    const { rig, id } = await withLines(2);
    await rig.runtime.stop(id, 1);
    await rig.logs.detach(id);
    await rig.runtime.remove(id);
    const next = await startContainer(rig.runtime, 'r9');
    attach(rig, next, 'r9', 'rel_9');
    rig.runtime.say(next, 'line 3');
    await until(() => stored(rig).length === 3, 'the new line');
    expect(lines(await readSse(await request(rig, `GET ${LOGS}?follow=false`)).rest())).toEqual(numbered(1, 3));
  });

  test('a reader that stalls gets everything in the end, from the files', async () => {
    const { rig, id } = await withLines(1);
    const response = await request(rig, `GET ${LOGS}`);
    const stream = readSse(response);
    await stream.take(1);
    const filler = 'x'.repeat(1000);
    const total = 6000;
    for (let i = 2; i <= total; i += 1) {
      rig.runtime.say(id, `line ${i} ${filler}`);
      if (i % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 0));
    }
    await until(
      () => rig.logs.tail('shop', 'web', { lines: 1 })[0]?.line.startsWith(`line ${total} `) === true,
      'all stored',
    );
    const events = await stream.take(total - 1);
    expect(events.map((event) => Number(event.id))).toEqual(Array.from({ length: total - 1 }, (_, i) => i + 2));
  });

  test('readers that leave are forgotten, and a removed service ends its readers', async () => {
    const { rig } = await withLines(1);
    const [first, second] = [readSse(await request(rig, `GET ${LOGS}`)), readSse(await request(rig, `GET ${LOGS}`))];
    await Promise.all([first.take(1), second.take(1)]);
    expect(rig.streams.size).toBe(2);
    await first.cancel();
    expect(rig.streams.size).toBe(1);
    await rig.logs.remove('shop', 'web');
    expect(await second.rest()).toEqual([]);
    expect(rig.streams.size).toBe(0);
  });

  test('a missing service is NOT_FOUND', async () => {
    const rig = setUp();
    expect(await call(rig, 'GET /v1/projects/shop/services/nope/logs')).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
  });
});

describe('a disk that refuses', () => {
  test('is reported once, costs readers nothing, and heals', async () => {
    const rig = setUp();
    const id = await startContainer(rig.runtime, 'r1');
    attach(rig, id);
    rig.runtime.say(id, 'line 1');
    await until(() => stored(rig).length === 1, 'a line');
    const stream = readSse(await request(rig, `GET ${LOGS}`));
    await stream.take(1);
    const dir = join(rig.dataDir, 'logs', 'shop', 'web');
    renameSync(dir, `${dir}.away`);
    writeFileSync(dir, 'in the way');
    for (let i = 2; i <= 4; i += 1) {
      rig.runtime.say(id, `line ${i}`);
      const [event] = await stream.take(1);
      expect(event?.data.line).toBe(`line ${i}`);
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    const complaints = (): string[] => rig.logged.filter((line) => line.includes('cannot store logs'));
    expect(complaints()).toHaveLength(1);
    rmSync(dir);
    renameSync(`${dir}.away`, dir);
    rig.runtime.say(id, 'line 5');
    await until(() => rig.logged.some((line) => line.includes('stored again')), 'healing');
    expect(stored(rig)).toEqual(['line 1', 'line 2', 'line 3', 'line 4', 'line 5']);
    expect(complaints()).toHaveLength(1);
    expect(rig.logs.lostLines()).toBe(0);
  });

  test('loses the oldest lines past a bound, says how many, and the numbers of what follows stay true', async () => {
    const rig = setUp();
    const id = await startContainer(rig.runtime, 'r1');
    attach(rig, id);
    rig.runtime.say(id, 'first');
    await until(() => stored(rig).length === 1, 'a line');
    const dir = join(rig.dataDir, 'logs', 'shop', 'web');
    renameSync(dir, `${dir}.away`);
    writeFileSync(dir, 'in the way');
    for (let i = 0; i < 1500; i += 1) rig.runtime.say(id, 'x'.repeat(1000));
    await until(() => rig.logs.lostLines() > 0, 'lost lines');
    rmSync(dir);
    renameSync(`${dir}.away`, dir);
    rig.runtime.say(id, 'last');
    await until(() => stored(rig).includes('last'), 'healing');
    const events = await readSse(await request(rig, `GET ${LOGS}?follow=false&tail=9999`)).rest();
    expect(events.at(-1)).toMatchObject({ id: '1502', data: { line: 'last' } });
    expect(events.length).toBe(1502 - rig.logs.lostLines());
    expect(events[0]?.data.line).toBe('first');
    const resumed = readSse(await request(rig, `GET ${LOGS}?follow=false`, { headers: { 'last-event-id': '1' } }));
    expect((await resumed.rest())[0]?.id).toBe(events[1]?.id);
  });
});
