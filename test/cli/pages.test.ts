import { afterEach, beforeEach, expect, test } from 'bun:test';
import { ContractServer, json, type Seen } from './support/api.ts';
import { Home } from './support/cli.ts';

const TOTAL = 450;

let home: Home;
let api: ContractServer;
beforeEach(() => {
  home = new Home();
  api = new ContractServer().on('GET /v1/projects', page);
});
afterEach(async () => {
  await api.stop();
  home.remove();
});

/** Pages as the API makes them, of 450 projects. */
const page = ({ query }: Seen): Response => {
  const from = Number(query['cursor'] ?? 0);
  const to = Math.min(TOTAL, from + Number(query['limit'] ?? 50));
  const projects = Array.from({ length: to - from }, (_none, index) => ({
    name: `p${from + index}`,
    state: 'active',
    created_at: '2026-11-01T00:00:00.000Z',
    created_by: 'me',
  }));
  return json({ projects, next_cursor: to < TOTAL ? String(to) : null });
};

interface Listed {
  projects: { name: string }[];
  next_cursor: string | null;
}

const list = async (...flags: string[]): Promise<Listed> => {
  const ran = await home.run(['projects', 'ls', ...flags], {
    env: { SERVICE_ENDPOINT: api.url, SERVICE_TOKEN: 'brt_test' },
  });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ran.stdout) as Listed;
};

const asked = (): (string | undefined)[][] => api.seen.map(({ query }) => [query['limit'], query['cursor']]);

test('a list is one page, whose size is the server’s', async () => {
  const reply = await list();
  expect([reply.projects.length, reply.next_cursor]).toEqual([50, '50']);
  expect(asked()).toEqual([[undefined, undefined]]);
});

test('--all reads page after page, each thing once, in order', async () => {
  const reply = await list('--all');
  expect(reply.next_cursor).toBeNull();
  expect(reply.projects.map(({ name }) => name)).toEqual(Array.from({ length: TOTAL }, (_none, index) => `p${index}`));
  expect(asked()).toEqual([
    ['200', undefined],
    ['200', '200'],
    ['200', '400'],
  ]);
});

test('--limit takes as many pages as it needs, and says where the rest begins', async () => {
  const reply = await list('--limit', '230', '--cursor', '10');
  expect([reply.projects.length, reply.projects[0]?.name, reply.next_cursor]).toEqual([230, 'p10', '240']);
  expect(asked()).toEqual([
    ['200', '10'],
    ['30', '210'],
  ]);
});

test('a server that goes on with nothing does not keep the client', async () => {
  api.on('GET /v1/projects', json({ projects: [], next_cursor: 'again' }));
  expect((await list('--all')).projects).toEqual([]);
});

test('--all and --limit together are a usage error', async () => {
  const ran = await home.run(['projects', 'ls', '--all', '--limit', '3'], {
    env: { SERVICE_ENDPOINT: api.url, SERVICE_TOKEN: 'brt_test' },
  });
  expect(ran.code).toBe(2);
  expect(JSON.parse(ran.stderr)).toMatchObject({ message: '--all and --limit contradict each other' });
  expect(api.seen).toEqual([]);
});
