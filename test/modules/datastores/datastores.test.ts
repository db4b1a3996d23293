import { describe, expect, test } from 'bun:test';
import { makeReady } from '../support/datastores.ts';
import { addProject, addService, addToken, call, createRig, finish, type Rig } from '../support/rig.ts';

const setUp = (config: NonNullable<Parameters<typeof createRig>[0]>['config'] = {}): Rig => {
  const rig = createRig({ config });
  addProject(rig, 'shop');
  return rig;
};
const ALL = '/v1/projects/shop/datastores';

const create = (rig: Rig, body: Record<string, unknown>) => call(rig, `POST ${ALL}`, { body });

describe('createDatastore', () => {
  test('is accepted, named after its kind, and says which services will restart', async () => {
    const rig = setUp();
    addService(rig, 'shop', 'web', { live_release: 'rel_1' });
    addService(rig, 'shop', 'idle', { live_release: null });
    const { status, body } = await create(rig, { kind: 'postgres' });
    const id: string = body.operation_id;
    expect(status).toBe(202);
    expect(body).toMatchObject({
      name: 'postgres',
      kind: 'postgres',
      version: '17',
      status: 'provisioning',
      host: 'postgres.db.internal',
      created: true,
      restarted_services: ['web'],
      variables: ['DATABASE_URL', 'PGHOST', 'PGUSER', 'PGPASSWORD'],
    });
    expect((await call(rig, `GET /v1/operations/${id}`)).body).toMatchObject({
      kind: 'datastore.create',
      datastore: 'postgres',
      service: null,
    });
  });

  test('is idempotent: the same name and kind answer with what is there', async () => {
    const rig = setUp();
    const first = await create(rig, { kind: 'redis' });
    const again = await create(rig, { kind: 'redis' });
    expect(again.status).toBe(202);
    expect(again.body).toMatchObject({ created: false, operation_id: first.body.operation_id, restarted_services: [] });
    makeReady(rig, 'redis');
    const later = await create(rig, { kind: 'redis', name: 'redis' });
    expect(later.status).toBe(200);
    expect(later.body).toMatchObject({ created: false, status: 'ready', operation_id: null });
  });

  test('refuses a name that another kind has', async () => {
    const rig = setUp();
    await create(rig, { kind: 'redis', name: 'main' });
    expect((await create(rig, { kind: 'postgres', name: 'main' })).body).toMatchObject({ code: 'CONFLICT' });
  });

  test('never overwrites a variable that the user has set', async () => {
    const rig = setUp();
    await call(rig, 'PUT /v1/projects/shop/env', { body: { PGHOST: 'elsewhere' } });
    const { status, body } = await create(rig, { kind: 'postgres' });
    expect(status).toBe(409);
    expect(body).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('PGHOST') });
    expect((await call(rig, `GET ${ALL}`)).body.datastores).toEqual([]);
    expect((await create(rig, { kind: 'postgres', name: 'main-db' })).body.variables).toEqual([
      'MAIN_DB_URL',
      'MAIN_DB_PGHOST',
      'MAIN_DB_PGUSER',
      'MAIN_DB_PGPASSWORD',
    ]);
  });

  test('refuses a name whose variable another datastore gives', async () => {
    const rig = setUp();
    await create(rig, { kind: 'postgres' });
    const clash = await create(rig, { kind: 'redis', name: 'database' });
    expect(clash.body).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('DATABASE_URL') });
  });

  test.each([
    [{ kind: 'mysql' }, 'kind'],
    [{ kind: 'postgres', version: '9' }, 'version'],
    [{ kind: 'postgres', memory_mb: 100 }, 'memory_mb'],
    [{ kind: 'postgres', name: 'A b' }, 'name'],
    [{ kind: 'postgres', nmae: 'x' }, 'nmae'],
    [{ name: 'x' }, 'kind'],
  ])('refuses %j', async (body, field) => {
    const { status, body: error } = await create(setUp(), body);
    expect(status).toBe(400);
    expect(error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining(field) });
  });

  test('keeps to the quota', async () => {
    const rig = setUp({ quotaDatastores: 1 });
    await create(rig, { kind: 'postgres' });
    expect((await create(rig, { kind: 'redis' })).body).toMatchObject({ code: 'QUOTA_EXCEEDED', retryable: false });
  });

  test('with dry_run says what it would do, and does nothing', async () => {
    const rig = setUp();
    addService(rig, 'shop', 'web', { live_release: 'rel_1' });
    const { status, body } = await call(rig, `POST ${ALL}?dry_run=true`, { body: { kind: 'redis' } });
    expect(status).toBe(200);
    expect(body.plan.changes).toEqual([
      { action: 'create', resource: 'datastore', name: 'redis', kind: 'redis', version: '8' },
      { action: 'create', resource: 'env', name: 'REDIS_URL' },
      { action: 'restart', resource: 'service', name: 'web' },
    ]);
    expect((await call(rig, `GET ${ALL}`)).body.datastores).toEqual([]);
  });

  test('makes one again that could not be made', async () => {
    const rig = setUp();
    const first = await create(rig, { kind: 'redis' });
    finish(rig, first.body.operation_id);
    const row = rig.datastores.requireRow({ project: 'shop', name: 'redis' });
    rig.datastoreStore.update(row.id, { status: 'failed' });
    const again = await create(rig, { kind: 'redis' });
    expect(again.body).toMatchObject({ created: false, status: 'provisioning' });
    expect(again.body.operation_id).not.toBe(first.body.operation_id);
  });

  test('makes one again with the settings that are given this time', async () => {
    const rig = setUp();
    const first = await create(rig, { kind: 'postgres', memory_mb: 128, storage_limit_mb: 1024 });
    finish(rig, first.body.operation_id);
    rig.datastoreStore.update(rig.datastores.requireRow({ project: 'shop', name: 'postgres' }).id, {
      status: 'failed',
    });
    const again = await create(rig, { kind: 'postgres', version: '16', memory_mb: 2048 });
    expect(again.body).toMatchObject({
      created: false,
      version: '16',
      memory_mb: 2048,
      storage_limit_mb: 1024,
      cpus: 1,
    });
  });

  test('makes one again whose operation ended without saying so, because it was canceled while it waited', async () => {
    const rig = setUp();
    const first = await create(rig, { kind: 'redis' });
    expect((await create(rig, { kind: 'redis' })).body.operation_id).toBe(first.body.operation_id);
    finish(rig, first.body.operation_id);
    const again = await create(rig, { kind: 'redis' });
    expect(again.body).toMatchObject({ created: false, status: 'provisioning', operation_id: expect.any(String) });
    expect(again.body.operation_id).not.toBe(first.body.operation_id);
  });
});

