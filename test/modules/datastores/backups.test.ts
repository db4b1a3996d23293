import { describe, expect, test } from 'bun:test';
import { makeReady, verifyBackup } from '../support/datastores.ts';
import { addProject, addToken, call, createRig, type Rig } from '../support/rig.ts';

const BASE = '/v1/projects/shop/datastores';

const setUp = async (kind = 'postgres'): Promise<Rig> => {
  const rig = createRig();
  addProject(rig, 'shop');
  await call(rig, `POST ${BASE}`, { body: { kind } });
  makeReady(rig, kind);
  return rig;
};

const backUp = async (rig: Rig, name = 'postgres'): Promise<string> =>
  (await call(rig, `POST ${BASE}/${name}/backups`)).body.key;

describe('createBackup', () => {
  test('is accepted with the key of the backup to come', async () => {
    const rig = await setUp();
    const { status, body } = await call(rig, `POST ${BASE}/postgres/backups`);
    expect(status).toBe(202);
    expect(body).toMatchObject({ key: expect.stringMatching(/^bkp_/), operation_id: expect.stringMatching(/^op_/) });
    expect((await call(rig, `GET ${BASE}/postgres/backups`)).body.backups).toMatchObject([
      { key: body.key, status: 'running', cause: 'manual', verified_at: null, operation_id: body.operation_id },
    ]);
  });

  test('shows what a verified backup holds', async () => {
    const rig = await setUp();
    const key = await backUp(rig);
    verifyBackup(rig, key);
    expect((await call(rig, `GET ${BASE}/postgres/backups/${key}`)).body).toMatchObject({
      status: 'verified',
      rows: 2,
      objects: { 'public.a': 2 },
      bytes: 3,
      encrypted: false,
      places: ['disk'],
      expires_at: '1970-01-01T00:00:03.000Z',
    });
    expect((await call(rig, `GET ${BASE}/postgres`)).body.last_backup).toMatchObject({ key, status: 'verified' });
  });

  test('lists newest first, in pages', async () => {
    const rig = await setUp();
    const keys = [await backUp(rig), await backUp(rig), await backUp(rig)];
    const first = await call(rig, `GET ${BASE}/postgres/backups?limit=2`);
    expect(first.body.backups.map((backup: { key: string }) => backup.key)).toEqual([keys[2], keys[1]]);
    const second = await call(rig, `GET ${BASE}/postgres/backups?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ backups: [{ key: keys[0] }], next_cursor: null });
  });
});

describe('restoreBackup', () => {
  test('is accepted for a verified backup only', async () => {
    const rig = await setUp();
    const key = await backUp(rig);
    const early = await call(rig, `POST ${BASE}/postgres/restore`, { body: { key } });
    expect(early.body).toMatchObject({ code: 'CONFLICT', retryable: true });
    verifyBackup(rig, key);
    const { status, body } = await call(rig, `POST ${BASE}/postgres/restore`, { body: { key } });
    expect(status).toBe(202);
    expect(rig.operationStore.get(body.operation_id)?.input).toBe(JSON.stringify({ key, keep_hours: 24 }));
  });

  test('says what it would do', async () => {
    const rig = await setUp();
    const key = await backUp(rig);
    verifyBackup(rig, key);
    const { body } = await call(rig, `POST ${BASE}/postgres/restore?dry_run=true`, { body: { key, keep_hours: 2 } });
    expect(body.plan.summary).toContain('kept for 2 h');
  });

  test('is refused for redis, with what to do instead', async () => {
    const rig = await setUp('redis');
    const key = await backUp(rig, 'redis');
    verifyBackup(rig, key);
    const { status, body } = await call(rig, `POST ${BASE}/redis/restore`, { body: { key } });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'INVALID_INPUT', hint: expect.stringContaining('download') });
  });

  test('does not know a backup of another datastore', async () => {
    const rig = await setUp();
    await call(rig, `POST ${BASE}`, { body: { kind: 'postgres', name: 'other' } });
    makeReady(rig, 'other');
    const key = await backUp(rig, 'other');
    verifyBackup(rig, key);
    expect((await call(rig, `POST ${BASE}/postgres/restore`, { body: { key } })).body.code).toBe('NOT_FOUND');
  });

  test('cannot be undone when nothing was replaced', async () => {
    const rig = await setUp();
    expect((await call(rig, `POST ${BASE}/postgres/restore/undo`)).body.code).toBe('CONFLICT');
  });
});

describe('forkDatastore', () => {
  test('makes another datastore from the newest verified backup', async () => {
    const rig = await setUp();
    expect((await call(rig, `POST ${BASE}/postgres/fork`, { body: { name: 'copy' } })).body.code).toBe('CONFLICT');
    const key = await backUp(rig);
    verifyBackup(rig, key);
    await backUp(rig);
    const { status, body } = await call(rig, `POST ${BASE}/postgres/fork`, { body: { name: 'copy' } });
    expect(status).toBe(202);
    expect(body).toMatchObject({ name: 'copy', created: true, variables: expect.arrayContaining(['COPY_URL']) });
    expect(rig.operationStore.get(body.operation_id)?.input).toBe(JSON.stringify({ from: key }));
  });

  test('works for a datastore that is gone, from its last backup', async () => {
    const rig = await setUp();
    const key = await backUp(rig);
    verifyBackup(rig, key);
    rig.datastoreStore.remove(rig.datastores.requireRow({ project: 'shop', name: 'postgres' }).id);
    expect((await call(rig, `GET ${BASE}/postgres/backups`)).body.backups).toHaveLength(1);
    expect((await call(rig, `POST ${BASE}/postgres/fork`, { body: { name: 'copy', key } })).status).toBe(202);
  });
});

describe('forkDatastore onto a name that is taken', () => {
  const fork = (rig: Rig, body: Record<string, unknown>) => call(rig, `POST ${BASE}/postgres/fork`, { body });
  /** Does what the operation of a fork would do. */
  const finishFork = (rig: Rig, name: string, id: string, from: string): void => {
    makeReady(rig, name);
    rig.operationStore.finish(id, { status: 'succeeded', phase: 'ready', error: null, result: { from }, at: 1 });
  };

  test('by a fork of that backup is a request sent twice', async () => {
    const rig = await setUp();
    const first = await backUp(rig);
    verifyBackup(rig, first);
    const { body } = await fork(rig, { name: 'copy' });
    expect((await fork(rig, { name: 'copy' })).body).toMatchObject({ created: false, operation_id: body.operation_id });
    finishFork(rig, 'copy', body.operation_id, first);
    expect(await fork(rig, { name: 'copy', key: first })).toMatchObject({ status: 200, body: { created: false } });
    // Another one was verified meanwhile, and none is named.
    const second = await backUp(rig);
    verifyBackup(rig, second);
    expect(await fork(rig, { name: 'copy' })).toMatchObject({ status: 200, body: { created: false } });
    expect((await fork(rig, { name: 'copy', key: second })).body).toMatchObject({ code: 'CONFLICT' });
  });

  test.each(['postgres', 'other'])('by a datastore that is none, such as "%s", is a CONFLICT', async (name) => {
    const rig = await setUp();
    verifyBackup(rig, await backUp(rig));
    await call(rig, `POST ${BASE}`, { body: { kind: 'postgres', name: 'other' } });
    makeReady(rig, 'other');
    expect((await fork(rig, { name })).body).toMatchObject({ code: 'CONFLICT', hint: expect.stringContaining('fork') });
  });
});

describe('a stored backup', () => {
  test('can be downloaded by those who may manage datastores', async () => {
    const rig = await setUp();
    const key = await backUp(rig);
    verifyBackup(rig, key);
    rig.files.contents.set(key, new TextEncoder().encode('dump'));
    const token = addToken(rig, 'manager', ['manage_datastores'], ['shop']);
    const response = await rig.app.handle(
      new Request(`http://berth.test${BASE}/postgres/backups/${key}/download`, {
        headers: { authorization: `Bearer ${token}` },
      }),
    );
    expect(await response.text()).toBe('dump');
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="shop-postgres-${key}.dump"`);
    expect(rig.events.recent('shop', 1)).toMatchObject([
      { kind: 'backup.downloaded', actor: 'manager', data: { datastore: 'postgres', key } },
    ]);
    const reader = addToken(rig, 'reader', ['read', 'query_datastores'], ['shop']);
    const refused = await call(rig, `GET ${BASE}/postgres/backups/${key}/download`, { token: reader });
    expect(refused.body.code).toBe('CAPABILITY_MISSING');
  });

  test('is deleted with its files, and only with confirm=true', async () => {
    const rig = await setUp();
    const key = await backUp(rig);
    expect((await call(rig, `DELETE ${BASE}/postgres/backups/${key}?confirm=true`)).body.code).toBe('CONFLICT');
    verifyBackup(rig, key);
    expect((await call(rig, `DELETE ${BASE}/postgres/backups/${key}`)).body.code).toBe('INVALID_INPUT');
    expect((await call(rig, `DELETE ${BASE}/postgres/backups/${key}?confirm=true`)).body).toEqual({ deleted: true });
    expect(rig.files.removed).toEqual([key]);
    expect((await call(rig, `GET ${BASE}/postgres/backups/${key}`)).body.code).toBe('NOT_FOUND');
  });

  test.each(['../etc/passwd', 'bkp_', 'BKP_1', 'bkp_%2e%2e'])('has no key like %s', async (key) => {
    const rig = await setUp();
    const { status } = await call(rig, `POST ${BASE}/postgres/restore`, { body: { key } });
    expect(status).toBe(400);
  });
});
