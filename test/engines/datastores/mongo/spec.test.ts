import { describe, expect, test } from 'bun:test';
import { createMongoEngine } from '#engines/datastores/mongo/index';
import { splitMemory, storageRules } from '#engines/datastores/mongo/spec';
import type { DatastoreInstance } from '#engines/datastores/port';
import { failureOf } from './lab.ts';
import { hbaFile } from '#engines/datastores/postgres/hba';

const tls = { caPem: 'ca', certificatePem: 'certificate', keyPem: 'key' };
const instance: DatastoreInstance = {
  id: 'ds_0123456789abcdef',
  kind: 'mongo',
  project: 'shop',
  name: 'docs',
  version: '1.24',
  host: 'docs.db.internal',
  network: 'berth-shop',
  gateway: '10.90.0.1',
  addresses: { storage: '10.90.0.20', main: '10.90.0.21' },
  memoryMb: 512,
  cpus: 1,
  storageLimitMb: null,
  adminPassword: 'ADMIN-SECRET',
  readerPassword: 'READER-SECRET',
  writerPassword: 'WRITER-SECRET',
  credentials: [{ user: 'app_one', password: 'APP-SECRET' }],
  tls,
  labels: { 'berth.datastore': 'docs' },
};

const never = (): never => {
  throw new Error('nothing may be called');
};
const engine = createMongoEngine({
  runtime: {} as never,
  clock: { now: never, monotonic: never, sleep: never },
  log: { debug: never, info: never, warn: never, error: never },
  jobs: { run: never },
  scratch: { start: never },
  templateDir: '/nowhere',
  templateLabels: {},
});

describe('a mongo datastore', () => {
  test('is a Postgres that starts first, and FerretDB that apps find by name', () => {
    const [storage, main] = engine.units(instance);
    expect([storage?.role, main?.role]).toEqual(['storage', 'main']);
    expect(main?.container).toEqual({
      name: 'berth-shop-docs-main-6789abcdef',
      image: 'ghcr.io/ferretdb/ferretdb:1.24',
      env: {
        FERRETDB_HANDLER: 'postgresql',
        FERRETDB_LISTEN_ADDR: ':27017',
        FERRETDB_POSTGRESQL_URL:
          'postgres://berth_nobody@10.90.0.20:5432/app?sslmode=disable&connect_timeout=5&pool_max_conns=20&pool_max_conn_idle_time=1m',
        FERRETDB_STATE_DIR: '-',
        FERRETDB_DEBUG_ADDR: '-',
        FERRETDB_TELEMETRY: 'disable',
        DO_NOT_TRACK: '1',
        FERRETDB_LOG_LEVEL: 'ERROR+1',
        GOMEMLIMIT: '173MiB',
      },
      labels: { 'berth.datastore': 'docs' },
      network: { name: 'berth-shop', ip: '10.90.0.21', aliases: ['docs.db.internal'] },
      loopbackPorts: [],
      mounts: [],
      volumes: [],
      memoryBytes: 204 * 1024 * 1024,
      cpus: 0.5,
      pidsLimit: 256,
      capAdd: [],
      user: '1000:1000',
      readOnlyRoot: true,
      tmpfs: ['/state'],
      restart: 'unless-stopped',
      init: false,
      stopGraceSeconds: 15,
    });
    expect(storage?.container).toMatchObject({
      name: 'berth-shop-docs-storage-6789abcdef',
      image: 'postgres:17',
      network: { name: 'berth-shop', ip: '10.90.0.20', aliases: [] },
      volumes: [{ name: 'berth-ds_0123456789abcdef-storage' }],
      memoryBytes: 308 * 1024 * 1024,
      cpus: 0.5,
      readOnlyRoot: true,
      capAdd: [],
    });
  });

  test('has no secret in what Docker shows of its containers', () => {
    expect(JSON.stringify(engine.units(instance))).not.toContain('SECRET');
  });

  test('lets roles of apps into its Postgres from FerretDB alone', () => {
    expect(hbaFile(storageRules(instance))).toBe(
      [
        'host all postgres 10.90.0.1/32 scram-sha-256',
        'host all postgres all reject',
        'host app +app,berth_reader 10.90.0.21/32 scram-sha-256',
        'host app berth_reader,berth_writer 10.90.0.1/32 scram-sha-256',
        'host app berth_reader samenet scram-sha-256',
        'host all all all reject',
        '',
      ].join('\n'),
    );
  });

  test('gives apps one URL, with what must be escaped escaped', () => {
    expect(engine.connection(instance, { user: 'app_one', password: 'a/b@c:d?e#f%' })).toEqual({
      url: 'mongodb://app_one:a%2Fb%40c%3Ad%3Fe%23f%25@docs.db.internal:27017/app?authMechanism=PLAIN',
      parts: {},
    });
  });

  test.each([
    [256, { storageMb: 154, mainMb: 102 }],
    [512, { storageMb: 308, mainMb: 204 }],
    [2048, { storageMb: 1229, mainMb: 819 }],
    [32_768, { storageMb: 28_672, mainMb: 4096 }],
  ])('of %d MB splits them without losing any', (memoryMb, split) => {
    expect(splitMemory(memoryMb)).toEqual(split);
    expect(split.storageMb + split.mainMb).toBe(memoryMb);
  });

  test('cannot be restored, and says what to do instead', async () => {
    const signal = AbortSignal.timeout(1000);
    const refused = { kind: 'INVALID_INPUT', hint: expect.stringContaining('berth db download') };
    const nothing = (async function* (): AsyncGenerator<Uint8Array> {})();
    expect(engine.restorable).toBe(false);
    expect(await failureOf(engine.load(instance, nothing, signal))).toMatchObject(refused);
    expect(await failureOf(engine.loadBeside(instance, 'app_2', nothing, signal))).toMatchObject(refused);
    expect(await failureOf(engine.swap(instance, { database: 'a', kept: 'b' }))).toMatchObject(refused);
    expect(await failureOf(engine.listBeside(instance))).toMatchObject(refused);
    expect(await failureOf(engine.dropBeside(instance, 'a'))).toMatchObject(refused);
  });
});