describe('what services are given', () => {
  test('appears once the datastore is ready, below what the user has set', async () => {
    const rig = setUp();
    await create(rig, { kind: 'postgres' });
    expect(rig.env.resolve('shop')).toEqual({});
    makeReady(rig, 'postgres');
    expect(Object.keys(rig.env.resolve('shop'))).toEqual(['DATABASE_URL', 'PGHOST', 'PGUSER', 'PGPASSWORD']);
    await call(rig, 'PUT /v1/projects/shop/env', { body: { PGHOST: 'mine' } });
    expect(rig.env.resolve('shop')).toMatchObject({ PGHOST: 'mine' });
    expect((await call(rig, 'GET /v1/projects/shop/env')).body).toMatchObject({
      names: ['PGHOST'],
      injected: expect.arrayContaining([{ name: 'DATABASE_URL', datastore: 'postgres' }]),
    });
  });

  test('is masked in logs, and no reply has a password', async () => {
    const rig = setUp();
    await create(rig, { kind: 'postgres' });
    makeReady(rig, 'postgres');
    const { DATABASE_URL: url = '', PGPASSWORD: password = '' } = rig.env.resolve('shop');
    expect(password.length).toBeGreaterThan(20);
    expect(rig.env.masker('shop').mask(`connecting to ${url} with ${password}`)).not.toContain(password);
    for (const path of [ALL, `${ALL}/postgres`, '/v1/projects/shop', '/v1/projects/shop/env'])
      expect(JSON.stringify((await call(rig, `GET ${path}`)).body)).not.toContain(password);
    expect(new TextDecoder().decode(rig.db.serialize())).not.toContain(password);
  });

  test('is in the tree of the project', async () => {
    const rig = setUp();
    await create(rig, { kind: 'redis' });
    makeReady(rig, 'redis');
    expect((await call(rig, 'GET /v1/projects/shop')).body).toMatchObject({
      datastores: [{ name: 'redis', status: 'ready' }],
      env_keys: ['REDIS_URL'],
    });
  });
});

