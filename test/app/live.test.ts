import { expect, test } from 'bun:test';
import { addProject, addReplica, addService, ctx, finish } from '#test/modules/support/rig.ts';
import { readSse, type SseEvent } from '#test/modules/support/sse.ts';
import { createWorld, type World } from './world.ts';

const furnish = (): World => {
  const world = createWorld();
  for (const project of ['shop', 'blog']) {
    addProject(world.rig, project);
    addService(world.rig, project, 'web', { live_release: 'rel_1' });
  }
  return world;
};

const live = async (world: World, topics: string, token = world.admin) =>
  readSse(await world.fetch(world.request(`GET /v1/live?topics=${encodeURIComponent(topics)}`, { token })));

const deploy = (world: World, project = 'shop') =>
  world.rig.operations.enqueue(ctx(), { kind: 'deploy', project, service: 'web', input: {} });

const kinds = (events: readonly SseEvent[]): string[] => events.map(({ event }) => event);

/** What writes lines of a replica into the stored log. */
const logged = async (world: World): Promise<(lines: readonly string[]) => Promise<void>> => {
  const { runtime, logs } = world.rig;
  const spec = { ...CONTAINER, name: 'web-1' };
  const { id } = await runtime.create(spec);
  await runtime.start(id);
  logs.attach({ containerId: id, name: 'web-1', project: 'shop', service: 'web', release: 'rel_1' });
  let written = 0;
  return async (lines) => {
    for (const line of lines) runtime.say(id, line);
    written += lines.length;
    const deadline = performance.now() + 4000;
    while (logs.tail('shop', 'web', { lines: 10_000 }).length < written) {
      if (performance.now() > deadline) throw new Error('the lines were not stored');
      await Bun.sleep(5);
    }
  };
};

const CONTAINER = {
  image: 'app',
  env: {},
  labels: {},
  network: 'host' as const,
  loopbackPorts: [],
  mounts: [],
  volumes: [],
  memoryBytes: 1024,
  cpus: 1,
  pidsLimit: 10,
  capAdd: [],
  readOnlyRoot: false,
  tmpfs: [],
  restart: 'unless-stopped' as const,
  init: true,
  stopGraceSeconds: 1,
};

test('the overview begins with every project in scope, and goes on with each change', async () => {
  const world = furnish();
  const { secret } = await world.mint(['read'], ['shop']);
  const all = await live(world, 'projects');
  expect((await all.take(3)).map(({ event, data }) => [event, data.project?.name])).toEqual([
    ['project', 'blog'],
    ['project', 'shop'],
    ['ready', undefined],
  ]);
  const scoped = await live(world, 'projects', secret);
  expect((await scoped.take(2)).map(({ data }) => data.project?.name)).toEqual(['shop', undefined]);

  deploy(world);
  const [changed] = await all.take(1);
  expect(changed?.data).toMatchObject({ topic: 'projects', cursor: null, project: { name: 'shop' } });
  expect(changed?.data.project.services).toMatchObject([{ name: 'web', status: 'deploying' }]);
  expect((await scoped.take(1))[0]?.data).toEqual(changed?.data);
});

test('a replica that goes down shows, though no row says so', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  addReplica(world.rig, addService(world.rig, 'shop', 'web', { live_release: 'rel_1' }), 'c1');
  const tail = await live(world, 'project:shop');
  const [before] = await tail.take(1);
  expect(before?.data.state.services[0].status).toBe('running');
  world.rig.liveness.set('c1', false);
  const [after] = await tail.take(1, 4000);
  expect(after?.data.state.services[0]).toMatchObject({ status: 'down', running_replicas: 0 });
});

test('a project that is removed is gone, from afar and from near', async () => {
  const world = furnish();
  const tail = await live(world, 'projects,project:shop');
  await tail.take(4);
  world.rig.projectStore.remove('shop');
  const gone = await tail.take(2, 4000);
  expect(gone.map(({ event, data }) => `${event} ${data.topic} ${data.name}`).sort()).toEqual([
    'gone project:shop shop',
    'gone projects shop',
  ]);
});

