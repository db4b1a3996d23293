import { expect, test } from 'bun:test';
import { connect } from 'node:net';
import { ErrorBodySchema } from '#kernel/schema';
import { Value } from '@sinclair/typebox/value';
import { addProject } from '#test/modules/support/rig.ts';
import { createWorld, type Answer, type Ask } from './world.ts';

const BODY = { principal: 'ci', capabilities: ['read'], projects: ['shop'] };

/** Every refusal is the error object, exactly, and no fault of the server's. */
const expectInvalid = (answer: Answer, message: RegExp, status = 400): void => {
  expect(answer.text).toMatch(/^\{/);
  expect(Value.Check(ErrorBodySchema, answer.body)).toBe(true);
  expect(answer.body.code).toBe('INVALID_INPUT');
  expect(answer.body.message).toMatch(message);
  expect(answer.body.hint).not.toBe('');
  expect(answer.status).toBe(status);
  expect(answer.headers.get('content-type')).toStartWith('application/json');
};

const BODIES: [string, Ask, RegExp, number?][] = [
  ['malformed JSON', { body: '{"principal":' }, /not valid JSON/],
  ['an empty body', { body: '' }, /body must be an object/],
  ['a list', { body: '[]' }, /body must be an object/],
  ['a bare string', { body: '"x"' }, /body must be an object/],
  ['null', { body: 'null' }, /body must be an object/],
  ['no content type', { body: new Uint8Array([123, 125]), headers: { 'content-type': '' } }, /no content type/],
  [
    'a form',
    { body: 'principal=ci', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    /content type/,
  ],
  [
    'text that only looks like JSON',
    { body: '{}', headers: { 'content-type': 'text/plain; application/json' } },
    /content type/,
  ],
  [
    'compression',
    { body: Bun.gzipSync(new TextEncoder().encode('{}')), headers: { 'content-encoding': 'gzip' } },
    /content encoding "gzip" is not accepted/,
  ],
  ['invalid UTF-8', { body: new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]) }, /not valid UTF-8/],
  ['a NUL character', { body: { ...BODY, principal: 'a\0b' } }, /body\.principal contains a NUL/],
  ['__proto__', { body: '{"__proto__":{"admin":true},"principal":"ci"}' }, /__proto__/],
  ['__proto__ written with escapes', { body: String.raw`{"\u005f_proto__":{"admin":true}}` }, /__proto__/],
  ['__proto__ deep inside', { body: '{"principal":{"a":[{"__proto__":1}]}}' }, /__proto__/],
  ['a constructor key', { body: { ...BODY, constructor: { prototype: {} } } }, /body\.constructor is unknown/],
  ['deep nesting', { body: `${'{"a":'.repeat(40)}1${'}'.repeat(40)}` }, /nested deeper/],
  ['absurd nesting', { body: '['.repeat(1_000_000) }, /not valid JSON|nested deeper/],
  ['10 MB of JSON', { body: JSON.stringify({ principal: 'x'.repeat(10_000_000) }) }, /larger than 4 MiB/, 413],
  ['an unknown key', { body: { ...BODY, capabilites: [] } }, /body\.capabilites is unknown/],
  ['a wrong type', { body: { ...BODY, capabilities: 'read' } }, /body\.capabilities must be a list/],
  ['a wrong word', { body: { ...BODY, capabilities: ['reed'] } }, /body\.capabilities\[0\] must be one of "read"/],
  ['a missing field', { body: { principal: 'ci', projects: ['shop'] } }, /body\.capabilities is missing/],
  ['a bad name', { body: { ...BODY, projects: ['Shop; rm -rf /'] } }, /body\.projects\[0\] must be/],
  ['a time that is none', { body: { ...BODY, expires_at: 'tomorrow' } }, /body\.expires_at must be an RFC 3339 time/],
  ['a day that does not exist', { body: { ...BODY, expires_at: '2027-02-30T12:00:00Z' } }, /no time that exists/],
  ['a time that does not exist', { body: { ...BODY, expires_at: '2027-13-41T99:00:00Z' } }, /body\.expires_at/],
];

