import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { addProject, addService, finish, ctx } from '#test/modules/support/rig.ts';
import { readSse } from '#test/modules/support/sse.ts';
import { createWorld, type World } from './world.ts';

const until = async (what: () => boolean, withinMs = 3000): Promise<void> => {
  const deadline = performance.now() + withinMs;
  while (!what()) {
    if (performance.now() > deadline) throw new Error(`not in time: ${what.toString()}`);
    await Bun.sleep(5);
  }
};

const withProject = (): World => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  addService(world.rig, 'shop', 'web', { live_release: 'rel_1' });
  return world;
};

const emit = (world: World): void =>
  world.rig.events.emit({ project: 'shop', kind: 'env.changed', actor: 'someone', data: {} });

const EVENTS = '/v1/projects/shop/events';

test('a stream goes on over a real connection, and takes no part in the idle timeout of others', async () => {
  const world = withProject();
  const server = world.listen();
  const headers = { authorization: `Bearer ${world.admin}` };
  const response = await fetch(`${server.url}${EVENTS}?tail=0`, { headers });
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(response.headers.get('x-accel-buffering')).toBe('no');
  const tail = readSse(response);
  emit(world);
  const [event] = await tail.take(1);
  expect(event?.event).toBe('env.changed');
});

test('revoking a token ends its open streams at once, and no others', async () => {
  const world = withProject();
  const server = world.listen();
  const { id, secret } = await world.mint(['read'], ['shop']);
  const open = (token: string) =>
    fetch(`${server.url}${EVENTS}?tail=0`, { headers: { authorization: `Bearer ${token}` } });
  const doomed = readSse(await open(secret));
  const other = readSse(await open(world.admin));
  await until(() => world.rig.streams.size === 2);
  expect((await world.call(`DELETE /v1/tokens/${id}`)).status).toBe(200);
  expect(world.rig.streams.size).toBe(1);
  expect((await doomed.rest(2000)).map(({ event }) => event)).not.toContain('env.changed');
  emit(world);
  expect((await other.take(2)).map(({ event }) => event)).toContain('env.changed');
});

test('a stream ends when its token expires', async () => {
  const world = withProject();
  const { secret } = await world.mint(['read'], ['shop'], { expires_at: new Date(Date.now() + 300).toISOString() });
  const response = await world.fetch(world.request(`GET ${EVENTS}?tail=0`, { token: secret }));
  const begun = performance.now();
  expect(await readSse(response).rest(3000)).toEqual([]);
  expect(performance.now() - begun).toBeLessThan(1500);
  expect(world.rig.streams.size).toBe(0);
});

test('nothing is left of readers who vanish, cleanly or not', async () => {
  const world = withProject();
  const server = world.listen();
  const port = Number(new URL(server.url).port);
  const aborts = Array.from({ length: 20 }, () => new AbortController());
  const headers = { authorization: `Bearer ${world.admin}` };
  for (const abort of aborts) {
    await fetch(`${server.url}${EVENTS}`, { headers, signal: abort.signal });
  }
  const sockets = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.write(`GET ${EVENTS} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.admin}\r\n\r\n`);
  }
  await until(() => world.rig.streams.size === 40);
  for (const abort of aborts) abort.abort();
  for (const socket of sockets) socket.resetAndDestroy();
  await until(() => world.rig.streams.size === 0);
});

test('an operation can be followed from any event on, without a gap or a repetition', async () => {
  const world = withProject();
  const { operation_id: id } = world.rig.operations.enqueue(ctx(), {
    kind: 'restart',
    project: 'shop',
    service: 'web',
    input: {},
  });
  for (let i = 0; i < 500; i += 1) world.rig.journal.log(id, 'app', `line ${i}`);
  const follow = async (last?: string) =>
    readSse(
      await world.fetch(
        world.request(
          `GET /v1/operations/${id}/stream`,
          last === undefined ? {} : { headers: { 'last-event-id': last } },
        ),
      ),
    );
  const first = await follow();
  const early = await first.take(200);
  await first.cancel();
  const second = await follow(early.at(-1)?.id);
  world.rig.journal.log(id, 'app', 'live');
  world.rig.journal.done(id, { status: 'succeeded', error: null, result: null });
  finish(world.rig, id);
  const late = await second.rest();
  const ids = [...early, ...late].map((event) => Number(event.id));
  expect(ids).toEqual(Array.from({ length: ids.length }, (_, index) => index + 1));
  expect(late.at(-1)?.event).toBe('done');
  expect(late.at(-2)?.data.line).toBe('live');
});

test('every stream resumes from the query parameter last_event_id, as from the header', async () => {
  const world = withProject();
  for (let i = 0; i < 3; i += 1) emit(world);
  const [, second] = await readSse(await world.fetch(world.request(`GET ${EVENTS}?follow=false`))).rest();
  const path = `${EVENTS}?follow=false&last_event_id=${second?.id}`;
  expect((await readSse(await world.fetch(world.request(`GET ${path}`))).rest()).length).toBe(1);
  const logs = await world.fetch(world.request('GET /v1/projects/shop/services/web/logs?follow=false&last_event_id=1'));
  expect(logs.status).toBe(200);
  const bad = await world.call('GET /v1/projects/shop/services/web/logs?follow=false&last_event_id=x');
  expect(bad.body.message).toContain('Last-Event-ID');
});

test.each(['-1', 'x', '1.5', '99999999999999999999'])('Last-Event-ID %p is INVALID_INPUT', async (last) => {
  const world = withProject();
  const answer = await world.call(`GET ${EVENTS}`, { headers: { 'last-event-id': last } });
  expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_INPUT']);
});

test('stopping the server ends streams, and lets requests in flight finish', async () => {
  const world = withProject();
  const server = world.listen();
  const headers = { authorization: `Bearer ${world.admin}`, 'content-type': 'application/gzip' };
  const stream = readSse(await fetch(`${server.url}${EVENTS}?tail=0`, { headers }));
  let push: ReadableStreamDefaultController<Uint8Array> | undefined;
  const body = new ReadableStream<Uint8Array>({ start: (controller) => void (push = controller) });
  const upload = fetch(`${server.url}/v1/projects/shop/services/web/deploys`, { method: 'POST', headers, body });
  push?.enqueue(new Uint8Array([31, 139]));
  await Bun.sleep(100);
  const stopped = server.stop(3000);
  expect(await stream.rest(2000)).toEqual([]);
  push?.enqueue(new Uint8Array([8]));
  push?.close();
  const reply = await upload;
  expect(reply.status).toBe(202);
  await reply.text();
  await stopped;
  expect(world.deploys).toEqual([{ key: '', bytes: 3 }]);
  expect(
    await fetch(`${server.url}/v1/health`).then(
      (answer) => answer.status,
      () => 'closed',
    ),
  ).toBe('closed');
});

test('an upload may be far larger than a JSON body, and a JSON body on the wire may not', async () => {
  const world = withProject();
  const server = world.listen();
  const headers = { authorization: `Bearer ${world.admin}`, 'content-type': 'application/gzip' };
  const big = new Uint8Array(20_000_000);
  const upload = await fetch(`${server.url}/v1/projects/shop/services/web/deploys`, {
    method: 'POST',
    headers,
    body: big,
  });
  expect(upload.status).toBe(202);
  const json = { ...headers, 'content-type': 'application/json' };
  const refused = await fetch(`${server.url}/v1/projects`, { method: 'POST', headers: json, body: big });
  expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([413, 'INVALID_INPUT']);
});
