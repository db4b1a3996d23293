import { expect, test } from 'bun:test';
import type { Operation } from '#modules/operations';
import type { ProjectSummary } from '#modules/live';
import { withEvents } from '../../web/data/follow.ts';
import { stagesOf } from '../../web/deploys/timeline.tsx';
import { safePath } from '../../web/session/session.ts';
import { createSseParser, type SseEvent } from '../../web/sse.ts';
import { nameFault, nameFrom } from '../../web/start/names.ts';
import { packFiles, startsAsProgram } from '../../web/start/pack.ts';
import { sourceFile, treeOf } from '../../web/start/source.ts';
import { parseAnsi, stripAnsi } from '../../web/ui/ansi.ts';
import { ago, bytes, duration } from '../../web/ui/format.ts';

test('colours of a terminal become looks, markup stays text, and other sequences are dropped', () => {
  expect(parseAnsi('\u001B[1;32mok\u001B[0m <b>')).toEqual([
    { text: 'ok', look: 'ansi-green ansi-bold' },
    { text: ' <b>', look: '' },
  ]);
  expect(parseAnsi('\u001B[38;5;9mred\u001B[39m\u001B[2K')).toEqual([{ text: 'red', look: 'ansi-red' }]);
  expect(parseAnsi('\u001B[38;2;1;2;3mrgb\u001B[0m')).toEqual([{ text: 'rgb', look: '' }]);
  expect(stripAnsi('\u001B]0;title\u0007a\u001B[31mb')).toBe('ab');
});

test('server-sent events are taken apart wherever the network cuts them', () => {
  const events: SseEvent[] = [];
  const parse = createSseParser((event) => events.push(event));
  for (const part of ['id: 1\nev', 'ent: log\nda', 'ta: {"a":1}\n', '\n: beat\n\ndata: two\r\n', '\r\n']) parse(part);
  expect(events).toEqual([
    { id: '1', event: 'log', data: '{"a":1}' },
    { id: '1', event: 'message', data: 'two' },
  ]);
});

test('names are made of what folders are called', () => {
  expect(nameFrom('My Café (2)', 'app')).toBe('my-cafe-2');
  expect(nameFrom('2024', 'app')).toBe('app');
  expect(nameFault(nameFrom('x'.repeat(29) + '--y', 'app'))).toBeUndefined();
  expect(nameFault('-a')).toBeDefined();
});

test('sizes, durations and distances of time', () => {
  expect([bytes(0), bytes(1536), bytes(512 * 1024 * 1024)]).toEqual(['0 B', '1.5 KB', '512 MB']);
  expect([duration(340), duration(4200), duration(80_000), duration(7_500_000)]).toEqual([
    '340 ms',
    '4.2 s',
    '1 min 20 s',
    '2 h 5 min',
  ]);
  expect([ago(0, 3000), ago(0, 90_000), ago(7_200_000, 0)]).toEqual(['just now', '2 min ago', 'in 2 h']);
  expect([ago(2000, 0), ago(8000, 0)]).toEqual(['just now', 'in a moment']);
});

test('after signing in one comes back to this page only', () => {
  expect(safePath('/p/shop?x=1#L2')).toBe('/p/shop?x=1#L2');
  for (const path of [null, 'https://evil.example', '//evil.example', '/\\evil.example', '/sign-in?next=/'])
    expect(safePath(path)).toBe('/');
});

test('a source is packed as the server reads it, with programs marked as such', async () => {
  expect(startsAsProgram(new TextEncoder().encode('#!/b'))).toBe(true);
  expect(startsAsProgram(new Uint8Array())).toBe(false);
  let told = 0;
  const tree = treeOf(
    'app',
    [
      sourceFile('a.txt', new File(['hello'], 'a.txt')),
      sourceFile(`${'deep/'.repeat(40)}run.sh`, new File(['#!/bin/sh\n'], 'run.sh')),
    ],
    0,
  );
  const { signal } = new AbortController();
  const archive = await packFiles(tree.read(signal), (count) => (told += count), signal);
  const child = Bun.spawn(['tar', '-tvzf', '-'], { stdin: archive, stdout: 'pipe' });
  const list = await new Response(child.stdout).text();
  expect(told).toBe(15);
  expect(list).toMatch(/-rw-r--r-- .* 5 .* a\.txt/);
  expect(list).toMatch(/-rwxr-xr-x .* 10 .* deep\/.*run\.sh/);
});

test('phases become stages with their durations; the one that failed is marked, what is to come is shown', () => {
  const phase = (seq: number, name: Operation['phase'], seconds: number) => ({
    seq,
    phase: name,
    ts: new Date(seconds * 1000).toISOString(),
    message: '',
  });
  const running = { kind: 'deploy', finished_at: null } as Operation;
  expect(
    stagesOf(running, [phase(1, 'queued', 0), phase(2, 'building', 1)], 5000).map(({ phase, tone, ms }) => [
      phase,
      tone,
      ms,
    ]),
  ).toEqual([
    ['queued', 'ok', 1000],
    ['building', 'busy', 4000],
    ['pushing', 'none', undefined],
    ['rolling_out', 'none', undefined],
    ['healthy', 'none', undefined],
  ]);
  const failed = { kind: 'deploy', finished_at: new Date(3000).toISOString() } as Operation;
  expect(stagesOf(failed, [phase(1, 'building', 0), phase(2, 'failed', 3)], 9000).map(({ tone }) => tone)).toEqual([
    'bad',
    'bad',
  ]);
});

test('projects come, change and go by events', () => {
  const project = (name: string, state: 'active' | 'deleting' = 'active') => ({ name, state }) as ProjectSummary;
  const at = { topic: 'projects', cursor: null };
  const projects = withEvents(
    [project('b')],
    [
      { ...at, kind: 'project', project: project('a') },
      { ...at, kind: 'project', project: project('b', 'deleting') },
      { ...at, kind: 'project', project: project('c') },
      { ...at, kind: 'gone', name: 'c' },
    ],
  );
  expect(projects.map(({ name, state }) => [name, state])).toEqual([
    ['a', 'active'],
    ['b', 'deleting'],
  ]);
});