test.each(BODIES.map(([name, ...rest]) => [name, rest] as const))(
  'a body with %s is INVALID_INPUT',
  async (_name, [ask, message, status]) => {
    const world = createWorld();
    expectInvalid(await world.call('POST /v1/tokens', ask), message, status);
    expect(world.rig.faults).toEqual([]);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  },
);

test('a chunked body without a length is cut off at the limit', async () => {
  const world = createWorld();
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      sent += 65_536;
      controller.enqueue(new Uint8Array(65_536).fill(32));
    },
  });
  expectInvalid(await world.call('POST /v1/tokens', { body: endless }), /larger than 4 MiB/, 413);
  expect(sent).toBeLessThan(6_000_000);
});

test('unknown keys are answered with the valid ones', async () => {
  const { call } = createWorld();
  const { body } = await call('POST /v1/projects', { body: { name: 'shop', region: 'eu' } });
  expect(body).toEqual({
    code: 'INVALID_INPUT',
    message: 'body.region is unknown',
    hint: 'valid keys: name',
    retryable: false,
  });
});

test('the hint says what to send instead, in words', async () => {
  const world = createWorld();
  const hint = async (what: string, body: unknown): Promise<string> => (await world.call(what, { body })).body.hint;
  expect(await hint('POST /v1/projects', { name: 'A' })).toStartWith('set body.name to a string (a–z, digits');
  expect(await hint('POST /v1/tokens', { ...BODY, principal: '' })).toBe(
    'set body.principal to a string (1 to 100 printable ASCII characters, none of them a space at an end)',
  );
});

test('an upload that the client breaks off is no fault of the server', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  const port = Number(new URL(world.listen().url).port);
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `POST /v1/projects/shop/services/web/deploys HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.admin}\r\nContent-Length: 99\r\n\r\nhalf`,
  );
  await Bun.sleep(100);
  socket.destroy();
  await Bun.sleep(200);
  expect(world.deploys).toEqual([]);
  expect(world.rig.logged.filter((line) => line.includes('a request failed'))).toEqual([]);
});

test('values are never repeated in errors: they may be secrets', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  const { text, status } = await world.call('PUT /v1/projects/shop/env', { body: { 'BAD NAME': 'hunter2', GOOD: 17 } });
  expect(status).toBe(400);
  expect(text).not.toContain('hunter2');
});

const PATHS: [string, RegExp, number?][] = [
  ['GET /v1/projects?limit=0', /query\.limit must be a whole number from 1 to 200/],
  ['GET /v1/projects?limit=201', /query\.limit must be a whole number from 1 to 200/],
  ['GET /v1/projects?limit=1.5', /query\.limit must be a whole number/],
  ['GET /v1/projects?limit=ten', /query\.limit must be a whole number/],
  ['GET /v1/projects?limit=1&limit=2', /query\.limit is given twice/],
  ['GET /v1/projects?cursor=%00', /query\.cursor/],
  ['GET /v1/projects?cursor=abc$', /query\.cursor/],
  ['GET /v1/projects?colour=red', /query\.colour is unknown to listProjects/],
  ['GET /v1/projects?__proto__=1', /query\.__proto__ is unknown/],
  ['GET /v1/projects?dry_run=true', /knows no dry run/],
  ['POST /v1/projects?dry_run=maybe', /query\.dry_run must be true, false, 1 or 0/],
  ['POST /v1/projects?dry_run=true&dry_run=false', /query\.dry_run is given twice/],
  ['GET /v1/projects/Not-A-Name', /path\.project must be a string/],
  ['GET /v1/projects/%00', /path\.project must be a string/],
  ['GET /v1/projects/%ff', /path/],
  ['GET /v1/projects/a%2fb', /path\.project must be a string/],
  [`GET /v1/projects/${'x'.repeat(50)}`, /path\.project must be a string/],
  ['DELETE /v1/tokens/1%20OR%201=1', /path\.id must be/],
  ['PUT /v1/projects', /does not take PUT/, 405],
];

test.each(PATHS.map(([what, ...rest]) => [what, rest] as const))('%s is refused', async (what, [message, status]) => {
  const world = createWorld();
  expectInvalid(await world.call(what, what.startsWith('POST') ? { body: { name: 'shop' } } : {}), message, status);
  expect(world.rig.faults).toEqual([]);
});

