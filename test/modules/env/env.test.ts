import { describe, expect, test } from 'bun:test';
import { chmodSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addProject, addService, addToken, call, createRig, finish, tempDir, type Rig } from '../support/rig.ts';

const setUp = (): Rig => {
  const rig = createRig();
  addProject(rig, 'shop');
  return rig;
};
const ENV = '/v1/projects/shop/env';

describe('setEnv', () => {
  test('merges, unsets with null, and says what has changed', async () => {
    const rig = setUp();
    expect((await call(rig, `PUT ${ENV}`, { body: { A: '1', B: '2' } })).body).toEqual({
      names: ['A', 'B'],
      set: ['A', 'B'],
      unset: [],
      restarted_services: [],
      operations: [],
    });
    const second = await call(rig, `PUT ${ENV}`, { body: { A: '1', B: null, C: '', GONE: null } });
    expect(second.body).toMatchObject({ names: ['A', 'C'], set: ['C'], unset: ['B'] });
    expect(rig.env.resolve('shop')).toEqual({ A: '1', C: '' });
  });

  test('takes the map under env too, but a variable that is called env stays one', async () => {
    const rig = setUp();
    await call(rig, `PUT ${ENV}`, { body: { env: { A: '1' } } });
    expect(rig.env.resolve('shop')).toEqual({ A: '1' });
    await call(rig, `PUT ${ENV}`, { body: { env: 'x' } });
    expect(rig.env.resolve('shop')).toEqual({ A: '1', env: 'x' });
    expect((await call(rig, `PUT ${ENV}`, { body: { env: { A: '1' }, B: '2' } })).body.code).toBe('INVALID_INPUT');
  });

  test('restarts the services that run, once, and none when nothing changed', async () => {
    const rig = setUp();
    addService(rig, 'shop', 'web', { live_release: 'rel_1' });
    addService(rig, 'shop', 'idle', { live_release: 'rel_1', replicas: 0 });
    addService(rig, 'shop', 'empty');
    const first = await call(rig, `PUT ${ENV}`, { body: { A: '1' } });
    expect(first.body.restarted_services).toEqual(['web']);
    const [operation] = first.body.operations;
    expect(operation).toEqual({
      service: 'web',
      operation_id: expect.stringMatching(/^op_/),
      stream_url: `/v1/operations/${operation.operation_id}/stream`,
      service_url: 'http://web--shop.localhost',
    });
    expect((await call(rig, `PUT ${ENV}`, { body: { A: '1' } })).body).toMatchObject({
      set: [],
      restarted_services: [],
    });
    // The first restart waits still: it will see this value as well.
    expect((await call(rig, `PUT ${ENV}`, { body: { A: '2' } })).body.operations).toEqual([operation]);
    finish(rig, operation.operation_id);
    const third = await call(rig, `PUT ${ENV}`, { body: { A: '3' } });
    expect(third.body.operations[0].operation_id).not.toBe(operation.operation_id);
  });

  test('a dry run says what would change and restart, and changes nothing', async () => {
    const rig = setUp();
    addService(rig, 'shop', 'web', { live_release: 'rel_1' });
    await call(rig, `PUT ${ENV}`, { body: { OLD: 'x' } });
    const before = rig.operationStore.open().length;
    const reply = await call(rig, `PUT ${ENV}?dry_run=true`, { body: { NEW: 'a value nobody sees', OLD: null } });
    expect(reply.body.plan.changes).toEqual([
      { action: 'update', resource: 'env', name: 'NEW' },
      { action: 'delete', resource: 'env', name: 'OLD' },
      { action: 'restart', resource: 'service', name: 'web' },
    ]);
    expect(JSON.stringify(reply.body)).not.toContain('nobody sees');
    expect(rig.env.resolve('shop')).toEqual({ OLD: 'x' });
    expect(rig.operationStore.open()).toHaveLength(before);
  });

  test.each([
    [{}, 'no variable'],
    [{ '1A': 'x' }, '1A'],
    [{ 'A-B': 'x' }, 'A-B'],
    [{ 'A=B': 'x' }, 'A=B'],
    [{ '': 'x' }, '""'],
    [{ A: 1 }, 'A must be'],
    [{ A: ['x'] }, 'A must be'],
    [{ A: 'x\0y' }, 'NUL'],
    [{ A: 'x'.repeat(65_537) }, '65536'],
    [{ A: 'ä'.repeat(40_000) }, '65536'],
    [{ HALF: 'a\ud800' }, 'HALF'],
    [{ PORT: '0' }, 'PORT'],
    [{ PORT: '65536' }, 'PORT'],
    [{ PORT: ' 80' }, 'PORT'],
    [{ PORT: 'http' }, 'PORT'],
    [{ PORT: '1e3' }, 'PORT'],
  ])('refuses %j', async (body, named) => {
    const rig = setUp();
    const reply = await call(rig, `PUT ${ENV}`, { body });
    expect(reply).toMatchObject({
      status: 400,
      body: { code: 'INVALID_INPUT', message: expect.stringContaining(named) },
    });
    expect(rig.env.names('shop')).toEqual([]);
  });

  test('refuses more than the kernel could hand to a process, but not the replacement of what is there', async () => {
    const rig = setUp();
    const big = (prefix: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${prefix}${i}`, 'x'.repeat(60_000)]));
    expect((await call(rig, `PUT ${ENV}`, { body: big('A', 10) })).status).toBe(200);
    expect((await call(rig, `PUT ${ENV}`, { body: big('B', 10) })).body.code).toBe('INVALID_INPUT');
    expect((await call(rig, `PUT ${ENV}`, { body: big('A', 10) })).status).toBe(200);
  });

  test('odd but legal values and names come back as they were', async () => {
    const rig = setUp();
    const values = {
      __proto__x: 'x',
      constructor: 'y',
      QUOTES: '"\'`$(x) \\n',
      LINES: 'a\nb\r\n',
      UNICODE: '🔑ä',
      EMPTY: '',
    };
    await call(rig, `PUT ${ENV}`, { body: values });
    expect(rig.env.resolve('shop')).toEqual(values);
    const polluted = await rig.app.handle(
      new Request('http://berth.test/v1/projects/shop/env', {
        method: 'PUT',
        headers: { authorization: 'Bearer admin', 'content-type': 'application/json' },
        body: '{"__proto__": "polluted"}',
      }),
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(polluted.status).toBe(400);
    expect(rig.env.resolve('shop')).toEqual(values);
  });

  test('needs manage_env', async () => {
    const rig = setUp();
    addToken(rig, 'deployer', ['deploy', 'read']);
    expect(await call(rig, `PUT ${ENV}`, { token: 'deployer', body: { A: '1' } })).toMatchObject({
      status: 403,
      body: { code: 'CAPABILITY_MISSING' },
    });
  });
});

describe('listEnv', () => {
  test('gives names, never values', async () => {
    const rig = setUp();
    await call(rig, `PUT ${ENV}`, { body: { B: 'value-of-b', A: 'value-of-a' } });
    const { body } = await call(rig, `GET ${ENV}`);
    expect(body.names).toEqual(['A', 'B']);
    expect(body.env[0]).toEqual({ name: 'A', updated_at: expect.any(String), updated_by: 'admin' });
    expect(JSON.stringify(body)).not.toContain('value-of');
  });

  test('pages in the order of the names', async () => {
    const rig = setUp();
    await call(rig, `PUT ${ENV}`, { body: { C: '3', A: '1', B: '2' } });
    const first = (await call(rig, `GET ${ENV}?limit=2`)).body;
    expect([first.names, first.next_cursor]).toEqual([['A', 'B'], expect.any(String)]);
    const second = (await call(rig, `GET ${ENV}?limit=2&cursor=${first.next_cursor}`)).body;
    expect([second.names, second.next_cursor]).toEqual([['C'], null]);
  });
});

describe('at rest', () => {
  test('neither the database nor its journal holds a value in clear, and the key is readable by its owner only', async () => {
    const rig = setUp();
    const marker = 'marker-5f0c2b77d1';
    await call(rig, `PUT ${ENV}`, { body: { SECRET: marker } });
    for (const file of ['berth.db', 'berth.db-wal'])
      expect(readFileSync(join(rig.dataDir, file)).includes(marker)).toBe(false);
    expect(statSync(join(rig.dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
    expect(rig.logged.join('')).not.toContain(marker);
    expect(JSON.stringify(rig.events.recent('shop', 10))).not.toContain(marker);
  });

  test('a value moved to another name or project does not open', async () => {
    const rig = setUp();
    addProject(rig, 'other');
    await call(rig, `PUT ${ENV}`, { body: { A: 'secret of shop' } });
    rig.db.run("INSERT INTO env SELECT 'other', name, sealed, updated_at, updated_by FROM env");
    expect(() => rig.env.resolve('other')).toThrow('cannot be decrypted');
    rig.db.run("UPDATE env SET name = 'B' WHERE project = 'shop'");
    expect(() => rig.env.resolve('shop')).toThrow('cannot be decrypted');
  });

  test('the key is kept over a restart; without it, and with values stored, the start is refused', async () => {
    const dataDir = tempDir();
    const first = createRig({ dataDir });
    addProject(first, 'shop');
    await call(first, `PUT ${ENV}`, { body: { A: 'kept' } });
    expect(createRig({ dataDir }).env.resolve('shop')).toEqual({ A: 'kept' });
    chmodSync(join(dataDir, 'secret.key'), 0o644);
    createRig({ dataDir });
    expect(statSync(join(dataDir, 'secret.key')).mode & 0o777).toBe(0o600);
    writeFileSync(join(dataDir, 'secret.key'), 'abc');
    expect(() => createRig({ dataDir })).toThrow('damaged');
    rmSync(join(dataDir, 'secret.key'));
    expect(() => createRig({ dataDir })).toThrow('is missing');
  });
});

describe('masking', () => {
  test('covers what is worth it, and replaced values until berth restarts', async () => {
    const rig = setUp();
    await call(rig, `PUT ${ENV}`, {
      body: { KEY: 'first-secret', NODE_ENV: 'production', PORT: '3000', SHORT: 'abc' },
    });
    expect(rig.env.secretValues('shop')).toEqual(['first-secret']);
    expect(rig.env.masker('shop').mask('first-secret in production on 3000')).toBe('[secret] in production on 3000');
    await call(rig, `PUT ${ENV}`, { body: { KEY: 'second-secret' } });
    expect(rig.env.masker('shop').mask('first-secret second-secret')).toBe('[secret] [secret]');
    await call(rig, `PUT ${ENV}`, { body: { KEY: null } });
    expect(rig.env.masker('shop').mask('first-secret second-secret')).toBe('[secret] [secret]');
  });
});
