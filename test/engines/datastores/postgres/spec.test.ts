import { expect, test } from 'bun:test';
import type { DatastoreInstance } from '#engines/datastores/port';
import { START } from '#engines/datastores/postgres/cluster';
import { connectionOf } from '#engines/datastores/postgres/connection';
import { datastoreRules, hbaFile } from '#engines/datastores/postgres/hba';
import { roleStatements } from '#engines/datastores/postgres/roles';
import { type Server, serverContainer, serverFiles } from '#engines/datastores/postgres/server';
import { serverSettings } from '#engines/datastores/postgres/settings';
import { scramVerifier } from '#engines/datastores/postgres/verifier';

const instance: DatastoreInstance = {
  id: 'ds_0123456789abcdef',
  kind: 'postgres',
  project: 'shop',
  name: 'orders',
  version: '17',
  host: 'orders.db.internal',
  network: 'berth-shop',
  gateway: '10.1.2.1',
  addresses: { main: '10.1.2.9' },
  memoryMb: 512,
  cpus: 1,
  storageLimitMb: null,
  adminPassword: 'a',
  readerPassword: 'r',
  writerPassword: 'w',
  credentials: [{ user: 'app_1', password: 'secret' }],
  labels: { 'dev.berth.project': 'shop' },
  tls: { caPem: 'CA', certificatePem: 'CERTIFICATE', keyPem: 'KEY' },
};
const server: Server = {
  instance,
  unit: 'main',
  major: '17',
  memoryMb: 512,
  cpus: 1,
  aliases: ['orders.db.internal'],
  hba: datastoreRules(instance.gateway),
};

test('the container of a server has no capability, no port, no mount, and a root that cannot be written', () => {
  const { command, ...rest } = serverContainer(server);
  expect(rest).toEqual({
    name: 'berth-shop-orders-main-6789abcdef',
    image: 'postgres:17',
    entrypoint: ['sh', '-c', START, 'start'],
    env: { PGDATA: '/var/lib/postgresql/data/pgdata' },
    labels: { 'dev.berth.project': 'shop' },
    network: { name: 'berth-shop', ip: '10.1.2.9', aliases: ['orders.db.internal'] },
    loopbackPorts: [],
    mounts: [],
    volumes: [
      {
        name: 'berth-ds_0123456789abcdef-main',
        target: '/var/lib/postgresql/data',
        labels: { 'dev.berth.project': 'shop' },
      },
    ],
    memoryBytes: 512 * 1024 ** 2,
    cpus: 1,
    pidsLimit: 164,
    capAdd: [],
    user: '999:999',
    readOnlyRoot: true,
    tmpfs: ['/tmp'],
    shmBytes: 128 * 1024 ** 2,
    restart: 'unless-stopped',
    init: false,
    stopGraceSeconds: 60,
  });
  expect(command).toContain('hba_file=/var/lib/postgresql/data/berth/pg_hba.conf');
  expect(command?.filter((_, index) => index % 2 === 0).every((word) => word === '-c')).toBe(true);
});

test('the volume of Postgres 18 is where its image declares one', () => {
  const { volumes, env } = serverContainer({ ...server, major: '18' });
  expect([volumes[0]?.target, env]).toEqual(['/var/lib/postgresql', { PGDATA: '/var/lib/postgresql/pgdata' }]);
});

test('nothing of an instance is a secret of its container', () => {
  const text = JSON.stringify(serverContainer(server));
  for (const secret of ['KEY', 'CERTIFICATE', 'secret']) expect(text).not.toContain(secret);
});

test('the key is for the server alone', () => {
  expect(serverFiles(server).at(-1)).toEqual({
    path: '/var/lib/postgresql/data/berth/server.key',
    content: 'KEY',
    uid: 999,
    gid: 999,
    mode: 0o600,
  });
});

test('the rules let the superuser in from berth, apps into their database, and nobody else', () => {
  expect(hbaFile(datastoreRules('10.1.2.1'))).toBe(
    [
      'host all postgres 10.1.2.1/32 scram-sha-256',
      'host all postgres all reject',
      'host all berth_reader,berth_writer samenet scram-sha-256',
      'host app +app samenet scram-sha-256',
      'host all all all reject',
      '',
    ].join('\n'),
  );
});

test('settings follow from the size', () => {
  const of = (memoryMb: number, cpus: number, storageLimitMb: number | null = null) => {
    const all = serverSettings({ major: '17', memoryMb, cpus, storageLimitMb });
    const names = [
      'shared_buffers',
      'work_mem',
      'maintenance_work_mem',
      'max_connections',
      'max_wal_size',
      'temp_file_limit',
    ];
    return names.map((name) => all[name]);
  };
  expect(of(256, 1)).toEqual(['64MB', '2MB', '16MB', '50', '1024MB', undefined]);
  expect(of(512, 1)).toEqual(['128MB', '4MB', '32MB', '100', '1024MB', undefined]);
  expect(of(8192, 4, 2048)).toEqual(['2048MB', '64MB', '512MB', '200', '128MB', '2048MB']);
});

test('settings that a version does not know are not given to it', () => {
  const names = (major: string) => Object.keys(serverSettings({ major, memoryMb: 512, cpus: 1, storageLimitMb: null }));
  expect(names('17')).toEqual(expect.arrayContaining(['allow_alter_system', 'reserved_connections']));
  expect(names('16')).not.toEqual(expect.arrayContaining(['allow_alter_system']));
});

test('the URL escapes what has a meaning in URLs', () => {
  const { url, parts } = connectionOf(instance, { user: 'a b', password: 'p@:/?#%&"' });
  expect(url).toBe('postgresql://a%20b:p%40%3A%2F%3F%23%25%26%22@orders.db.internal:5432/app?sslmode=require');
  expect(parts).toEqual({
    PGHOST: 'orders.db.internal',
    PGPORT: '5432',
    PGUSER: 'a b',
    PGPASSWORD: 'p@:/?#%&"',
    PGDATABASE: 'app',
    PGSSLMODE: 'require',
  });
});

test('a verifier is what Postgres makes of the password (RFC 7677, section 3)', async () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  expect(await scramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
});

test('statements quote names and verifiers', () => {
  const wanted = { admin: 'A', reader: 'R', writer: "W'", logins: new Map([['app"x', 'L']]) };
  const statements = roleStatements(wanted, { names: new Set(['app']), logins: ['app_old'] });
  expect(statements[0]).toStartWith('ALTER ROLE "app" WITH NOLOGIN ');
  expect(statements).toContain('GRANT app TO "app""x"');
  expect(statements).toContain('ALTER ROLE "app_old" WITH NOLOGIN');
  expect(statements.filter((statement) => statement.includes("'W'''"))).toHaveLength(1);
});