test('the events of a project go on after a cursor without a gap', async () => {
  const world = furnish();
  const emit = (n: number): void =>
    world.rig.events.emit({ project: 'shop', kind: 'env.changed', actor: 'a', data: { n } });
  for (let n = 0; n < 300; n += 1) emit(n);
  const first = await live(world, 'events:shop');
  const shown = (await first.take(50)).filter(({ event }) => event === 'event');
  const cursor = shown.at(-1)?.data.cursor;
  await first.cancel();
  for (let n = 300; n < 800; n += 1) emit(n);
  const second = await live(world, `events:shop@${cursor}`);
  const rest = await second.take(250);
  for (let n = 800; n < 850; n += 1) emit(n);
  rest.push(...(await second.take(300)));
  expect(rest.map(({ data }) => data.event.data.n)).toEqual(Array.from({ length: 550 }, (_, index) => 300 + index));
  expect(rest.at(-1)?.id).toBe(`events:shop@${rest.at(-1)?.data.cursor}`);
});

test('an operation is shown from its start, its lines in batches, to its end', async () => {
  const world = furnish();
  const { operation_id: id } = deploy(world);
  world.rig.journal.phase(id, 'building', 'building');
  for (let n = 1; n <= 2500; n += 1) world.rig.journal.log(id, 'build', `line ${n}`);
  const tail = await live(world, `operation:${id}`);
  const begun = await tail.take(6);
  expect(kinds(begun)).toEqual(['operation', 'phase', 'phase', 'lines', 'lines', 'lines']);
  expect(begun.slice(3).map(({ data }) => data.lines.length)).toEqual([1000, 1000, 500]);
  world.rig.journal.log(id, 'build', '<script>alert(1)</script>');
  const [line] = await tail.take(1);
  expect(line?.data.lines).toMatchObject([{ line: '<script>alert(1)</script>', source: 'build' }]);
  finish(world.rig, id);
  world.rig.journal.done(id, { status: 'succeeded', error: null, result: null });
  const ended = await tail.take(2);
  expect(kinds(ended).sort()).toEqual(['done', 'operation']);
  expect(ended.find(({ event }) => event === 'operation')?.data.operation.status).toBe('succeeded');
});

test('an operation goes on after its cursor, and after the last event that a client names', async () => {
  const world = furnish();
  const { operation_id: id } = deploy(world);
  for (let n = 1; n <= 10; n += 1) world.rig.journal.log(id, 'build', `line ${n}`);
  const lines = async (topics: string, headers: Record<string, string> = {}): Promise<string[]> => {
    const request = world.request(`GET /v1/live?topics=${encodeURIComponent(topics)}`, { headers });
    const [, event] = await readSse(await world.fetch(request)).take(2);
    return event?.data.lines.map(({ line }: { line: string }) => line);
  };
  // The first event is the phase `queued`.
  expect(await lines(`operation:${id}@8`)).toEqual(['line 8', 'line 9', 'line 10']);
  expect(await lines(`operation:${id}@1`, { 'last-event-id': `operation:${id}@10` })).toEqual(['line 10']);
});

test('operations of all projects in scope are told of at each step', async () => {
  const world = furnish();
  const waiting = deploy(world);
  const { secret } = await world.mint(['read'], ['blog']);
  const all = await live(world, 'operations');
  expect((await all.take(2)).map(({ event, data }) => [event, data.operation?.operation_id])).toEqual([
    ['operation', waiting.operation_id],
    ['ready', undefined],
  ]);
  const scoped = await live(world, 'operations', secret);
  await scoped.take(1);
  world.rig.journal.phase(waiting.operation_id, 'building', 'building');
  const other = deploy(world, 'blog');
  expect((await all.take(2)).map(({ data }) => data.operation.project)).toEqual(['shop', 'blog']);
  expect((await scoped.take(1))[0]?.data.operation.operation_id).toBe(other.operation_id);
});

