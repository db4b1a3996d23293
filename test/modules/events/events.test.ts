import { describe, expect, test } from 'bun:test';
import { addProject, addToken, call, createRig, request, type Rig } from '../support/rig.ts';
import { readSse } from '../support/sse.ts';

const setUp = (): Rig => {
  const rig = createRig();
  addProject(rig, 'shop');
  return rig;
};
const emit = (rig: Rig, count = 1, project = 'shop'): void => {
  for (let i = 0; i < count; i += 1) rig.events.emit({ project, kind: 'env.changed', actor: 'me', data: { i } });
};
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('events', () => {
  test('listeners are told after the commit, once for a transaction', async () => {
    const rig = setUp();
    const seen: number[] = [];
    rig.events.subscribe('shop', () => seen.push(rig.events.recent('shop', 10).length));
    rig.db.transaction(() => {
      emit(rig, 3);
      expect(seen).toEqual([]);
    })();
    expect(seen).toEqual([]);
    await tick();
    expect(seen).toEqual([3]);
  });

  test('nobody is told of what was rolled back', async () => {
    const rig = setUp();
    let woken = 0;
    rig.events.subscribe('shop', () => {
      woken += 1;
    });
    expect(() =>
      rig.db.transaction(() => {
        emit(rig);
        throw new Error('no');
      })(),
    ).toThrow('no');
    await tick();
    expect(woken).toBe(0);
    emit(rig);
    await tick();
    expect(woken).toBe(1);
    expect(rig.events.recent('shop', 10)).toHaveLength(1);
  });

  test('a transaction that stays open over a turn is waited for', async () => {
    const rig = setUp();
    let woken = 0;
    rig.events.subscribe('shop', () => {
      woken += 1;
    });
    rig.db.run('BEGIN');
    emit(rig);
    await tick();
    expect(woken).toBe(0);
    rig.db.run('COMMIT');
    await tick();
    expect(woken).toBe(1);
  });

  test('a project keeps its newest events only, and others lose none', () => {
    const rig = setUp();
    addProject(rig, 'other');
    emit(rig, 1, 'other');
    rig.db.transaction(() => emit(rig, 5300))();
    const kept = rig.events.after('shop', 0, 10_000);
    expect(kept.length).toBeGreaterThanOrEqual(5000);
    expect(kept.length).toBeLessThan(5100);
    expect(kept.at(-1)?.data).toEqual({ i: 5299 });
    expect(rig.events.recent('other', 10)).toHaveLength(1);
  });
});

test('security: many queries do not push what else happened out of the history', () => {
  const rig = setUp();
  emit(rig);
  rig.db.transaction(() => {
    for (let i = 0; i < 10_200; i += 1)
      rig.events.emit({ project: 'shop', kind: 'query.executed', actor: 'reader', data: {} });
  })();
  const kinds = rig.events.after('shop', 0, 20_000).map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === 'env.changed')).toHaveLength(1);
  expect(kinds.length).toBeLessThan(10_110);
});

describe('streamEvents', () => {
  test('replays the newest 50, then follows; the kind is the event, seq the id', async () => {
    const rig = setUp();
    emit(rig, 60);
    const stream = readSse(await request(rig, 'GET /v1/projects/shop/events'));
    const replay = await stream.take(50);
    expect(replay[0]).toMatchObject({
      id: '11',
      event: 'env.changed',
      data: { seq: 11, kind: 'env.changed', actor: 'me', data: { i: 10 } },
    });
    emit(rig, 2);
    expect((await stream.take(2)).map((event) => event.id)).toEqual(['61', '62']);
  });

  test('Last-Event-ID, tail, since and follow=false choose what comes', async () => {
    const rig = setUp();
    emit(rig, 5);
    const ids = async (query: string, headers: Record<string, string> = {}) =>
      (await readSse(await request(rig, `GET /v1/projects/shop/events?follow=false${query}`, { headers })).rest()).map(
        (event) => Number(event.id),
      );
    expect(await ids('')).toEqual([1, 2, 3, 4, 5]);
    expect(await ids('&tail=2')).toEqual([4, 5]);
    expect(await ids('&tail=0')).toEqual([]);
    expect(await ids('', { 'last-event-id': '3' })).toEqual([4, 5]);
    expect(await ids('&since=1h')).toEqual([1, 2, 3, 4, 5]);
    rig.db.run('UPDATE events SET ts = ts - 7200000 WHERE seq <= 3');
    expect(await ids('&since=1h')).toEqual([4, 5]);
    expect((await call(rig, 'GET /v1/projects/shop/events?since=soon')).body.code).toBe('INVALID_INPUT');
    expect((await call(rig, 'GET /v1/projects/shop/events?tail=x')).body.code).toBe('INVALID_INPUT');
  });

  test('what happens while a long history is replayed comes too, once and in order', async () => {
    const rig = setUp();
    emit(rig, 1000);
    const stream = readSse(await request(rig, 'GET /v1/projects/shop/events?tail=1000'));
    await stream.take(10);
    rig.db.transaction(() => emit(rig, 500))();
    const ids = [...(await stream.take(1490))].map((event) => Number(event.id));
    expect(ids).toEqual(Array.from({ length: 1490 }, (_, i) => i + 11));
  });

  test('events of other projects do not leak in', async () => {
    const rig = setUp();
    addProject(rig, 'other');
    addToken(rig, 'limited', ['read'], ['shop']);
    const stream = readSse(await request(rig, 'GET /v1/projects/shop/events', { token: 'limited' }));
    emit(rig, 1, 'other');
    emit(rig);
    expect(await stream.take(1)).toMatchObject([{ data: { project: 'shop' } }]);
  });
});
