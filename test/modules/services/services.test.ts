import { describe, expect, test } from 'bun:test';
import {
  addProject,
  addRelease,
  addReplica,
  addService,
  addToken,
  call,
  createRig,
  finish,
  type Rig,
} from '../support/rig.ts';

const setUp = (more: Parameters<typeof addService>[3] = {}): Rig => {
  const rig = createRig();
  addProject(rig, 'shop');
  const service = addService(rig, 'shop', 'web', { live_release: 'rel_2', previous_release: 'rel_1', ...more });
  addRelease(rig, service, 'rel_1', { created_at: 1000 });
  addRelease(rig, service, 'rel_2', { created_at: 2000 });
  return rig;
};
const WEB = '/v1/projects/shop/services/web';

describe('listServices', () => {
  test('pages in the order of names', async () => {
    const rig = createRig();
    addProject(rig, 'shop');
    for (const name of ['c', 'a', 'b']) addService(rig, 'shop', name);
    const first = await call(rig, 'GET /v1/projects/shop/services?limit=2');
    expect(first.body.services.map((service: { name: string }) => service.name)).toEqual(['a', 'b']);
    const second = await call(rig, `GET /v1/projects/shop/services?limit=2&cursor=${first.body.next_cursor}`);
    expect(second.body).toMatchObject({ services: [{ name: 'c' }], next_cursor: null });
  });

  test('the status says what is the case', async () => {
    const rig = createRig();
    addProject(rig, 'shop');
    const statusOf = async (name: string) => (await call(rig, `GET /v1/projects/shop/services/${name}`)).body.status;
    addService(rig, 'shop', 'empty');
    expect(await statusOf('empty')).toBe('empty');
    addService(rig, 'shop', 'stopped', { live_release: 'rel_1', replicas: 0 });
    expect(await statusOf('stopped')).toBe('stopped');
    const web = addService(rig, 'shop', 'web', { live_release: 'rel_1', replicas: 2 });
    expect(await statusOf('web')).toBe('down');
    addReplica(rig, web, 'c1', { slot: 1 });
    expect(await statusOf('web')).toBe('degraded');
    addReplica(rig, web, 'c2', { slot: 2 });
    expect(await statusOf('web')).toBe('running');
    rig.liveness.set('c2', false);
    expect(await statusOf('web')).toBe('degraded');
    const { body } = await call(rig, 'POST /v1/projects/shop/services/web/restart');
    expect(await statusOf('web')).toBe('deploying');
    finish(rig, body.operation_id);
    expect(await statusOf('web')).toBe('degraded');
  });
});

describe('getService', () => {
  test('shows each replica as the engine sees it', async () => {
    const rig = setUp({ replicas: 2 });
    await rig.runtime.ensureNetwork({
      name: 'n',
      subnet: '10.208.0.0/23',
      gateway: '10.208.0.1',
      bridge: 'b',
      labels: {},
      interContainer: true,
    });
    const service = rig.serviceStore.get('shop', 'web');
    if (service === undefined) throw new Error('no service');
    const start = async (name: string, ip: string): Promise<string> => {
      const { id } = await rig.runtime.create({
        name,
        image: 'app',
        env: {},
        labels: {},
        network: { name: 'n', ip, aliases: [] },
        loopbackPorts: [],
        mounts: [],
        volumes: [],
        memoryBytes: 1024,
        cpus: 1,
        pidsLimit: 10,
        capAdd: [],
        readOnlyRoot: false,
        tmpfs: [],
        restart: 'unless-stopped',
        init: true,
        stopGraceSeconds: 1,
      });
      await rig.runtime.start(id);
      return id;
    };
    const [runs, crashed] = [await start('r1', '10.208.0.2'), await start('r2', '10.208.0.3')];
    rig.runtime.crash(crashed, 137, true);
    addReplica(rig, service, runs, { slot: 1 });
    addReplica(rig, service, crashed, { slot: 2 });
    addReplica(rig, service, 'vanished', { slot: 3, state: 'draining' });
    const { body } = await call(rig, `GET ${WEB}`);
    expect(body.replica_states).toMatchObject([
      {
        slot: 1,
        state: 'live',
        running: true,
        restarts: 0,
        exit_code: null,
        memory_bytes: 1024 ** 2,
        memory_limit_bytes: service.memory_mb * 1024 ** 2,
        cpu: 0,
      },
      { slot: 2, state: 'exited', running: false, restarts: 1, exit_code: 137, oom_killed: true, memory_bytes: null },
      { slot: 3, state: 'draining', running: false, memory_bytes: null },
    ]);
  });

  test('answers without the engine, and leaves out what it could not read', async () => {
    const rig = setUp();
    const service = rig.serviceStore.get('shop', 'web');
    if (service === undefined) throw new Error('no service');
    addReplica(rig, service, 'c1');
    rig.runtime.failNext('inspect');
    rig.runtime.failNext('usage');
    const { status, body } = await call(rig, `GET ${WEB}`);
    expect(status).toBe(200);
    expect(body.replica_states).toMatchObject([{ state: 'live', running: false, memory_bytes: null }]);
  });

  test('a missing service is NOT_FOUND with the way to the list', async () => {
    const rig = setUp();
    const { status, body } = await call(rig, 'GET /v1/projects/shop/services/nope');
    expect(status).toBe(404);
    expect(body.hint).toContain('/v1/projects/shop/services');
  });
});

