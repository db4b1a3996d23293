import { expect, test } from 'bun:test';
import type { Event } from '#modules/events';
import { detailsOf, folded, nameOf, subjectOf, toneOf } from '../../web/events/kinds.ts';
import { fits, merge } from '../../web/events/use-events.ts';

const event = (seq: number): Event => ({
  id: `evt_${seq}`,
  seq,
  kind: 'deploy.succeeded',
  project: 'shop',
  ts: '2026-01-01T00:00:00Z',
  actor: 'admin',
  data: { service: 'web', operation_id: 'op_1', replicas: 2, names: ['A', 'B'], note: null },
});

test('runs of alike events are one, by the newest', () => {
  const query = (seq: number, actor = 'admin'): Event => ({ ...event(seq), kind: 'query.executed', actor });
  const runs = folded([event(9), query(8), query(7), query(6, 'ci'), query(5)]);
  expect(runs.map(({ event: { seq }, times }) => [seq, times])).toEqual([
    [9, 1],
    [8, 2],
    [6, 1],
    [5, 1],
  ]);
});

test('a token is told by whom it is for; its id is a detail', () => {
  const minted = { data: { token: 'tok_1', principal: 'ci', capabilities: ['read'] } };
  expect(subjectOf(minted)).toBe('ci');
  expect(detailsOf(minted)).toEqual([
    ['token', 'tok_1'],
    ['capabilities', 'read'],
  ]);
});

test('an event is told by its kind, its subject and what else it carries', () => {
  expect(nameOf('deploy.rolled_back')).toBe('Deploy rolled back');
  expect(subjectOf(event(1))).toBe('web');
  expect(detailsOf(event(1))).toEqual([
    ['replicas', '2'],
    ['names', 'A, B'],
  ]);
  expect([
    toneOf('replica.oom_killed'),
    toneOf('deploy.rolled_back'),
    toneOf('datastore.ready'),
    toneOf('env.changed'),
  ]).toEqual(['bad', 'warn', 'ok', 'idle']);
});

test('a filter takes a kind or its first part, and a whole actor', () => {
  const { kind, actor } = event(1);
  expect(fits({ kind, actor }, { kind: 'deploy', actor: '' })).toBe(true);
  expect(fits({ kind, actor }, { kind: 'dep', actor: '' })).toBe(false);
  expect(fits({ kind, actor }, { kind: 'deploy.succeeded', actor: 'admin' })).toBe(true);
  expect(fits({ kind, actor }, { kind: '', actor: 'adm' })).toBe(false);
});

test('events that come twice are shown once, newest first; live ones of the past that is not shown stay out', () => {
  const shown = merge([event(4), event(3)], [event(2), event(4), event(5)]);
  expect(shown.map(({ seq }) => seq)).toEqual([5, 4, 3]);
});
