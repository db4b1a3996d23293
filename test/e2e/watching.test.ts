import { afterAll, beforeAll, expect, test } from 'bun:test';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { readSse, type SseEvent, type SseTail } from '#test/modules/support/sse.ts';

let berth: Berth;
let cookie = '';

const PAGE = { 'sec-fetch-site': 'same-origin' };

const signIn = async (): Promise<Response> =>
  fetch(`${berth.url}/v1/session`, {
    method: 'POST',
    headers: { ...PAGE, 'x-berth-request': '1', 'content-type': 'application/json' },
    body: JSON.stringify({ token: berth.token }),
  });

const open = async (topics: string): Promise<SseTail> =>
  readSse(await fetch(`${berth.url}/v1/live?topics=${encodeURIComponent(topics)}`, { headers: { ...PAGE, cookie } }));

const until = async (tail: SseTail, wanted: (event: SseEvent) => boolean, withinMs = 30_000): Promise<SseEvent> => {
  for (;;) {
    const [event] = await tail.take(1, withinMs);
    if (event !== undefined && wanted(event)) return event;
  }
};

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
  const answer = await signIn();
  cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

test('a page sees a deploy from afar, its lines, and then what the service uses', async () => {
  const overview = await open('projects,operations');
  await until(overview, ({ event }) => event === 'ready');
  const accepted = await berth.upload('shop', 'web', helloApp('one'));
  const { operation_id: id } = accepted.body;
  const near = await open(`operation:${id},project:shop`);
  const lines: string[] = [];
  await until(near, ({ event, data }) => {
    if (event === 'lines') lines.push(...data.lines.map(({ line }: { line: string }) => line));
    return event === 'done';
  });
  expect(lines.length).toBeGreaterThan(0);
  const healthy = await until(overview, ({ data }) => data.project?.services?.[0]?.status === 'running');
  expect(healthy.data.project.services[0]).toMatchObject({ name: 'web', running_replicas: 1 });

  const usage = await open('usage:shop/web,logs:shop/web');
  await until(usage, ({ event }) => event === 'usage');
  const host = { host: `web--shop.localhost:${berth.ports.http}` };
  for (let i = 0; i < 50; i += 1) {
    const reply = await fetch(`http://127.0.0.1:${berth.ports.http}/`, { headers: host });
    expect(reply.status).toBe(200);
    await reply.text();
  }
  const busy = await until(usage, ({ data }) => data.point?.requests_per_second > 0);
  expect(busy.data.point.p95_ms).toBeGreaterThan(0);
  expect(busy.data.point.p95_ms).toBeLessThan(2500);
  expect(busy.data.point).toMatchObject({ error_rate: 0, replicas: 1, restarts: 0 });
  expect(busy.data.point.memory_bytes).toBeGreaterThan(100_000);
  expect(busy.data.replicas[0].point.memory_bytes).toBe(busy.data.point.memory_bytes);
  const { body } = await berth.api('/v1/projects/shop/services/web/usage');
  const requests = body.points.reduce(
    (sum: number, point: { requests_per_second: number }) => sum + point.requests_per_second,
    0,
  );
  expect(requests).toBeGreaterThan(0);
}, 120_000);

test('a server that is killed and comes back finds its page signed in, and nothing is missing', async () => {
  const first = await open('events:shop');
  const seen = (await first.take(3)).map(({ data }) => data.cursor);
  await berth.stop('SIGKILL');
  await first.rest(5000).catch(() => []);
  await berth.start();
  await berth.api('/v1/projects/shop/env', { method: 'PUT', body: { COLOUR: 'green' } });
  const second = await open(`events:shop@${seen.at(-1)}`);
  const rest: SseEvent[] = [];
  await until(second, (event) => {
    rest.push(event);
    return event.data.event.kind === 'env.changed';
  });
  const seqs = rest.map(({ data }) => Number(data.cursor));
  expect(seqs[0]).toBeGreaterThan(Number(seen.at(-1)));
  expect(new Set(seqs).size).toBe(seqs.length);
}, 120_000);
