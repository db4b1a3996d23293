import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostOf } from '#modules/datastores';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { replicaIds } from '#test/support/replicas.ts';
import { until } from '#test/support/until.ts';
import { ask, containersOf, createDatastore, type DatastoreRole, probeApp, rowOf, Store } from './kit.ts';

const KINDS = ['postgres', 'redis', 'mongo'] as const;
const PORTS = { postgres: 5432, redis: 6379, mongo: 27017 };

let berth: Berth;
/** Command lines of all processes, seen while the tests ran. */
const commandLines = new Set<string>();
let watching: ReturnType<typeof setInterval>;

beforeAll(async () => {
  berth = await Berth.boot();
  watching = setInterval(() => {
    for (const line of Bun.spawnSync(['ps', '-eo', 'args']).stdout.toString().split('\n')) commandLines.add(line);
  }, 250);
  for (const project of ['mine', 'theirs']) await berth.project(project);
  const app = await probeApp();
  await Promise.all([
    ...KINDS.map((kind) => createDatastore(berth, 'mine', { kind })),
    createDatastore(berth, 'theirs', { kind: 'redis' }),
  ]);
  for (const project of ['mine', 'theirs']) {
    expect(await berth.deploy(project, 'web', app)).toMatchObject({ status: 'succeeded', error: null });
  }
}, 240_000);

afterAll(async () => {
  clearInterval(watching);
  await berth.destroy();
}, 60_000);

/** Where the datastores of the first project listen: by address and by name. */
const targets = (): { host: string; port: number }[] =>
  KINDS.flatMap((kind) => {
    const { addresses } = rowOf(berth, 'mine', kind);
    const port = PORTS[kind];
    const storage = addresses['storage'];
    return [
      { host: addresses['main'] ?? '', port },
      { host: hostOf(kind), port },
      ...(storage === undefined ? [] : [{ host: storage, port: 5432 }]),
    ];
  });

const reach = (project: string, target: { host: string; port: number }): Promise<unknown> =>
  ask(berth, project, 'web', ['/reach', target]);

describe('a datastore is reached', () => {
  test('from the apps of its project', async () => {
    for (const target of targets()) expect([target, await reach('mine', target)]).toEqual([target, 'connected']);
  });

  test('from no app of another project, by address or by name', async () => {
    // Theirs has a redis of its own, under the same name.
    const foreign = targets().filter(({ host }) => host !== hostOf('redis'));
    for (const target of foreign) {
      expect([target, await reach('theirs', target)]).toEqual([target, expect.not.stringMatching('connected')]);
    }
    const own = `redis://${hostOf('redis')}:6379`;
    const { user, password } = rowOf(berth, 'mine', 'redis').secrets.credentials.at(-1) ?? expect.unreachable();
    const url = own.replace('//', `//${user}:${password}@`);
    expect(await ask(berth, 'theirs', 'web', ['/redis-login', { url }])).toContain('WRONGPASS');
  }, 60_000);

  test('from no build step, of its own project either', async () => {
    const script = `
      const net = require('node:net');
      for (const { host, port } of ${JSON.stringify(targets())}) {
        const socket = net.connect({ host, port, timeout: 1500 });
        socket.on('connect', () => { console.log('REACHED ' + host + ':' + port); socket.destroy(); });
        socket.on('timeout', () => socket.destroy());
        socket.on('error', () => undefined);
      }
      setTimeout(() => console.log('tried all'), 2500);
    `;
    const files = { 'reach.js': script, Dockerfile: 'FROM node:24-slim\nCOPY . .\nRUN node reach.js && exit 7\n' };
    const operation = await berth.deploy('mine', 'builder', files);
    expect(operation).toMatchObject({ status: 'failed', error: { code: 'BUILD_COMMAND_FAILED' } });
    expect(operation.error?.log_tail).toContain('tried all');
    expect(operation.error?.log_tail).not.toContain('REACHED');
  }, 60_000);

  test('by nothing that the host publishes', async () => {
    const containers = await containersOf(berth, 'datastore');
    expect(containers).toHaveLength(5);
    for (const { HostConfig, NetworkSettings } of JSON.parse(await docker(['inspect', ...containers]))) {
      expect(HostConfig.PortBindings ?? {}).toEqual({});
      expect(HostConfig.PublishAllPorts).toBe(false);
      expect(Object.values(NetworkSettings.Ports ?? {}).filter((bound) => bound !== null)).toEqual([]);
    }
  });

  test('by no superuser, consoles’ roles or other ways in from the address of an app, even with the right password', async () => {
    const { secrets, addresses } = rowOf(berth, 'mine', 'postgres');
    const login = (options: object): Promise<unknown> =>
      ask(berth, 'mine', 'web', ['/login', { host: addresses['main'], database: 'app', ssl: true, ...options }]);
    for (const database of ['app', 'postgres', 'template1'])
      expect(await login({ user: 'postgres', password: secrets.adminPassword, database })).toBe('28000');
    const [credential] = secrets.credentials;
    expect(await login({ ...credential, database: 'app' })).toBe('connected');
    expect(await login({ ...credential, database: 'postgres' })).toBe('28000');
    const storage = rowOf(berth, 'mine', 'mongo');
    // Its certificate is for the name that apps know.
    const behind = { host: storage.addresses['storage'], ssl: { rejectUnauthorized: false }, database: 'app' };
    expect(await login({ ...behind, ...storage.secrets.credentials[0] })).toBe('28000');
    expect(await login({ ...behind, user: 'postgres', password: storage.secrets.adminPassword })).toBe('28000');
  });
});

