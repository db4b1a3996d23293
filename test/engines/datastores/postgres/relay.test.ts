import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createServer, connect as connectTcp, type Server, type Socket } from 'node:net';
import { Client } from 'pg';
import { connect } from '#engines/datastores/postgres/connect';
import { createPostgresRelay } from '#engines/datastores/postgres/relay';
import { type Clock, systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { until } from '#test/support/until.ts';
import { failureOf } from './bytes.ts';
import { type ConsoleServer, startConsoleServer } from './console-server.ts';

let server: ConsoleServer;
let tunnel: Server;
let port: number;
/** Relays that have not ended, what became of those that have, and the client sockets. */
let running = 0;
const endings: PromiseSettledResult<void>[] = [];
const sockets = new Set<Socket>();
const stopping = new AbortController();

const log = createLog('error', (line) => process.stderr.write(line), Date.now);
/** Waits for the first word of a client only as long as a test likes to. */
const hasty: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms === 10_000 ? 1000 : ms, signal) };

const served = async (relayed: Promise<void>, socket: Socket): Promise<void> => {
  const [ending] = await Promise.allSettled([relayed]);
  running -= 1;
  sockets.delete(socket);
  endings.push(ending);
};

beforeAll(async () => {
  server = await startConsoleServer();
  const relay = createPostgresRelay({ clock: hasty, log, connect });
  tunnel = createServer({ allowHalfOpen: true }, (socket) => {
    running += 1;
    sockets.add(socket);
    void served(relay(server.instance, socket, stopping.signal), socket);
  });
  await new Promise<void>((resolve) => tunnel.listen(0, '127.0.0.1', resolve));
  const address = tunnel.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
}, 60_000);

afterAll(async () => {
  tunnel.close();
  await server.remove();
});

interface Ended {
  code: number;
  out: string;
  error: string;
}

/** Runs a program of the image that talks to the tunnel. */
const program = async (argv: string[], env: Record<string, string> = {}, stdin?: string): Promise<Ended> => {
  const all = { PGHOST: '127.0.0.1', PGPORT: String(port), PGUSER: 'whoever', PGDATABASE: 'app', ...env };
  const child = Bun.spawn(
    [
      'docker',
      'run',
      '--rm',
      '-i',
      '--network',
      'host',
      ...Object.entries(all).flatMap(([k, v]) => ['-e', `${k}=${v}`]),
      'postgres:17',
      ...argv,
    ],
    { stdin: stdin === undefined ? 'ignore' : new Blob([stdin]), stdout: 'pipe', stderr: 'pipe' },
  );
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, error };
};
const psql = (sql: string, env?: Record<string, string>): Promise<Ended> => program(['psql', '-XAtc', sql], env);
const sessions = async (query: string): Promise<number> =>
  Number((await server.admin.query('SELECT count(*) FROM pg_stat_activity WHERE query = $1', [query])).rows[0]?.count);

const nodeClient = async (more: object = {}): Promise<Client> => {
  const client = new Client({ host: '127.0.0.1', port, user: 'ann', database: 'app', ...more });
  client.on('error', () => undefined);
  await client.connect();
  return client;
};

