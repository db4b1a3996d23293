import { describe, expect, test } from 'bun:test';
import { addProject, addService, addToken, call, createRig, ctx, finish, request, type Rig } from '../support/rig.ts';
import { readSse } from '../support/sse.ts';

const setUp = (): { rig: Rig; id: string } => {
  const rig = createRig();
  addProject(rig, 'shop');
  addService(rig, 'shop', 'web', { live_release: 'rel_1' });
  const { operation_id: id } = rig.operations.enqueue(ctx(), {
    kind: 'deploy',
    project: 'shop',
    service: 'web',
    input: {},
  });
  return { rig, id };
};

const end = (rig: Rig, id: string): void => {
  finish(rig, id);
  rig.journal.done(id, { status: 'succeeded', error: null, result: null });
};

describe('listOperations', () => {
  test('filters, pages newest first, and hides foreign projects', async () => {
    const { rig, id } = setUp();
    addProject(rig, 'other');
    addService(rig, 'other', 'api');
    const foreign = rig.operations.enqueue(ctx(), { kind: 'restart', project: 'other', service: 'api', input: {} });
    const ids = async (query: string, token = 'admin') =>
      (await call(rig, `GET /v1/operations${query}`, { token })).body.operations.map(
        (op: { operation_id: string }) => op.operation_id,
      );
    expect((await ids('')).sort()).toEqual([id, foreign.operation_id].sort());
    expect(await ids('?project=shop')).toEqual([id]);
    expect(await ids('?kind=restart')).toEqual([foreign.operation_id]);
    expect(await ids('?service=web&status=queued')).toEqual([id]);
    expect(await ids('?status=failed')).toEqual([]);
    addToken(rig, 'limited', ['read'], ['shop']);
    expect(await ids('', 'limited')).toEqual([id]);
    expect((await call(rig, 'GET /v1/operations?status=done')).body.code).toBe('INVALID_INPUT');
    const first = await call(rig, 'GET /v1/operations?limit=1');
    const second = await call(rig, `GET /v1/operations?limit=1&cursor=${first.body.next_cursor}`);
    expect([...first.body.operations, ...second.body.operations]).toHaveLength(2);
    expect(second.body.next_cursor).toBeNull();
  });
});

test('an operation of a foreign project answers as a missing one', async () => {
  const { rig, id } = setUp();
  addToken(rig, 'limited', ['read', 'deploy'], ['other']);
  for (const what of ['GET /v1/operations/ID', 'GET /v1/operations/ID/stream', 'POST /v1/operations/ID/cancel']) {
    const there = await call(rig, what.replace('ID', id), { token: 'limited' });
    const missing = await call(rig, what.replace('ID', 'op_nothing'), { token: 'limited' });
    expect(there.status).toBe(404);
    expect(JSON.stringify(there.body).replace(id, 'X')).toBe(JSON.stringify(missing.body).replace('op_nothing', 'X'));
  }
  expect((await call(rig, `GET /v1/operations/${id}`)).body).toMatchObject({
    operation_id: id,
    status: 'queued',
    phase: 'queued',
  });
});

describe('streamOperation', () => {
  test('replays from the start, follows, and closes after done', async () => {
    const { rig, id } = setUp();
    rig.journal.log(id, 'build', 'one');
    const stream = readSse(await request(rig, `GET /v1/operations/${id}/stream`));
    expect(await stream.take(2)).toMatchObject([
      { id: '1', event: 'phase', data: { seq: 1, phase: 'queued' } },
      { id: '2', event: 'log', data: { seq: 2, source: 'build', line: 'one' } },
    ]);
    rig.journal.phase(id, 'building', 'building');
    rig.journal.log(id, 'build', 'two');
    end(rig, id);
    expect(await stream.rest()).toMatchObject([
      { id: '3', event: 'phase', data: { phase: 'building' } },
      { id: '4', event: 'log', data: { line: 'two' } },
      { id: '5', event: 'done', data: { status: 'succeeded', error: null, result: null } },
    ]);
  });

  test('resumes after Last-Event-ID, and tells of the end again when that was the last', async () => {
    const { rig, id } = setUp();
    rig.journal.log(id, 'build', 'one');
    end(rig, id);
    const from = async (seq: string) =>
      (
        await readSse(
          await request(rig, `GET /v1/operations/${id}/stream`, { headers: { 'last-event-id': seq } }),
        ).rest()
      ).map((event) => event.event);
    expect(await from('0')).toEqual(['phase', 'log', 'done']);
    expect(await from('2')).toEqual(['done']);
    expect(await from('3')).toEqual(['done']);
    expect((await call(rig, `GET /v1/operations/${id}/stream`, { headers: { 'last-event-id': 'x' } })).body.code).toBe(
      'INVALID_INPUT',
    );
  });

  test('leaves the lines of the log out on demand, of the past and of what comes', async () => {
    const { rig, id } = setUp();
    rig.journal.log(id, 'build', 'one');
    rig.journal.phase(id, 'building', 'building');
    const stream = readSse(await request(rig, `GET /v1/operations/${id}/stream?logs=false`));
    expect(await stream.take(2)).toMatchObject([{ id: '1' }, { id: '3', data: { phase: 'building' } }]);
    rig.journal.log(id, 'build', 'two');
    end(rig, id);
    expect(await stream.rest()).toMatchObject([{ id: '5', event: 'done' }]);
  });

  test('says from its first event on that an operation waits, and for how many', async () => {
    const { rig, id } = setUp();
    const { project } = rig.operations.get(id) ?? { project: '' };
    const enqueue = (service: string | null) =>
      rig.operations.enqueue(ctx(), { kind: 'restart', project, service, input: {} }).operation_id;
    const message = (of: string) => rig.operations.eventsAfter(of, 0).map((event) => event.data);
    expect(message(id)).toMatchObject([{ phase: 'queued', message: 'accepted' }]);
    const other = enqueue('another');
    expect(message(other)).toMatchObject([{ seq: 1, phase: 'queued', message: 'accepted' }]);
    expect(message(enqueue(null))).toMatchObject([{ message: 'accepted; operations to wait for: 2' }]);
  });

  test('a reader that leaves is forgotten', async () => {
    const { rig, id } = setUp();
    const stream = readSse(await request(rig, `GET /v1/operations/${id}/stream`));
    rig.journal.log(id, 'build', 'one');
    await stream.take(2);
    expect(rig.streams.size).toBe(1);
    await stream.cancel();
    expect(rig.streams.size).toBe(0);
  });
});

describe('cancelOperation', () => {
  test('asks the runner to stop it; a finished one is CONFLICT', async () => {
    const { rig, id } = setUp();
    addToken(rig, 'reader', ['read']);
    expect((await call(rig, `POST /v1/operations/${id}/cancel`, { token: 'reader' })).status).toBe(403);
    expect((await call(rig, `POST /v1/operations/${id}/cancel?dry_run=true`, { token: 'reader' })).status).toBe(403);
    expect((await call(rig, `POST /v1/operations/${id}/cancel?dry_run=true`)).body.plan.changes).toEqual([
      { action: 'cancel', resource: 'operation', name: id },
    ]);
    expect(rig.operationStore.get(id)?.cancel_requested).toBe(0);
    expect((await call(rig, `POST /v1/operations/${id}/cancel`)).status).toBe(200);
    expect(rig.operationStore.get(id)?.cancel_requested).toBe(1);
    finish(rig, id);
    for (const query of ['', '?dry_run=true']) {
      expect(await call(rig, `POST /v1/operations/${id}/cancel${query}`)).toMatchObject({
        status: 409,
        body: { code: 'CONFLICT' },
      });
    }
  });
});