test('a log begins with its newest lines, follows, and goes on after a cursor', async () => {
  const world = furnish();
  const write = await logged(world);
  await write(Array.from({ length: 500 }, (_, n) => `line ${n}`));
  const tail = await live(world, 'logs:shop/web');
  const [first] = await tail.take(1);
  expect(first?.data.lines).toHaveLength(200);
  expect(first?.data.lines.at(-1)).toMatchObject({ line: 'line 499', replica: 'web-1', stream: 'stdout' });
  await write(['more']);
  const [next] = await tail.take(1);
  expect(next?.data.lines.map(({ line }: { line: string }) => line)).toEqual(['more']);
  await tail.cancel();
  await write(['while away', 'and again']);
  const [resumed] = await (await live(world, `logs:shop/web@${next?.data.cursor}`)).take(1);
  expect(resumed?.data.lines.map(({ line }: { line: string }) => line)).toEqual(['while away', 'and again']);
});

test('capacity is read once for all who look', async () => {
  let asked = 0;
  const world = createWorld({
    system: {
      runtime: {
        info: async () => {
          asked += 1;
          throw new Error('away');
        },
      },
    },
  });
  const tails = await Promise.all(Array.from({ length: 20 }, () => live(world, 'admin')));
  for (const tail of tails) expect((await tail.take(1))[0]?.data).toMatchObject({ kind: 'capacity', topic: 'admin' });
  expect(asked).toBe(1);
});

test('a topic that is missing or not allowed is a problem, and the others go on', async () => {
  const world = furnish();
  const { secret } = await world.mint(['read'], ['shop']);
  const { operation_id: foreign } = deploy(world, 'blog');
  const topics = [
    'admin',
    'project:blog',
    'project:none',
    'events:blog',
    'logs:blog/web',
    'logs:shop/none',
    `operation:${foreign}`,
    'operation:op_none',
  ];
  const tail = await live(world, [...topics, 'project:shop'].join(), secret);
  const events = await tail.take(topics.length + 1);
  const problems = events.filter(({ event }) => event === 'problem');
  expect(problems.map(({ data }) => `${data.topic} ${data.error.code}`)).toEqual([
    'admin CAPABILITY_MISSING',
    ...topics.slice(1).map((topic) => `${topic} NOT_FOUND`),
  ]);
  const messages = problems.map(({ data }) => data.error.message.replaceAll(/"[^"]*"/g, '_'));
  expect(messages[1]).toBe(messages[2]);
  expect(messages[6]).toBe(messages[7]);
  expect(events.some(({ event }) => event === 'state')).toBe(true);

  const { secret: blind } = await world.mint(['deploy'], ['shop']);
  const [refused] = await (await live(world, 'projects', blind)).take(1);
  expect(refused?.data.error.code).toBe('CAPABILITY_MISSING');
});

test.each([
  ['', 'topics'],
  ['?topics=', 'topics'],
  ['?topics=everything', 'is no topic'],
  ['?topics=project:Shop', 'is no topic'],
  ['?topics=logs:shop', 'is no topic'],
  ['?topics=logs:shop/web/x', 'is no topic'],
  ['?topics=project:shop/web', 'is no topic'],
  ['?topics=operation:../x', 'is no topic'],
  ['?topics=events:shop@x', 'cursor'],
  ['?topics=events:shop@-1', 'cursor'],
  [`?topics=${Array.from({ length: 51 }, (_, n) => `project:p${n}`).join()}`, 'more than 50'],
])('%s is wrong input', async (query, said) => {
  const { status, body } = await furnish().call(`GET /v1/live${query}`);
  expect([status, body.code]).toEqual([400, 'INVALID_INPUT']);
  expect(`${body.message}`).toContain(said);
});

test('a token that is revoked ends the stream; nobody who has left is held', async () => {
  const world = furnish();
  const { id, secret } = await world.mint(['read'], ['shop']);
  const { operation_id: operation } = deploy(world);
  const tail = await live(
    world,
    `projects,operations,project:shop,events:shop,operation:${operation},logs:shop/web`,
    secret,
  );
  await tail.take(5);
  await world.call(`DELETE /v1/tokens/${id}`);
  await tail.rest();
  expect(world.rig.streams.size).toBe(0);
  deploy(world);
});