describe('changes', () => {
  test('wait until the datastore is ready', async () => {
    const rig = setUp();
    await create(rig, { kind: 'postgres' });
    for (const what of [
      `POST ${ALL}/postgres/rotate`,
      `POST ${ALL}/postgres/restart`,
      `POST ${ALL}/postgres/backups`,
      `GET ${ALL}/postgres/tables`,
    ])
      expect((await call(rig, what)).body).toMatchObject({ code: 'CONFLICT', retryable: true });
    const update = await call(rig, `PATCH ${ALL}/postgres`, { body: { memory_mb: 1024 } });
    expect(update.body).toMatchObject({ code: 'CONFLICT' });
  });

  test('of settings are an operation, or nothing when they are so already', async () => {
    const rig = setUp();
    await create(rig, { kind: 'postgres' });
    makeReady(rig, 'postgres');
    expect((await call(rig, `PATCH ${ALL}/postgres`, { body: { memory_mb: 512 } })).status).toBe(200);
    const { status, body } = await call(rig, `PATCH ${ALL}/postgres`, { body: { memory_mb: 1024 } });
    expect(status).toBe(202);
    expect((await call(rig, `GET /v1/operations/${body.operation_id}`)).body.kind).toBe('datastore.update');
  });

  test('rotation says which services will restart', async () => {
    const rig = setUp();
    addService(rig, 'shop', 'web', { live_release: 'rel_1' });
    await create(rig, { kind: 'postgres' });
    makeReady(rig, 'postgres');
    const { status, body } = await call(rig, `POST ${ALL}/postgres/rotate`);
    expect(status).toBe(202);
    expect(body.restarted_services).toEqual(['web']);
  });
});

describe('deleteDatastore', () => {
  test('needs confirm=true, and offers a final backup', async () => {
    const rig = setUp();
    await create(rig, { kind: 'postgres' });
    makeReady(rig, 'postgres');
    expect((await call(rig, `DELETE ${ALL}/postgres`)).body).toMatchObject({
      code: 'INVALID_INPUT',
      hint: expect.stringContaining('confirm=true'),
    });
    const planned = await call(rig, `DELETE ${ALL}/postgres?dry_run=true`);
    expect(planned.body.plan.summary).toContain('final_backup=true');
    const { status, body } = await call(rig, `DELETE ${ALL}/postgres?confirm=true&final_backup=true`);
    expect(status).toBe(202);
    expect(rig.operationStore.get(body.operation_id)?.input).toBe('{"final_backup":true}');
    const again = await call(rig, `DELETE ${ALL}/postgres?confirm=true`);
    expect(again.body.operation_id).toBe(body.operation_id);
    expect((await create(rig, { kind: 'postgres' })).body).toMatchObject({ code: 'CONFLICT', retryable: true });
  });

  test('cancels what else is going on with the datastore', async () => {
    const rig = setUp();
    await create(rig, { kind: 'postgres' });
    makeReady(rig, 'postgres');
    const backup = await call(rig, `POST ${ALL}/postgres/backups`);
    await call(rig, `DELETE ${ALL}/postgres?confirm=true`);
    expect(rig.operationStore.get(backup.body.operation_id)?.cancel_requested).toBe(1);
  });
});

describe('tokens', () => {
  test('of another project see nothing', async () => {
    const rig = setUp();
    await create(rig, { kind: 'postgres' });
    const token = addToken(rig, 'stranger', ['manage_datastores', 'query_datastores', 'read'], ['other']);
    const foreign = await call(rig, `GET ${ALL}/postgres`, { token });
    const missing = await call(rig, 'GET /v1/projects/nothing/datastores/postgres', { token });
    expect(foreign.status).toBe(404);
    expect(foreign.body.message.replace('shop', 'nothing')).toBe(missing.body.message);
  });
});