describe('scaleService', () => {
  test('starts an operation with the settings as input', async () => {
    const rig = setUp();
    const reply = await call(rig, `PATCH ${WEB}`, { body: { replicas: 3 } });
    expect(reply.status).toBe(202);
    expect(reply.body).toEqual({
      operation_id: expect.stringMatching(/^op_/),
      stream_url: `/v1/operations/${reply.body.operation_id}/stream`,
      service_url: 'http://web--shop.localhost',
    });
    expect(JSON.parse(rig.operationStore.get(reply.body.operation_id)?.input ?? '')).toEqual({ replicas: 3 });
    expect(rig.serviceStore.get('shop', 'web')?.replicas).toBe(1);
  });

  test('replies the service when there is nothing to change', async () => {
    const rig = setUp();
    const reply = await call(rig, `PATCH ${WEB}`, { body: { replicas: 1, drain_seconds: 10 } });
    expect(reply).toMatchObject({ status: 200, body: { name: 'web', replicas: 1 } });
    expect(rig.operationStore.open()).toEqual([]);
  });

  test('going back while a scaling waits is a scaling of its own', async () => {
    const rig = setUp();
    await call(rig, `PATCH ${WEB}`, { body: { replicas: 3 } });
    const back = await call(rig, `PATCH ${WEB}`, { body: { replicas: 1 } });
    expect(back.status).toBe(202);
    expect(rig.operationStore.open()).toHaveLength(2);
  });

  test('the capability scale suffices for the count, other settings need deploy', async () => {
    const rig = setUp();
    addToken(rig, 'scaler', ['scale']);
    expect((await call(rig, `PATCH ${WEB}`, { token: 'scaler', body: { replicas: 2 } })).status).toBe(202);
    const refused = await call(rig, `PATCH ${WEB}`, { token: 'scaler', body: { replicas: 2, memory_mb: 1024 } });
    expect(refused).toMatchObject({
      status: 403,
      body: { code: 'CAPABILITY_MISSING', message: expect.stringContaining('deploy') },
    });
    addToken(rig, 'deployer', ['deploy']);
    expect((await call(rig, `PATCH ${WEB}`, { token: 'deployer', body: { replicas: 2 } })).status).toBe(403);
  });

  test('more replicas than the quota is QUOTA_EXCEEDED, in a dry run too', async () => {
    const rig = setUp();
    for (const query of ['', '?dry_run=true']) {
      const reply = await call(rig, `PATCH ${WEB}${query}`, { body: { replicas: 11 } });
      expect(reply).toMatchObject({ status: 429, body: { code: 'QUOTA_EXCEEDED', retryable: false } });
      expect(reply.body.message).toContain('10');
    }
  });

  test.each([
    {},
    { replicas: -1 },
    { replicas: 1.5 },
    { replicas: '2' },
    { replica: 2 },
    { health_path: 'x' },
    { protocol: 'ftp' },
    [],
  ])('refuses %j', async (body) => {
    const rig = setUp();
    const reply = await call(rig, `PATCH ${WEB}`, { body });
    expect(reply).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } });
    expect(rig.operationStore.open()).toEqual([]);
  });

  test('a dry run names what would change, from what and to what', async () => {
    const rig = setUp();
    const reply = await call(rig, `PATCH ${WEB}?dry_run=true`, { body: { replicas: 3, drain_seconds: 10 } });
    expect(reply.status).toBe(200);
    expect(reply.body.plan.changes).toEqual([
      { action: 'update', resource: 'service', name: 'web', from: { replicas: 1 }, to: { replicas: 3 } },
    ]);
    expect(rig.operationStore.open()).toEqual([]);
  });
});