describe('psql', () => {
  test('is let in without a password, as the writing role, with its own settings', async () => {
    const sql =
      'SELECT current_user, session_user, current_database(), ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
    expect(await psql(sql)).toMatchObject({ code: 0, out: 'app|berth_writer|app|t\n', error: '' });
    const env = {
      PGCLIENTENCODING: 'LATIN1',
      PGOPTIONS: '-c work_mem=7MB -c my.words=a\\ b',
      PGAPPNAME: 'my tool',
      PGTZ: 'Asia/Tokyo',
    };
    const settings = ['client_encoding', 'work_mem', 'my.words', 'application_name', 'TimeZone', 'statement_timeout'];
    const shown = await psql(`SELECT ${settings.map((name) => `current_setting('${name}')`).join(', ')}`, env);
    expect(shown).toMatchObject({ out: 'LATIN1|7MB|a b|my tool|Asia/Tokyo|0\n' });
  });

  test('runs scripts of several statements, COPY and its own commands', async () => {
    const script = `CREATE TABLE visits (id int, who text);\n\\copy visits from stdin\n1\tann\n2\tbob\n\\.\nBEGIN;\nDELETE FROM visits WHERE id = 1;\nROLLBACK;\n\\d visits\nCOPY visits TO STDOUT;\n`;
    const { code, out } = await program(['psql', '-XAt', '-v', 'ON_ERROR_STOP=1'], {}, script);
    expect(code).toBe(0);
    expect(out).toContain('who|text');
    expect(out).toEndWith('1\tann\n2\tbob\n');
  });

  test('is told why it is not let in', async () => {
    expect(await psql('SELECT 1', { PGDATABASE: 'postgres' })).toMatchObject({
      code: 2,
      error: expect.stringContaining('FATAL:  the database is called app, not postgres'),
    });
    expect((await psql('SELECT 1', { PGOPTIONS: '-c nope=1' })).error).toContain(
      'unrecognized configuration parameter "nope"',
    );
    expect((await psql('SELECT 1', { PGCLIENTENCODING: 'NOPE' })).error).toContain(
      'invalid value for parameter "client_encoding"',
    );
    const [last] = endings.slice(-1);
    expect(last).toMatchObject({ status: 'rejected', reason: { kind: 'INVALID_INPUT' } });
  });

  test('cancels what it runs', async () => {
    const name = `relay-cancel-${server.containerId.slice(0, 12)}`;
    const env = ['-e', 'PGHOST=127.0.0.1', '-e', `PGPORT=${port}`, '-e', 'PGUSER=a', '-e', 'PGDATABASE=app'];
    const argv = [
      'docker',
      'run',
      '--rm',
      '--name',
      name,
      '--network',
      'host',
      ...env,
      'postgres:17',
      'psql',
      '-Xc',
      'SELECT pg_sleep(62)',
    ];
    const child = Bun.spawn(argv, { stdout: 'pipe', stderr: 'pipe' });
    await until(async () => (await sessions('SELECT pg_sleep(62)')) === 1);
    await Bun.spawn(['docker', 'kill', '-s', 'INT', name], { stdout: 'ignore' }).exited;
    expect(await new Response(child.stderr).text()).toContain('canceling statement due to user request');
  });
});

test('pg_dump and pg_restore go through', async () => {
  await psql('CREATE TABLE dumped AS SELECT g AS id, md5(g::text) AS text FROM generate_series(1, 1000) g');
  const dumped = await program([
    'sh',
    '-c',
    'pg_dump -Fc -t dumped >/tmp/d && psql -Xqc "DROP TABLE dumped" && pg_restore -d app /tmp/d',
  ]);
  expect(dumped).toMatchObject({ code: 0, error: '' });
  expect(
    (await psql("SELECT count(*), tableowner FROM dumped, pg_tables WHERE tablename = 'dumped' GROUP BY 2")).out,
  ).toBe('1000|app\n');
});

describe('drivers', () => {
  test('pg works, with bound parameters, errors, notifications and many at once', async () => {
    const client = await nodeClient();
    expect((await client.query('SELECT $1::int + 1 AS n', [41])).rows).toEqual([{ n: 42 }]);
    expect(await failureOf(client.query('SELECT nope'))).toMatchObject({ code: '42703' });
    await client.query('LISTEN news');
    const heard = new Promise((resolve) => client.once('notification', ({ payload }) => resolve(payload)));
    const others = await Promise.all(Array.from({ length: 10 }, () => nodeClient()));
    await others[0]?.query("NOTIFY news, 'hello'");
    expect(await heard).toBe('hello');
    await Promise.all([client, ...others].map((one) => one.end()));
    await until(() => running === 0);
  });

  test('Bun.sql works, which pipelines', async () => {
    const sql = new Bun.SQL({
      adapter: 'postgres',
      hostname: '127.0.0.1',
      port,
      username: 'ann',
      database: 'app',
      max: 3,
    });
    const all = await Promise.all(Array.from({ length: 30 }, (_, n) => sql`SELECT ${n}::int AS n`));
    expect(all.map(([row]) => row.n)).toEqual(Array.from({ length: 30 }, (_, n) => n));
    await sql.close();
    await until(() => running === 0);
  });

  test('a client that asks for a later protocol is told which one it gets', async () => {
    const answer = await talk(startup({ user: 'ann', '_pq_.fancy': 'on' }, (3 << 16) | 2));
    expect(answer.toString('latin1')).toStartWith('v\0\0\0\x17\0\x03\0\0\0\0\0\x01_pq_.fancy\0R\0\0\0\x08\0\0\0\0S');
  });
});

