import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHmac } from 'node:crypto';
import type { Repo } from '#modules/repos';
import { Berth } from '#test/support/berth.ts';
import { until } from '#test/support/until.ts';
import { createRepo, eventsOf, newToken } from './kit.ts';

// The repository elsewhere is one of this same server: it asks for a password, as private ones do.
let berth: Berth;
const REPOS = '/v1/projects/shop/repos';
const SECRET = 'the other side knows it too';

const commit = async (repo: string, text: string): Promise<string> => {
  const files = [{ path: 'Dockerfile', content: `FROM scratch\n# ${text}\n` }];
  const reply = await berth.api(`${REPOS}/${repo}/commits`, { method: 'POST', body: { message: text, files } });
  expect(reply.status).toBe(201);
  return reply.body.commit.id;
};
const headOf = async (repo: string): Promise<string | null> => {
  const { body } = await berth.api(`${REPOS}/${repo}/refs`);
  return body.refs?.[0]?.commit ?? null;
};
const mirror = async (): Promise<Repo> => (await berth.api(`${REPOS}/copy`)).body;

beforeAll(async () => {
  berth = await Berth.boot(['--mirror-allow', '127.0.0.1', '--mirror-poll-seconds', '3600']);
  await berth.api('/v1/projects', { method: 'POST', body: { name: 'shop' } });
});
afterAll(() => berth.destroy());

describe('a mirror', () => {
  test('copies a private repository, and takes over its default branch', async () => {
    await createRepo(berth, 'shop', { name: 'origin', default_branch: 'trunk' });
    const first = await commit('origin', 'one');
    const { secret } = await newToken(berth, ['shop']);
    await createRepo(berth, 'shop', {
      name: 'copy',
      mirror_of: `${berth.url}/git/shop/origin.git`,
      mirror_credential: { user: 'x', password: secret },
      webhook_secret: SECRET,
    });
    await until(async () => (await headOf('copy')) === first);
    await until(async () => (await mirror()).mirrored_at !== null);
    expect(await mirror()).toMatchObject({ default_branch: 'trunk', mirror_error: null, empty: false });
    expect((await eventsOf(berth, 'shop', 'repo.mirrored')).at(-1)).toMatchObject({ actor: 'berth' });
  });

  const send = (body: string, headers: Record<string, string>): Promise<Response> =>
    mirror().then(({ webhook_url: url }) =>
      fetch(url ?? '', { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } }),
    );
  const signed = (body: string, secret = SECRET): Record<string, string> => ({
    'x-github-event': 'push',
    'x-github-delivery': crypto.randomUUID(),
    'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  });

  test('is fetched at once when a signed webhook comes, and not when it comes again', async () => {
    const second = await commit('origin', 'two');
    const body = JSON.stringify({ ref: 'refs/heads/trunk', after: second });
    const headers = signed(body);
    const taken = await send(body, headers);
    expect(taken.status).toBe(202);
    expect(await taken.json()).toEqual({ taken: true });
    await until(async () => (await headOf('copy')) === second);
    expect(await (await send(body, headers)).json()).toEqual({ taken: false });
  });

  test('takes no webhook with a wrong signature', async () => {
    const body = JSON.stringify({ ref: 'refs/heads/trunk' });
    const reply = await send(body, signed(body, 'another secret'));
    expect(reply.status).toBe(401);
    expect(await reply.json()).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  test('takes no pushes and no commits of its own', async () => {
    const files = [{ path: 'a', content: 'b' }];
    const reply = await berth.api(`${REPOS}/copy/commits`, { method: 'POST', body: { message: 'x', files } });
    expect(reply.body).toMatchObject({ code: 'CONFLICT', hint: expect.stringContaining('mirror_of') });
  });

  test('says why it cannot be fetched, and keeps what it has', async () => {
    const before = await headOf('copy');
    const mirrorOf = `${berth.url}/git/shop/nothing.git`;
    await berth.api(`${REPOS}/copy`, { method: 'PATCH', body: { mirror_of: mirrorOf } });
    await until(async () => (await mirror()).mirror_error !== null);
    expect((await mirror()).mirror_error).toMatchObject({ code: 'NOT_FOUND' });
    expect(await headOf('copy')).toBe(before);
    expect(await eventsOf(berth, 'shop', 'repo.mirror_failed')).toHaveLength(1);
  });

  test.each([
    'http://169.254.169.254/a.git',
    'http://localhost:2375/a.git',
    'https://10.0.0.1/a.git',
    'file:///etc',
    'ext::sh -c id',
    'https://user:password@git.example.com/a.git',
  ])('of %s is refused', async (url) => {
    const reply = await berth.api(REPOS, { method: 'POST', body: { name: 'bad', mirror_of: url } });
    expect(reply.body).toMatchObject({ code: 'INVALID_INPUT' });
    expect((await berth.api(`${REPOS}/bad`)).status).toBe(404);
  });
});