describe('a datastore reaches', () => {
  test('no datastore of another project, and nothing of berth’s own', async () => {
    const [container = ''] = await containersOf(berth, 'datastore', [
      `dev.berth.datastore-id=${rowOf(berth, 'mine', 'postgres').id}`,
    ]);
    const { addresses } = rowOf(berth, 'theirs', 'redis');
    const tcp = (host: string, port: number): Promise<string> =>
      docker([
        'exec',
        container,
        'timeout',
        '2',
        'bash',
        '-c',
        `echo > /dev/tcp/${host}/${port} && echo connected`,
      ]).catch(() => 'refused');
    expect(await tcp(rowOf(berth, 'mine', 'redis').addresses['main'] ?? '', 6379)).toContain('connected');
    expect(await tcp(addresses['main'] ?? '', 6379)).toBe('refused');
    const gateway = (
      await docker(['inspect', '--format', '{{range .NetworkSettings.Networks}}{{.Gateway}}{{end}}', container])
    ).trim();
    for (const port of [berth.ports.api, berth.ports.proxyApi, berth.ports.registry])
      expect(await tcp(gateway, port)).toBe('refused');
  }, 30_000);
});

/** Every secret of the project's datastores, in the forms in which it could leak. */
const secretForms = (): string[] =>
  KINDS.flatMap((kind) => {
    const { secrets } = rowOf(berth, 'mine', kind);
    const passwords = [
      secrets.adminPassword,
      secrets.readerPassword,
      secrets.writerPassword,
      ...secrets.credentials.map(({ password }) => password),
    ];
    const key = secrets.tls?.keyPem.split('\n')[1] ?? expect.unreachable();
    return [...passwords, key].flatMap((secret) => [
      secret,
      Buffer.from(secret).toString('base64').replaceAll('=', ''),
      Buffer.from(secret).toString('hex'),
    ]);
  });

const leaksIn = (text: string): string[] => secretForms().filter((form) => text.includes(form));

describe('passwords of datastores', () => {
  test('are only where they must be, after all that can be done with them was done', async () => {
    const old = secretForms();
    const operations: string[] = [];
    for (const kind of KINDS) {
      const store = new Store(berth, 'mine', kind);
      for (const verb of ['backups', 'rotate', 'restart']) {
        const operation = await store.change(verb);
        expect(operation).toMatchObject({ status: 'succeeded', error: null });
        operations.push(operation.stream_url);
      }
      await berth.api(`${store.path}/query`, { method: 'POST', body: { query: 'no such query' } });
    }
    const secrets = [...old, ...secretForms()];
    const leaks = (text: string): string[] => secrets.filter((form) => text.includes(form));
    expect(new Set(secrets).size).toBeGreaterThan(40);

    await ask(berth, 'mine', 'web', ['/tell?variable=DATABASE_URL']);
    await ask(berth, 'mine', 'web', ['/tell?variable=PGPASSWORD']);
    const log = async (): Promise<string> =>
      String((await berth.api('/v1/projects/mine/services/web/logs?follow=false&tail=1000')).body);
    await until(async () => (await log()).split('it is ').length > 2);
    const paths = [
      ...operations,
      ...KINDS.flatMap((kind) => [
        `/v1/projects/mine/datastores/${kind}`,
        `/v1/projects/mine/datastores/${kind}/backups`,
        `/v1/projects/mine/datastores/${kind}/tables`,
      ]),
      '/v1/projects/mine/datastores',
      '/v1/projects/mine',
      '/v1/projects/mine/env',
      '/v1/projects/mine/events?follow=false',
      '/v1/projects/mine/services/web/logs?follow=false&tail=1000',
      '/v1/operations?limit=200',
      '/metrics',
    ];
    for (const path of paths) {
      const reply = await berth.api(path);
      expect([path, reply.status]).toEqual([path, 200]);
      expect([path, leaks(JSON.stringify(reply.body))]).toEqual([path, []]);
    }
    expect(leaks(berth.serverLog)).toEqual([]);
    expect(leaks([...commandLines].join('\n'))).toEqual([]);
    for (const role of ['datastore', 'datastore-scratch', 'datastore-job'] satisfies DatastoreRole[]) {
      for (const id of await containersOf(berth, role)) {
        expect(leaks(await docker(['inspect', id]))).toEqual([]);
        expect(leaks(await docker(['logs', id]))).toEqual([]);
      }
    }
    const files = await Bun.$`grep -rlFf - ${berth.dataDir} < ${new Response(secrets.join('\n'))}`.nothrow().text();
    expect(files).toBe('');
  }, 240_000);

  test('are in the variables of replicas, today’s alone', async () => {
    const [id = ''] = await replicaIds(berth, 'mine', 'web');
    const [{ Config }] = JSON.parse(await docker(['inspect', id]));
    const url = rowOf(berth, 'mine', 'postgres').secrets.credentials.at(-1)?.password ?? expect.unreachable();
    expect(Config.Env).toContain(`PGPASSWORD=${url}`);
    expect(leaksIn(Config.Env.filter((line: string) => !/^(PGPASSWORD|\w+_URL)=/.test(line)).join('\n'))).toEqual([]);
  });
});
