import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot();
  await berth.project('shop');
  expect(await berth.deploy('shop', 'web', helloApp('hello'))).toMatchObject({ status: 'succeeded' });
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

describe('tokens', () => {
  test('that are revoked end the streams that they opened, and open nothing more', async () => {
    const body = { principal: 'reader', capabilities: ['read'], projects: ['shop'] };
    const token = (await berth.api('/v1/tokens', { method: 'POST', body })).body;
    const paths = ['/v1/projects/shop/events', '/v1/projects/shop/services/web/logs'];
    const streams = await Promise.all(
      paths.map((path) => fetch(`${berth.url}${path}`, { headers: { authorization: `Bearer ${token.secret}` } })),
    );
    const ends = streams.map(async (stream) => stream.text());
    expect((await berth.api(`/v1/tokens/${token.id}`, { method: 'DELETE' })).status).toBe(200);
    await Promise.race([
      Promise.all(ends),
      Bun.sleep(3000).then(() => Promise.reject(new Error('a stream is still open'))),
    ]);
    expect((await berth.api('/v1/projects/shop', { token: token.secret })).status).toBe(401);
  });

  test('cannot be guessed for long: the address is held back, whatever it says of itself, and right ones still pass', async () => {
    const guess = (n: number, url: string, headers: Record<string, string>): Promise<Response> =>
      fetch(`${url}/v1/projects`, {
        headers: {
          authorization: `Bearer brt_tok_${n}_${'x'.repeat(40)}`,
          'x-forwarded-for': `198.51.100.${n}`,
          ...headers,
        },
      });
    const proxy = `http://127.0.0.1:${berth.ports.http}`;
    const statuses: number[] = [];
    let held: Response | undefined;
    for (let n = 1; n <= 40; n += 1) {
      const reply =
        n % 2 === 0
          ? await guess(n, berth.url, { 'x-berth-proxy': 'guess' })
          : await guess(n, proxy, { host: 'localhost' });
      statuses.push(reply.status);
      if (reply.status === 429) held = reply;
    }
    const first429 = statuses.indexOf(429);
    // Other tests of this file have used up some guesses.
    expect(first429).toBeWithin(10, 21);
    expect(new Set(statuses.slice(0, first429))).toEqual(new Set([401]));
    expect(new Set(statuses.slice(first429))).toEqual(new Set([429]));
    expect(Number(held?.headers.get('retry-after'))).toBeWithin(1, 61);
    expect((await berth.api('/v1/projects')).status).toBe(200);
  });
});

test('two fresh installations share no secret, and nothing is claimable over the network', async () => {
  const other = await Berth.boot();
  try {
    expect(other.token).not.toBe(berth.token);
    expect((await other.api('/v1/projects', { token: berth.token })).status).toBe(401);
    for (const token of [null, ''])
      expect(
        (
          await other.api('/v1/tokens', {
            method: 'POST',
            token,
            body: { principal: 'me', capabilities: ['admin'], projects: ['*'] },
          })
        ).status,
      ).toBe(401);
    expect(secretsOf(other).filter((secret) => secretsOf(berth).includes(secret))).toEqual([]);
    expect(secretsOf(other).length).toBeGreaterThan(3);
  } finally {
    await other.destroy();
  }
}, 120_000);

/** Everything secret-looking that an installation keeps: long words of its key file, its proxy files and its database. */
const secretsOf = (installation: Berth): string[] => {
  const files = [
    ...readdirSync(installation.dataDir).filter((name) => /key|secret|token/.test(name)),
    ...readdirSync(join(installation.dataDir, 'proxy/dynamic'))
      .filter((name) => name.startsWith('_'))
      .map((name) => `proxy/dynamic/${name}`),
  ];
  const text = files
    .map((name) => readFileSync(join(installation.dataDir, name), 'latin1'))
    .join('\n')
    // The names in two self-signed certificates are the same.
    .replaceAll(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs, '');
  return [installation.instance(), ...(text.match(/[A-Za-z0-9+/_-]{32,}/g) ?? [])].filter(
    (word) => !/^[A-Za-z]+$/.test(word),
  );
};
