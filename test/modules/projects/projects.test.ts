import { describe, expect, test } from 'bun:test';
import { addProject, addReplica, addService, addToken, call, createRig, finish } from '../support/rig.ts';

describe('createProject', () => {
  test('makes a project with a network of its own, and says created', async () => {
    const rig = createRig();
    const reply = await call(rig, 'POST /v1/projects', { body: { name: 'shop' } });
    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ name: 'shop', state: 'active', created: true, created_by: 'admin' });
    expect(rig.projectStore.require('shop')).toMatchObject({ network: 'berth-test-shop', subnet: '10.208.0.0/23' });
    expect(rig.events.recent('shop', 5).map((event) => event.kind)).toEqual(['project.created']);
  });

  test('gives the existing project when it is there, and changes nothing', async () => {
    const rig = createRig();
    const first = await call(rig, 'POST /v1/projects', { body: { name: 'shop' } });
    const second = await call(rig, 'POST /v1/projects', { body: { name: 'shop' } });
    expect(second.status).toBe(200);
    expect(second.body).toEqual({ ...first.body, created: false });
    expect(rig.events.recent('shop', 5)).toHaveLength(1);
  });

  test('gives every project another subnet, and none that the host uses', async () => {
    const rig = createRig();
    rig.foreign.push('10.208.0.0/22');
    await Promise.all(['a', 'b', 'c'].map((name) => call(rig, 'POST /v1/projects', { body: { name } })));
    expect(rig.projectStore.subnets().sort()).toEqual(['10.208.4.0/23', '10.208.6.0/23', '10.208.8.0/23']);
  });

  test('says QUOTA_EXCEEDED when no subnet is left, and leaves nothing behind', async () => {
    const rig = createRig({ config: { networkPool: '10.1.0.0/22', networkSize: 23 } });
    for (const name of ['a', 'b']) expect((await call(rig, 'POST /v1/projects', { body: { name } })).status).toBe(201);
    const reply = await call(rig, 'POST /v1/projects', { body: { name: 'c' } });
    expect(reply.status).toBe(429);
    expect(reply.body).toMatchObject({ code: 'QUOTA_EXCEEDED', retryable: false });
    expect(rig.projectStore.get('c')).toBeUndefined();
    expect(rig.events.recent('c', 5)).toEqual([]);
    const plan = await call(rig, 'POST /v1/projects?dry_run=true', { body: { name: 'c' } });
    expect(plan.body.code).toBe('QUOTA_EXCEEDED');
  });

  test('a dry run plans and changes nothing', async () => {
    const rig = createRig();
    const reply = await call(rig, 'POST /v1/projects?dry_run=true', { body: { name: 'shop' } });
    expect(reply).toMatchObject({
      status: 200,
      body: { dry_run: true, plan: { changes: [{ action: 'create', resource: 'project', name: 'shop' }] } },
    });
    expect(rig.projectStore.all()).toEqual([]);
  });

  test.each(['Shop', 'a--b', '-a', 'a-', '1a', '', 'a'.repeat(31), 'a b', '../x', 'a;b', 'a$(b)'])(
    'refuses the name %p',
    async (name) => {
      const rig = createRig();
      const reply = await call(rig, 'POST /v1/projects', { body: { name } });
      expect(reply.status).toBe(400);
      expect(reply.body.code).toBe('INVALID_INPUT');
      expect(reply.body.message).toContain('name');
    },
  );

  test('a token cannot create beyond its scope, nor learn what is there', async () => {
    const rig = createRig();
    addProject(rig, 'theirs');
    addToken(rig, 'limited', ['manage_projects'], ['mine']);
    const there = await call(rig, 'POST /v1/projects', { token: 'limited', body: { name: 'theirs' } });
    const missing = await call(rig, 'POST /v1/projects', { token: 'limited', body: { name: 'nobodys' } });
    expect(there.status).toBe(404);
    expect(missing.status).toBe(404);
    expect(there.body.message.replace('theirs', 'X')).toBe(missing.body.message.replace('nobodys', 'X'));
    expect((await call(rig, 'POST /v1/projects', { token: 'limited', body: { name: 'mine' } })).status).toBe(201);
  });

  test('a project of the same name starts without the history of the one before', async () => {
    const rig = createRig();
    await call(rig, 'POST /v1/projects', { body: { name: 'shop' } });
    rig.projectStore.remove('shop');
    await call(rig, 'POST /v1/projects', { body: { name: 'shop' } });
    expect(rig.events.recent('shop', 10)).toHaveLength(1);
  });

  test('an Idempotency-Key gives the first reply again, with its status', async () => {
    const rig = createRig();
    const headers = { 'idempotency-key': 'k1' };
    const first = await call(rig, 'POST /v1/projects', { body: { name: 'shop' }, headers });
    const second = await call(rig, 'POST /v1/projects', { body: { name: 'shop' }, headers });
    expect(first.status).toBe(201);
    expect(second.status).toBe(201);
    expect(second.body).toEqual(first.body);
  });
});

