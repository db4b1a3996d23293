import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { helloApp, nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { until } from '#test/support/until.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

interface Frame {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

const parseFrames = (text: string): Frame[] =>
  text
    .split('\n\n')
    .filter((block) => /^data:/m.test(block))
    .map((block) => ({
      id: Number(/^id: (.*)$/m.exec(block)?.[1]),
      event: /^event: (.*)$/m.exec(block)?.[1] ?? '',
      data: JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? '{}'),
    }));

/** Reads a stream until it ends or `enough`, then leaves. */
const read = async (
  path: string,
  after: number | undefined,
  enough: (frames: Frame[]) => boolean,
): Promise<Frame[]> => {
  const leave = new AbortController();
  const response = await fetch(`${berth.url}${path}`, {
    signal: leave.signal,
    headers: {
      authorization: `Bearer ${berth.token}`,
      ...(after === undefined ? {} : { 'last-event-id': String(after) }),
    },
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (enough(parseFrames(text.slice(0, text.lastIndexOf('\n\n') + 2)))) break;
  }
  leave.abort();
  return parseFrames(text.slice(0, text.lastIndexOf('\n\n') + 2));
};

const never = (): boolean => false;

describe('the stream of an operation', () => {
  test('cut again and again and resumed tells every event once, in order, up to done', async () => {
    const { body } = await berth.upload(
      'shop',
      'cut',
      {
        Dockerfile:
          'FROM node:24-slim\nWORKDIR /app\nCOPY . .\nRUN for n in $(seq 1 60); do echo "step $n"; sleep 0.02; done\nUSER node\nCMD ["node", "server.js"]\n',
        'server.js': helloApp('cut')['server.js'] ?? '',
      },
      '?no_cache=true',
    );
    const frames: Frame[] = [];
    while (frames.at(-1)?.event !== 'done') {
      const more = await read(body.stream_url, frames.at(-1)?.id, (seen) => seen.length >= 7);
      frames.push(...more);
    }
    expect(frames.map((frame) => frame.id)).toEqual(frames.map((_, index) => index + 1));
    const whole = await read(body.stream_url, undefined, never);
    expect(frames).toEqual(whole);
    expect(whole.filter((frame) => frame.event === 'log').map((frame) => frame.data.line)).toContain('step 60');
    const operation = (await berth.api(`/v1/operations/${body.operation_id}`)).body;
    expect(whole.at(-1)?.data).toEqual({ status: operation.status, error: operation.error, result: operation.result });
  }, 120_000);

  test('of a failed deploy carries the same error as the operation', async () => {
    const { body } = await berth.upload('shop', 'bad', { 'notes.txt': 'nothing to build' });
    const frames = await read(body.stream_url, undefined, never);
    const operation = (await berth.api(`/v1/operations/${body.operation_id}`)).body;
    expect(frames.at(-1)).toMatchObject({ event: 'done', data: { status: 'failed', error: operation.error } });
  }, 60_000);
});

test('the stream of a project tells what happens, with actor and time, and resumes where it was cut', async () => {
  const deploying = berth.deploy('shop', 'told', helloApp('told'));
  const first = await read('/v1/projects/shop/events?tail=0', undefined, (seen) =>
    seen.some((frame) => frame.event === 'deploy.queued'),
  );
  await deploying;
  const rest = await read('/v1/projects/shop/events', first.at(-1)?.id, (seen) =>
    seen.some((frame) => frame.event === 'deploy.succeeded'),
  );
  const ids = [...first, ...rest].map((frame) => frame.id);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  const succeeded = rest.find((frame) => frame.event === 'deploy.succeeded');
  expect(succeeded?.data).toMatchObject({
    kind: 'deploy.succeeded',
    project: 'shop',
    actor: 'admin',
    data: { service: 'told' },
  });
}, 120_000);

test('a followed log goes on over a deploy, and a resumed one misses nothing and repeats nothing', async () => {
  const app = (version: string): Record<string, string> =>
    nodeApp(`(request, response) => { console.log('${version} ' + request.url); response.end('ok'); }`);
  await berth.deploy('shop', 'talk', app('one'));
  const logs = '/v1/projects/shop/services/talk/logs';
  const lines = (frames: Frame[]): string[] =>
    frames.map((frame) => String(frame.data.line)).filter((line) => line.includes('/n'));
  const following = read(`${logs}?tail=0`, undefined, (seen) => lines(seen).length >= 3);
  await Bun.sleep(200);
  for (const n of [1, 2, 3]) await berth.appText('shop', 'talk', `/n${n}`);
  const first = await following;
  expect(lines(first)).toEqual(['one /n1', 'one /n2', 'one /n3']);
  await berth.deploy('shop', 'talk', app('two'));
  for (const n of [4, 5]) await berth.appText('shop', 'talk', `/n${n}`);
  const rest = await read(logs, first.at(-1)?.id, (seen) => lines(seen).length >= 2);
  expect(lines(rest)).toEqual(['two /n4', 'two /n5']);
}, 120_000);

test('20 deploys leave the server with the descriptors and memory that it had', async () => {
  const descriptors = (): number => readdirSync(`/proc/${berth.pid}/fd`).length;
  for (let n = 0; n < 3; n += 1) await berth.deploy('shop', 'many', helloApp(`warm ${n}`));
  const before = descriptors();
  for (let n = 0; n < 20; n += 1)
    expect((await berth.deploy('shop', 'many', helloApp(`v${n}`))).status).toBe('succeeded');
  await until(() => descriptors() <= before + 5);
  const releases = (await berth.api('/v1/projects/shop/services/many/releases')).body.releases;
  await until(async () => (await berth.api('/v1/projects/shop/services/many/releases')).body.releases.length <= 10);
  expect(releases[0].live).toBe(true);
}, 180_000);
