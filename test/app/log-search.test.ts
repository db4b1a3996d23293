import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProject, addService } from '#test/modules/support/rig.ts';
import { createWorld } from './world.ts';

const TOTAL = 3000;

/** A stored log, a line a second; each tenth is an error of the second replica. */
const furnish = () => {
  const world = createWorld();
  addProject(world.rig, 'shop');
  addService(world.rig, 'shop', 'web', { live_release: 'rel_1' });
  const folder = join(world.rig.dataDir, 'logs', 'shop', 'web');
  mkdirSync(folder, { recursive: true });
  const lines = Array.from({ length: TOTAL }, (_, n) => {
    const failed = n % 10 === 9;
    return JSON.stringify({
      ts: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString().replace('Z', '000000Z'),
      replica: failed ? 'web-2' : 'web-1',
      release: 'rel_1',
      stream: failed ? 'stderr' : 'stdout',
      line: failed ? `\u001b[31mErr\u001b[0mor ${n}: "quoted" <b>` : `line ${n}`,
    });
  });
  writeFileSync(join(folder, '000000000001.jsonl'), `{"cursors":{}}\n${lines.join('\n')}\n`);
  const search = (query: string) => world.call(`GET /v1/projects/shop/services/web/logs/search${query}`);
  return { world, search };
};

const numbers = (body: { lines: { line: string }[] }): number[] =>
  body.lines.map(({ line }) => Number(/ (\d+)/.exec(line)?.[1]));

test('lines are found by text in whatever case and across colours, newest first, page after page', async () => {
  const { search } = furnish();
  const first = (await search('?text=eRRoR&limit=100')).body;
  expect(numbers(first)[0]).toBe(2999);
  const found = numbers(first);
  let cursor = first.next_cursor;
  while (cursor !== null) {
    const { body } = await search(`?text=error&limit=100&cursor=${cursor}`);
    found.push(...numbers(body));
    cursor = body.next_cursor;
  }
  expect(found).toEqual(Array.from({ length: 300 }, (_, n) => 2999 - n * 10));
});

test('one reads on from a time, in order', async () => {
  const { search } = furnish();
  const jump = (await search('?since=2026-01-01T00:10:00Z&order=oldest&limit=3')).body;
  expect(numbers(jump)).toEqual([600, 601, 602]);
  const next = (await search(`?since=2026-01-01T00:10:00Z&order=oldest&limit=3&cursor=${jump.next_cursor}`)).body;
  expect(numbers(next)).toEqual([603, 604, 605]);
  const window = (await search('?since=2026-01-01T00:10:00Z&until=2026-01-01T00:10:02Z')).body;
  expect(numbers(window)).toEqual([601, 600]);
});

test('lines are found by replica and stream, and by what JSON escapes', async () => {
  const { search } = furnish();
  expect(numbers((await search('?replica=web-2&limit=2')).body)).toEqual([2999, 2989]);
  expect(numbers((await search('?stream=stderr&limit=1')).body)).toEqual([2999]);
  const { body } = await search(`?text=${encodeURIComponent('"QUOTED" <b>')}&limit=1`);
  expect(body.lines[0]).toMatchObject({ replica: 'web-2', seq: TOTAL });
  expect(body.lines[0].line).toEndWith('or 2999: "quoted" <b>');
  expect((await search('?text=nothing+like+it')).body).toEqual({ lines: [], next_cursor: null });
});

test('the log is downloaded as text, whole or what matches', async () => {
  const { world } = furnish();
  const path = 'GET /v1/projects/shop/services/web/logs/download';
  const whole = await world.call(path);
  expect(whole.headers.get('content-disposition')).toBe('attachment; filename="shop-web.log"');
  expect(whole.text.split('\n')).toHaveLength(TOTAL + 1);
  const part = await world.call(`${path}?text=error&until=2026-01-01T00:00:30Z`);
  expect(part.text.trimEnd().split('\n')).toHaveLength(3);
  expect(part.text).toStartWith('2026-01-01T00:00:09.000000000Z web-2 stderr Error 9: ');
});

test.each(['?text=', '?order=random', '?stream=stdin', '?since=x', '?until=y', '?limit=0', '?cursor=bm9uc2Vuc2U'])(
  '%s is wrong input',
  async (query) => {
    expect((await furnish().search(query)).body.code).toBe('INVALID_INPUT');
  },
);