/** A StartupMessage. */
const startup = (parameters: Record<string, string>, version = 3 << 16): Buffer => {
  const body = Buffer.from(`${Object.entries(parameters).flat().join('\0')}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(8 + body.length, 0);
  head.writeInt32BE(version, 4);
  return Buffer.concat([head, body]);
};

/** What comes back, until nothing more has come for a moment or the tunnel has closed. */
const talk = async (bytes: Buffer): Promise<Buffer> => {
  const socket = connectTcp(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(bytes);
  await Promise.race([closed, until(() => Buffer.concat(chunks).subarray(-6).toString('latin1') === 'Z\0\0\0\x05I')]);
  socket.destroy();
  await until(() => running === 0);
  return Buffer.concat(chunks);
};

describe('a client that is none', () => {
  test.each([
    ['speaks HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['speaks TLS at once', Buffer.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc])],
    ['speaks protocol 2', startup({}, 2 << 16)],
    ['asks for encryption for ever', Buffer.from('0000000804d2162f'.repeat(5), 'hex')],
    ['wants replication', startup({ user: 'a', replication: 'database' })],
    ['sends a setting of no name', startup({ user: 'a', 'x -c role': 'postgres' })],
  ])('%s gets an error of the protocol', async (_what, bytes) => {
    const answer = (await talk(bytes)).toString('latin1').replace(/^N+/, '');
    expect(answer).toMatch(/^E.{4}SFATAL\0VFATAL\0C08P01\0M/s);
    await until(() => running === 0);
    expect(endings.at(-1)).toMatchObject({ status: 'rejected', reason: { kind: 'INVALID_INPUT' } });
  });

  test('says nothing, or only half a word, is let go after a while', async () => {
    expect((await talk(startup({ user: 'ann' }).subarray(0, 7))).length).toBe(0);
    await until(() => running === 0);
    expect(endings.at(-1)).toMatchObject({ status: 'rejected', reason: { kind: 'TIMEOUT' } });
  });

  test('leaves at once is no failure', async () => {
    const before = endings.length;
    const leaving = connectTcp(port, '127.0.0.1', () => leaving.end());
    await until(() => endings.length > before);
    expect(endings.at(-1)).toMatchObject({ status: 'fulfilled' });
  });

  test('sends a byte at a time is understood', async () => {
    const socket = connectTcp(port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.setNoDelay(true);
    for (const byte of Buffer.concat([Buffer.from('0000000804d2162f', 'hex'), startup({ user: 'ann' })])) {
      await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve));
    }
    await until(() => answer.endsWith('Z\0\0\0\x05I'));
    expect(answer).toStartWith('NR');
    socket.destroy();
    await until(() => running === 0);
  });
});

describe('when one side vanishes', () => {
  test('the client: its session on the server ends, also in the middle of a statement', async () => {
    const client = await nodeClient();
    client.query('SELECT pg_sleep(63)').catch(() => undefined);
    await until(async () => (await sessions('SELECT pg_sleep(63)')) === 1);
    client.connection.stream.destroy();
    await until(() => running === 0, 20);
    await until(async () => (await sessions('SELECT pg_sleep(63)')) === 0, 20);
  });

  test('the server: its clients are closed', async () => {
    const client = await nodeClient();
    const closed = new Promise((resolve) => client.once('end', resolve));
    await server.admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'berth_writer'");
    await closed;
    await until(() => running === 0);
    expect(endings.at(-1)).toMatchObject({ status: 'fulfilled' });
  });

  test('the server before the beginning: the client reads why', async () => {
    const relay = createPostgresRelay({ clock: systemClock, log, connect });
    const nowhere = { ...server.instance, addresses: { main: '127.0.0.1' } };
    const ended = Promise.withResolvers<unknown>();
    const other = createServer((socket) => {
      relay(nowhere, socket, stopping.signal).then(ended.resolve, ended.resolve);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const address = other.address();
    const lost = new Client({
      host: '127.0.0.1',
      port: typeof address === 'object' ? address?.port : 0,
      user: 'a',
      database: 'app',
    });
    expect(await failureOf(lost.connect())).toMatchObject({ severity: 'FATAL', code: '08006' });
    expect(await ended.promise).toMatchObject({ kind: 'INTERNAL_ERROR', retryable: true });
    other.close();
  });
});

describe('a hundred megabytes', () => {
  beforeAll(async () => {
    await server.admin.query(
      "CREATE TABLE bulk AS SELECT g, repeat('x', 1000) AS text FROM generate_series(1, 100000) g",
    );
    await server.admin.query('ALTER TABLE bulk OWNER TO app');
  });

  /** By how much memory grew at most while `work` ran. */
  const growth = async (work: () => Promise<void>): Promise<number> => {
    Bun.gc(true);
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
    await work();
    clearInterval(watch);
    return (most - before) / 1024 / 1024;
  };

  test('wait on the server for a client that does not read', async () => {
    const socket = connectTcp(port, '127.0.0.1');
    const copy = Buffer.from('Q\0\0\0\x18COPY bulk TO STDOUT\0', 'latin1');
    const grown = await growth(async () => {
      await new Promise((resolve) => socket.write(startup({ user: 'a' }), resolve));
      await new Promise((resolve) => socket.once('data', resolve));
      socket.pause();
      socket.write(copy);
      const waiting =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'ClientWrite' AND query LIKE 'COPY bulk%'";
      let waits = 0;
      // Not only for a moment: nothing moves any more.
      await until(async () => {
        waits = (await server.admin.query(waiting)).rows[0]?.count === '1' ? waits + 1 : 0;
        return waits === 5;
      });
    });
    expect(grown).toBeLessThan(30);
    socket.destroy();
    await until(() => running === 0, 20);
  });

  test('pass in both directions at once, byte for byte', async () => {
    const grown = await growth(async () => {
      const both = await program(['bash', '-c', 'psql -Xc "COPY bulk TO STDOUT" | psql -Xc "COPY bulk FROM STDIN"']);
      expect(both).toMatchObject({ code: 0, out: 'COPY 100000\n' });
    });
    const sums = 'SELECT count(*), sum(g), count(DISTINCT text) AS texts FROM bulk';
    expect((await server.admin.query(sums)).rows).toEqual([{ count: '200000', sum: '10000100000', texts: '1' }]);
    // Twice a hundred megabytes went through; what is held of them is garbage that was not collected yet.
    expect(grown).toBeLessThan(100);
  }, 60_000);
});

test('stopping ends every tunnel and every session', async () => {
  const clients = await Promise.all([nodeClient(), nodeClient()]);
  const closed = clients.map((client) => new Promise((resolve) => client.once('end', resolve)));
  const silent = connectTcp(port, '127.0.0.1');
  silent.on('error', () => undefined);
  await until(() => running === 3);
  stopping.abort(new Error('berth stops'));
  await Promise.all(closed);
  await until(() => running === 0);
  expect(sockets.size).toBe(0);
  const left = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'berth_writer'";
  await until(async () => (await server.admin.query(left)).rows[0]?.count === '0');
});
