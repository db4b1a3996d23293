import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { connect } from 'node:http2';
import { join } from 'node:path';
import type { Operation } from '#modules/operations';
import { nodeApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { untilReplicas } from '#test/support/replicas.ts';
import { Scope } from '../../scripts/bench/kit/scope.ts';
import { startWorker } from '../../scripts/bench/kit/worker.ts';
import type { TrafficOptions, TrafficResult } from '../../scripts/bench/processes/traffic.ts';

const DEPLOYS = 10;
const APP = join(import.meta.dir, '../../scripts/bench/apps/traffic');

let berth: Berth;
const scope = new Scope();

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
  expect(await berth.deploy('shop', 'busy', busyApp(0))).toMatchObject({ status: 'succeeded' });
}, 120_000);

afterAll(async () => {
  await scope.close();
  await berth.destroy();
}, 60_000);

/** Answers its version at once, or after 5 s at /slow; sends WebSocket messages back. */
const busyApp = (version: number): Record<string, string> => {
  const read = (name: string): string => readFileSync(join(APP, name), 'utf8');
  return {
    Dockerfile: read('Dockerfile'),
    'package.json': read('package.json'),
    'server.js': read('server.js').replace("'VERSION'", JSON.stringify(String(version))),
  };
};

/** Does `work` under 300 requests a second, 4 requests a second that take 5 s, and 20 WebSockets: none of them may fail. */
const underLoad = async (work: () => Promise<void>): Promise<TrafficResult> => {
  const options: TrafficOptions = {
    port: berth.ports.http,
    host: 'busy--shop.localhost',
    perSecond: 300,
    slowPerSecond: 4,
    sockets: 20,
  };
  const load = await startWorker<TrafficResult>(scope, 'traffic', options);
  await work();
  const result = await load.finish();
  expect(result.reasons).toEqual({});
  expect(result.failed).toBe(0);
  return result;
};

const change = async (path: string, method: string, body?: unknown): Promise<Operation> => {
  const reply = await berth.api(`/v1/projects/shop/services/${path}`, { method, body });
  expect(reply.status).toBe(202);
  return berth.wait(reply.body.operation_id);
};

describe('under 300 requests a second, with 5 s requests and WebSockets in flight, nothing fails', () => {
  test(`through ${DEPLOYS} deploys`, async () => {
    const seen = await underLoad(async () => {
      for (let version = 1; version <= DEPLOYS; version += 1) {
        expect(await berth.deploy('shop', 'busy', busyApp(version))).toMatchObject({ status: 'succeeded' });
        expect(await berth.appText('shop', 'busy')).toBe(String(version));
      }
      await untilReplicas(berth, { project: 'shop', service: 'busy', count: 1 });
    });
    expect(seen.ok).toBeGreaterThan(2000);
    expect(seen.slowOk).toBeGreaterThan(20);
    expect(seen.messages).toBeGreaterThan(100);
    // Their replicas ended, and said so to them.
    expect(seen.closedWell).toBeGreaterThanOrEqual(20);
  }, 180_000);

  test('through scaling up and down, a rollback and a restart', async () => {
    await underLoad(async () => {
      expect(await change('busy', 'PATCH', { replicas: 3 })).toMatchObject({ status: 'succeeded' });
      expect(await change('busy/rollback', 'POST')).toMatchObject({ status: 'succeeded' });
      expect(await berth.appText('shop', 'busy')).toBe(String(DEPLOYS - 1));
      expect(await change('busy/restart', 'POST')).toMatchObject({ status: 'succeeded' });
      expect(await change('busy', 'PATCH', { replicas: 1 })).toMatchObject({ status: 'succeeded' });
      await untilReplicas(berth, { project: 'shop', service: 'busy', count: 1 });
    });
  }, 180_000);

  test('through a deploy that is rolled back', async () => {
    const broken = { ...busyApp(99), 'server.js': "console.error('broken'); process.exit(1);" };
    const seen = await underLoad(async () => {
      expect(await berth.deploy('shop', 'busy', broken)).toMatchObject({ status: 'failed', phase: 'rolled_back' });
    });
    expect(seen.closedWell).toBe(0);
    expect(await berth.appText('shop', 'busy')).toBe(String(DEPLOYS - 1));
  }, 120_000);
});

describe('through the proxy', () => {
  test('server-sent events arrive as they are written', async () => {
    const app = nodeApp(`(request, response) => {
      if (request.url === '/go') { globalThis.reader.end('data: two\\n\\n'); return response.end(); }
      globalThis.reader = response;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\\n\\n');
    }`);
    expect(await berth.deploy('shop', 'events', app)).toMatchObject({ status: 'succeeded' });
    const response = await berth.app('shop', 'events', '/stream');
    const reader = (response.body ?? expect.unreachable()).pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe('data: one\n\n');
    // Only now does the app write the rest: a proxy that waited for it would have shown nothing so far.
    await berth.app('shop', 'events', '/go');
    expect((await reader.read()).value).toBe('data: two\n\n');
    expect((await reader.read()).done).toBe(true);
  }, 60_000);

  test('a service set to h2c gets HTTP/2, with streams in both directions and trailers', async () => {
    const app = {
      ...nodeApp(''),
      'server.js': `
const server = require('node:http2').createServer();
server.on('stream', (stream, headers) => {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.write('hello ' + headers[':path'] + ';');
  stream.on('data', (chunk) => stream.write('got ' + chunk + ';'));
  stream.on('end', () => stream.end('bye'));
});
server.listen(process.env.PORT, '0.0.0.0');
process.on('SIGTERM', () => process.exit(0));
`,
    };
    expect(await berth.deploy('shop', 'rpc', app)).toMatchObject({ status: 'succeeded' });
    expect(await change('rpc', 'PATCH', { protocol: 'h2c' })).toMatchObject({ status: 'succeeded' });
    const talk = await talkHttp2('rpc--shop.localhost', '/shop.Rpc/Call', 'ping');
    expect(talk).toEqual({ status: 200, text: 'hello /shop.Rpc/Call;got ping;bye', grpcStatus: '0' });
  }, 60_000);
});

interface Talk {
  status: number;
  text: string;
  grpcStatus: unknown;
}

/** Opens a stream, waits for the server's first words, and only then says `message` and ends. */
const talkHttp2 = (host: string, path: string, message: string): Promise<Talk> =>
  new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${berth.ports.http}`);
    session.on('error', reject);
    const stream = session.request({ ':method': 'POST', ':path': path, ':authority': host, te: 'trailers' });
    const talk: Talk = { status: 0, text: '', grpcStatus: undefined };
    stream.on('error', reject);
    stream.on('response', (headers) => (talk.status = Number(headers[':status'])));
    stream.on('trailers', (headers) => (talk.grpcStatus = headers['grpc-status']));
    stream.once('data', () => stream.end(message));
    stream.on('data', (chunk: Buffer) => (talk.text += chunk.toString()));
    stream.on('end', () => {
      session.close();
      resolve(talk);
    });
  });