describe('rollbackService', () => {
  const inputOf = (rig: Rig, id: string) => JSON.parse(rig.operationStore.get(id)?.input ?? 'null');

  test('goes to the previous release without a body, and to a named one', async () => {
    const rig = setUp();
    const previous = await call(rig, `POST ${WEB}/rollback`);
    expect(previous.status).toBe(202);
    expect(inputOf(rig, previous.body.operation_id)).toEqual({ release: 'rel_1' });
    const named = await call(rig, `POST ${WEB}/rollback`, { body: { release: 'rel_1' } });
    expect(inputOf(rig, named.body.operation_id)).toEqual({ release: 'rel_1' });
    expect((await call(rig, `POST ${WEB}/rollback`, { body: {} })).status).toBe(202);
  });

  test('nothing to roll back to, and the live release, are CONFLICT', async () => {
    const rig = setUp({ previous_release: null });
    const nothing = await call(rig, `POST ${WEB}/rollback`);
    expect(nothing).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', message: expect.stringContaining('nothing to roll back to') },
    });
    expect((await call(rig, `POST ${WEB}/rollback`, { body: { release: 'rel_2' } })).status).toBe(409);
  });

  test('an unknown release is NOT_FOUND, and the hint says where the releases are', async () => {
    const rig = setUp();
    const reply = await call(rig, `POST ${WEB}/rollback`, { body: { release: 'rel_x' } });
    expect(reply).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND', hint: expect.stringContaining('/releases') },
    });
  });

  test('a dry run plans and starts nothing', async () => {
    const rig = setUp();
    const reply = await call(rig, `POST ${WEB}/rollback?dry_run=true`);
    expect(reply.body.plan.changes[0]).toMatchObject({
      from: { live_release: 'rel_2' },
      to: { live_release: 'rel_1' },
    });
    expect(rig.operationStore.open()).toEqual([]);
  });
});

describe('restartService', () => {
  test('starts an operation, once for an Idempotency-Key', async () => {
    const rig = setUp();
    const headers = { 'idempotency-key': 'again' };
    const first = await call(rig, `POST ${WEB}/restart`, { headers });
    const second = await call(rig, `POST ${WEB}/restart`, { headers });
    expect(first.status).toBe(202);
    expect(second).toMatchObject({ status: 202, body: first.body });
    expect(rig.operationStore.open()).toHaveLength(1);
  });

  test.each([{ live_release: null }, { replicas: 0 }])('is CONFLICT when nothing runs: %j', async (state) => {
    const rig = setUp(state);
    expect(await call(rig, `POST ${WEB}/restart`)).toMatchObject({ status: 409, body: { code: 'CONFLICT' } });
    expect(await call(rig, `POST ${WEB}/restart?dry_run=true`)).toMatchObject({ status: 409 });
  });
});

describe('deleteService', () => {
  test('needs confirm, starts one operation, and holds back changes until it has ended', async () => {
    const rig = setUp();
    expect((await call(rig, `DELETE ${WEB}`)).status).toBe(400);
    const first = await call(rig, `DELETE ${WEB}?confirm=true`);
    expect(first.status).toBe(202);
    expect((await call(rig, `DELETE ${WEB}?confirm=true`)).body).toEqual(first.body);
    expect(await call(rig, `PATCH ${WEB}`, { body: { replicas: 2 } })).toMatchObject({
      status: 409,
      body: { retryable: true },
    });
    finish(rig, first.body.operation_id, 'failed');
    expect((await call(rig, `PATCH ${WEB}`, { body: { replicas: 2 } })).status).toBe(202);
  });

  test('cancels the changes of this service that are open, and no others', async () => {
    const rig = setUp();
    addService(rig, 'shop', 'api', { live_release: 'rel_1' });
    const restart = async (service: string): Promise<string> =>
      (await call(rig, `POST /v1/projects/shop/services/${service}/restart`)).body.operation_id;
    const [own, others] = [await restart('web'), await restart('api')];
    const dry = await call(rig, `DELETE ${WEB}?dry_run=true`);
    expect(dry.body.plan.changes).toContainEqual({ action: 'cancel', resource: 'operation', name: own });
    const { body } = await call(rig, `DELETE ${WEB}?confirm=true`);
    const canceled = [own, others, body.operation_id].map((id) => rig.operationStore.get(id)?.cancel_requested);
    expect(canceled).toEqual([1, 0, 0]);
  });
});