test('a wrong method is told which ones there are', async () => {
  const { call } = createWorld();
  const wrong = await call('PATCH /v1/projects');
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
  const options = await call('OPTIONS /v1/projects');
  expect([options.status, options.text]).toEqual([204, '']);
  expect(options.headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
  expect((await call('OPTIONS /v1/projects', { token: null })).status).toBe(401);
});

test('HEAD is a GET without its body, and never opens a stream', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  const head = await world.call('HEAD /v1/projects/shop');
  expect([head.status, head.text]).toEqual([200, '']);
  expect(Number(head.headers.get('content-length'))).toBeGreaterThan(10);
  const stream = await world.call('HEAD /v1/projects/shop/events');
  expect(stream.status).toBe(405);
  expect(world.rig.streams.size).toBe(0);
});

test('unknown paths are 404 with the error object, under /v1 for token holders only', async () => {
  const { call, admin } = createWorld();
  for (const path of ['/v1/nope', '/v1', '/v1/projects/', '/v1/projects/shop/nope', '/v1//projects']) {
    expect((await call(`GET ${path}`, { token: null })).status).toBe(401);
    const answer = await call(`GET ${path}`, { token: admin });
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
  }
  for (const path of ['/nope', '/index.html', '/v2/projects', '/skill.md/', '/SKILL.md']) {
    const answer = await call(`GET ${path}`, { token: null });
    expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
  }
});

test('a host name cannot move the path that is checked', async () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  for (const host of ['x', 'a.b', 'localhost', 'a-rather-long-host-name.example.com']) {
    const response = await world.fetch(new Request(`http://${host}/v1/projects/shop`));
    expect(response.status).toBe(401);
    const headers = { authorization: `Bearer ${world.admin}` };
    expect((await world.fetch(new Request(`http://${host}/v1/projects/shop`, { headers }))).status).toBe(200);
  }
});

test.each([
  ['no Host header', 'HTTP/1.0\r\n'],
  ['a Host header that is no host', 'HTTP/1.1\r\nHost: a"$(b) c\r\n'],
])('a request with %s is INVALID_INPUT, whatever it asks for', async (_name, rest) => {
  const world = createWorld();
  const port = Number(new URL(world.listen().url).port);
  for (const line of ['GET /skill.md', 'GET /v1/health', 'DELETE /v1/projects/shop', 'GET /nope']) {
    const reply = await exchange(port, `${line} ${rest}Connection: close\r\n\r\n`);
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(reply).toContain('{"code":"INVALID_INPUT","message":"the Host header is missing or malformed"');
  }
  expect(world.rig.faults).toEqual([]);
});

/** Sends bytes as they are, and reads until the server closes. */
const exchange = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let reply = '';
    socket.on('data', (data) => {
      reply += String(data);
    });
    socket.on('end', () => resolve(reply));
    socket.on('error', reject);
  });

test('a fault of the server is logged with its request id, and told to nobody', async () => {
  const world = createWorld({ system: { runtime: { info: () => Promise.reject(new Error('x')) } } });
  world.rig.db.exec('DROP TABLE services');
  addProject(world.rig, 'shop');
  const answer = await world.call('GET /v1/projects/shop/services');
  expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([500, 'INTERNAL_ERROR', true]);
  expect(answer.text).not.toContain('services"');
  expect(answer.text).not.toContain('table');
  const logged = world.rig.logged.join('');
  expect(logged).toContain('no such table: services');
  expect(logged).toContain(answer.headers.get('x-request-id') ?? 'missing');
});

test('every reply carries a request id and forbids sniffing', async () => {
  const { call } = createWorld();
  const ids = new Set<string | null>();
  for (const what of ['GET /v1/projects', 'GET /v1/nope', 'POST /v1/tokens', 'GET /v1/docs', 'GET /skill.md']) {
    const { headers } = await call(what);
    ids.add(headers.get('x-request-id'));
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
  }
  expect(ids.size).toBe(5);
});