describe('listProjects', () => {
  test('shows only what is in scope, page by page', async () => {
    const rig = createRig();
    for (const name of ['a', 'b', 'c', 'd']) addProject(rig, name);
    addToken(rig, 'limited', ['read'], ['b', 'd', 'gone']);
    const limited = await call(rig, 'GET /v1/projects', { token: 'limited' });
    expect(limited.body.projects.map((project: { name: string }) => project.name)).toEqual(['b', 'd']);
    const first = await call(rig, 'GET /v1/projects?limit=3');
    expect(first.body.projects).toHaveLength(3);
    const second = await call(rig, `GET /v1/projects?limit=3&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ projects: [{ name: 'd' }], next_cursor: null });
  });
});

describe('getProject', () => {
  test('is the whole tree', async () => {
    const rig = createRig();
    await call(rig, 'POST /v1/projects', { body: { name: 'shop' } });
    addService(rig, 'shop', 'web', { live_release: null });
    await call(rig, 'PUT /v1/projects/shop/env', { body: { KEY: 'a secret value' } });
    const { status, body, headers } = await call(rig, 'GET /v1/projects/shop');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toContain('application/json');
    expect(body).toMatchObject({
      name: 'shop',
      services: [{ name: 'web', status: 'empty', service_url: 'http://web--shop.localhost' }],
      releases: [],
      env_keys: ['KEY'],
      recent_events: [{ kind: 'project.created' }, { kind: 'env.changed', data: { set: ['KEY'], unset: [] } }],
    });
    expect(JSON.stringify(body)).not.toContain('a secret value');
  });

  test('is never stale: every kind of change shows in the next read', async () => {
    const rig = createRig();
    addProject(rig, 'shop');
    const tree = async () => (await call(rig, 'GET /v1/projects/shop')).body;
    expect((await tree()).services).toEqual([]);
    const service = addService(rig, 'shop', 'web', { live_release: 'rel_1' });
    addReplica(rig, service, 'c1');
    expect((await tree()).services[0].status).toBe('running');
    rig.liveness.set('c1', false);
    expect((await tree()).services[0].status).toBe('down');
    rig.liveness.set('c1', true);
    expect((await tree()).services[0].status).toBe('running');
    rig.serviceStore.replicas.setState('c1', 'draining');
    expect((await tree()).services[0].status).toBe('down');
    rig.projectStore.setState('shop', 'deleting');
    expect((await tree()).state).toBe('deleting');
    rig.projectStore.remove('shop');
    expect((await call(rig, 'GET /v1/projects/shop')).status).toBe(404);
    addProject(rig, 'shop');
    expect((await tree()).services).toEqual([]);
  });
});

describe('deleteProject', () => {
  test('needs confirm=true', async () => {
    const rig = createRig();
    addProject(rig, 'shop');
    const reply = await call(rig, 'DELETE /v1/projects/shop');
    expect(reply).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    expect(rig.projectStore.require('shop').state).toBe('active');
  });

  test('starts one operation, however often it is asked for, and refuses further changes meanwhile', async () => {
    const rig = createRig();
    addProject(rig, 'shop');
    addService(rig, 'shop', 'web', { live_release: 'rel_1' });
    const first = await call(rig, 'DELETE /v1/projects/shop?confirm=true');
    const second = await call(rig, 'DELETE /v1/projects/shop?confirm=true');
    expect(first.status).toBe(202);
    expect(second).toMatchObject({ status: 202, body: first.body });
    expect(rig.operations.get(first.body.operation_id)).toMatchObject({
      kind: 'project.delete',
      project: 'shop',
      service: null,
    });
    await Promise.resolve();
    expect(rig.woken).toEqual([first.body.operation_id]);
    for (const [what, body] of [
      ['PUT /v1/projects/shop/env', { A: 'b' }],
      ['PATCH /v1/projects/shop/services/web', { replicas: 2 }],
      ['POST /v1/projects/shop/services/web/restart', undefined],
      ['DELETE /v1/projects/shop/services/web?confirm=true', undefined],
      ['POST /v1/projects', { name: 'shop' }],
    ] as const) {
      expect({ what, ...(await call(rig, what, { body })) }).toMatchObject({
        what,
        status: 409,
        body: { code: 'CONFLICT' },
      });
    }
  });

  test('starts a new operation when the one before has failed', async () => {
    const rig = createRig();
    addProject(rig, 'shop');
    const first = await call(rig, 'DELETE /v1/projects/shop?confirm=true');
    finish(rig, first.body.operation_id, 'failed');
    const second = await call(rig, 'DELETE /v1/projects/shop?confirm=true');
    expect(second.status).toBe(202);
    expect(second.body.operation_id).not.toBe(first.body.operation_id);
  });

  test('cancels what is queued or running in the project, and lets nothing else go', async () => {
    const rig = createRig();
    addProject(rig, 'shop');
    addProject(rig, 'other');
    for (const project of ['shop', 'other']) addService(rig, project, 'web', { live_release: 'rel_1' });
    const restart = async (project: string): Promise<string> =>
      (await call(rig, `POST /v1/projects/${project}/services/web/restart`)).body.operation_id;
    const [waiting, elsewhere] = [await restart('shop'), await restart('other')];
    const plan = (await call(rig, 'DELETE /v1/projects/shop?dry_run=true')).body.plan;
    expect(plan.changes).toContainEqual({ action: 'cancel', resource: 'operation', name: waiting });
    expect(rig.operationStore.get(waiting)?.cancel_requested).toBe(0);
    const { body } = await call(rig, 'DELETE /v1/projects/shop?confirm=true');
    const canceled = [waiting, elsewhere, body.operation_id].map((id) => rig.operationStore.get(id)?.cancel_requested);
    expect(canceled).toEqual([1, 0, 0]);
  });

  test('a dry run lists what would go, and deletes nothing', async () => {
    const rig = createRig();
    addProject(rig, 'shop');
    addService(rig, 'shop', 'web');
    const reply = await call(rig, 'DELETE /v1/projects/shop?dry_run=true');
    expect(reply.body.plan.changes).toEqual([
      { action: 'delete', resource: 'service', name: 'web' },
      { action: 'delete', resource: 'project', name: 'shop' },
    ]);
    expect(rig.projectStore.require('shop').state).toBe('active');
    expect(rig.operationStore.open()).toEqual([]);
  });
});

test('a foreign project answers as a missing one does, on every route', async () => {
  const rig = createRig();
  addProject(rig, 'theirs');
  addService(rig, 'theirs', 'web', { live_release: 'rel_1' });
  addToken(rig, 'limited', ['read', 'deploy', 'scale', 'manage_env', 'manage_projects'], ['mine']);
  const routes = [
    'GET /v1/projects/NAME',
    'DELETE /v1/projects/NAME?confirm=true',
    'GET /v1/projects/NAME/services',
    'GET /v1/projects/NAME/services/web',
    'POST /v1/projects/NAME/services/web/restart',
    'DELETE /v1/projects/NAME/services/web?confirm=true',
    'GET /v1/projects/NAME/services/web/releases',
    'GET /v1/projects/NAME/services/web/logs',
    'GET /v1/projects/NAME/events',
    'GET /v1/projects/NAME/env',
    'GET /v1/operations?project=NAME',
  ];
  for (const what of routes) {
    const there = await call(rig, what.replace('NAME', 'theirs'), { token: 'limited' });
    const missing = await call(rig, what.replace('NAME', 'nobodys'), { token: 'limited' });
    expect({ what, status: there.status }).toEqual({ what, status: 404 });
    expect(JSON.stringify(there.body).replaceAll('theirs', 'X')).toBe(
      JSON.stringify(missing.body).replaceAll('nobodys', 'X'),
    );
  }
});
