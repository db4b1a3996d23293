import { describe, expect, test } from 'bun:test';
import { BerthError } from '#kernel/errors';
import { makeReady } from '../support/datastores.ts';
import { addProject, addToken, call, createRig, type Rig } from '../support/rig.ts';

const QUERY = 'POST /v1/projects/shop/datastores/postgres/query';

const setUp = async (): Promise<Rig> => {
  const rig = createRig();
  addProject(rig, 'shop');
  await call(rig, 'POST /v1/projects/shop/datastores', { body: { kind: 'postgres' } });
  makeReady(rig, 'postgres');
  return rig;
};

const audit = (rig: Rig) => rig.events.recent('shop', 1)[0];

describe('queryDatastore', () => {
  test('answers with a table, and is an event with who, what, how long and how it ended', async () => {
    const rig = await setUp();
    const answer = {
      columns: [{ name: 'n', type: 'int4' }],
      rows: [[1]],
      row_count: 1,
      truncated: false,
      duration_ms: 2,
    };
    rig.engines.postgres.answer = () => answer;
    const { status, body } = await call(rig, QUERY, { body: { query: 'select $1::int as n', params: [1] } });
    expect(status).toBe(200);
    expect(body).toEqual(answer);
    expect(rig.engines.postgres.queries[0]?.request).toMatchObject({
      query: 'select $1::int as n',
      params: [1],
      write: true,
      timeoutMs: 30_000,
      maxRows: 500,
    });
    expect(audit(rig)).toMatchObject({
      kind: 'query.executed',
      actor: 'admin',
      data: {
        datastore: 'postgres',
        query: 'select $1::int as n',
        outcome: 'succeeded',
        row_count: 1,
        duration_ms: expect.any(Number),
      },
    });
  });

  test('only reads for a token with query_datastores alone, and says which capability writes', async () => {
    const rig = await setUp();
    const reader = addToken(rig, 'reader', ['query_datastores'], ['shop']);
    const writer = addToken(rig, 'writer', ['query_datastores', 'manage_datastores'], ['shop']);
    rig.engines.postgres.answer = ({ write }) => {
      if (!write) throw new BerthError('CAPABILITY_MISSING', 'cannot write', { hint: 'none' });
      return { columns: [], rows: [], row_count: 1, truncated: false, duration_ms: 1 };
    };
    const refused = await call(rig, QUERY, { token: reader, body: { query: 'delete from a' } });
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      code: 'CAPABILITY_MISSING',
      hint: expect.stringContaining('manage_datastores'),
    });
    expect(audit(rig)).toMatchObject({ actor: 'reader', data: { outcome: 'failed', code: 'CAPABILITY_MISSING' } });
    expect((await call(rig, QUERY, { token: writer, body: { query: 'delete from a' } })).status).toBe(200);
    const asked = await call(rig, QUERY, { token: writer, body: { query: 'delete from a', read_only: true } });
    expect(asked.status).toBe(403);
  });

  test('needs query_datastores', async () => {
    const rig = await setUp();
    const token = addToken(rig, 'other', ['read', 'manage_datastores'], ['shop']);
    expect((await call(rig, QUERY, { token, body: { query: 'select 1' } })).body).toMatchObject({
      code: 'CAPABILITY_MISSING',
      message: expect.stringContaining('query_datastores'),
    });
  });

  test('keeps known secrets and endless statements out of the audit', async () => {
    const rig = await setUp();
    const { PGPASSWORD: password = '' } = rig.env.resolve('shop');
    await call(rig, QUERY, { body: { query: `select '${password}'` } });
    expect(JSON.stringify(audit(rig))).not.toContain(password);
    // Across the cut.
    await call(rig, QUERY, { body: { query: `${' '.repeat(3990)}select '${password}'` } });
    expect(String(audit(rig)?.data.query).trim()).toBe("select '[s");
    await call(rig, QUERY, { body: { query: `select '${'x'.repeat(100_000)}'` } });
    expect(JSON.stringify(audit(rig)).length).toBeLessThan(6000);
  });

  test.each([
    [{}, 'query'],
    [{ query: '' }, 'query'],
    [{ query: 'select 1', limit: 501 }, 'limit'],
    [{ query: 'select 1', timeout_seconds: 0 }, 'timeout_seconds'],
    [{ sql: 'select 1' }, 'sql'],
  ])('refuses the body %j', async (body, field) => {
    expect((await call(await setUp(), QUERY, { body })).body).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining(field),
    });
  });
});

describe('listDatastoreTables', () => {
  test('pages by the cursor of the engine', async () => {
    const rig = await setUp();
    rig.engines.postgres.page = { entries: [{ name: 'a', type: 'table' }], next: 'public.a' };
    const path = 'GET /v1/projects/shop/datastores/postgres/tables';
    const { body } = await call(rig, `${path}?limit=1&match=a`);
    expect(body).toEqual({ tables: [{ name: 'a', type: 'table' }], next_cursor: expect.any(String) });
    expect((await call(rig, `${path}?cursor=${body.next_cursor}`)).status).toBe(200);
  });
});
