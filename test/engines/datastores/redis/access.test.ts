import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Duplex, duplexPair } from 'node:stream';
import Redis from 'ioredis';
import type { Credential } from '#engines/datastores/port';
import { until } from '#test/support/until.ts';
import { openRedis, type RedisBench } from './support.ts';

setDefaultTimeout(60_000);

const FIRST: Credential = { user: 'app_first', password: 'first-word' };
const SECOND: Credential = { user: 'app_second', password: 'sécond/wörd:@?#%' };

let redis: RedisBench;
const clients: Redis[] = [];
beforeAll(async () => {
  redis = await openRedis();
});
afterAll(async () => {
  for (const client of clients) client.disconnect();
  await redis.close();
});

/** A client as apps make one, from the URL alone. */
const client = async (url = redis.url(), options: { retry?: boolean } = {}): Promise<Redis> => {
  const made = new Redis(url, {
    lazyConnect: true,
    maxRetriesPerRequest: null,
    retryStrategy: () => (options.retry === true ? 20 : null),
  });
  made.on('error', () => undefined);
  clients.push(made);
  await made.connect();
  return made;
};

const settle = (credentials: Credential[]): Promise<void> => {
  redis.instance = { ...redis.instance, credentials };
  return redis.engine.settle(redis.instance, AbortSignal.timeout(30_000));
};

const refusal = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
    return 'nothing was refused';
  } catch (error) {
    return String(error);
  }
};

describe('an app', () => {
  test('has all that queues, caches and adapters use, through ioredis', async () => {
    const app = await client();
    const listener = await client();
    expect(await app.set('greeting', 'hello', 'EX', 100)).toBe('OK');
    expect(await app.multi().incr('count').incr('count').exec()).toEqual([
      [null, 1],
      [null, 2],
    ]);
    expect(await app.eval('return redis.call("GET", KEYS[1])', 1, 'greeting')).toBe('hello');
    const heard = once(listener, 'message');
    await listener.subscribe('news');
    await app.publish('news', 'it works');
    expect(await heard).toEqual(['news', 'it works']);
    const waiting = (await client()).blpop('list', 5);
    await app.rpush('list', 'job');
    expect(await waiting).toEqual(['list', 'job']);
    await app.xadd('stream', '*', 'field', 'value');
    expect(await app.xread('BLOCK', 10, 'STREAMS', 'stream', '0')).toHaveLength(1);
    expect(await app.scan(0, 'COUNT', 1000)).toEqual(['0', expect.arrayContaining(['greeting', 'count', 'stream'])]);
    expect((await app.keys('*')).sort()).toEqual(['count', 'greeting', 'stream']);
    expect(await app.client('SETNAME', 'web-1')).toBe('OK');
    expect(await app.client('LIST')).toContain('name=web-1');
    expect(await app.select(1)).toBe('OK');
    await app.set('other', 'database');
    expect(await app.flushdb()).toBe('OK');
    expect(await app.info('server')).toContain('redis_version:7');
    const dumped = await app.select(0).then(() => app.dumpBuffer('greeting'));
    expect(await app.restore('copy', 0, dumped)).toBe('OK');
    expect(await app.get('copy')).toBe('hello');
  });

  test('hears of expired keys, which it could not switch on itself', async () => {
    const listener = await client();
    const heard = once(listener, 'message');
    await listener.subscribe('__keyevent@0__:expired');
    await (await client()).set('brief', '1', 'PX', 20);
    expect(await heard).toEqual(['__keyevent@0__:expired', 'brief']);
  });

  test('runs BullMQ: jobs, retries, delays, progress and the list of workers', async () => {
    const connection = { ...redisAddress(), maxRetriesPerRequest: null };
    const queue = new Queue('mail', { connection });
    const events = new QueueEvents('mail', { connection });
    const worker = new Worker(
      'mail',
      async (job) => {
        await job.updateProgress(50);
        if (job.attemptsMade === 0 && job.name === 'flaky') throw new Error('once');
        return `sent to ${String(job.data.to)}`;
      },
      { connection, name: 'postman' },
    );
    try {
      await Promise.all([queue.waitUntilReady(), events.waitUntilReady(), worker.waitUntilReady()]);
      const jobs = await queue.addBulk([
        { name: 'plain', data: { to: 'a' } },
        { name: 'flaky', data: { to: 'b' }, opts: { attempts: 2 } },
        { name: 'late', data: { to: 'c' }, opts: { delay: 50 } },
      ]);
      const results = await Promise.all(jobs.map((job) => job.waitUntilFinished(events, 20_000)));
      expect(results).toEqual(['sent to a', 'sent to b', 'sent to c']);
      expect((await queue.getWorkers()).length).toBe(1);
      expect(await queue.getJobCounts('completed', 'failed')).toEqual({ completed: 3, failed: 0 });
      await queue.obliterate({ force: true });
    } finally {
      await Promise.all([worker.close(true), events.close(), queue.close()]);
    }
  });

  test.each<[string, ...string[]]>([
    ['CONFIG', 'SET', 'maxmemory', '0'],
    ['CONFIG', 'GET', 'dir'],
    ['ACL', 'SETUSER', 'default', 'nopass'],
    ['DEBUG', 'SLEEP', '0'],
    ['MODULE', 'LOAD', '/x.so'],
    ['SHUTDOWN', 'NOSAVE'],
    ['SAVE'],
    ['BGSAVE'],
    ['BGREWRITEAOF'],
    ['REPLICAOF', 'evil.example', '6379'],
    ['SYNC'],
    ['MONITOR'],
    ['MIGRATE', 'evil.example', '6379', 'k', '0', '10'],
    ['CLIENT', 'KILL', 'USER', 'berth_admin'],
    ['CLIENT', 'PAUSE', '10000'],
    ['EVAL', 'return redis.call("LASTSAVE")', '0'],
  ])('can not %s %s', async (command, ...rest) => {
    expect(await refusal((await client()).call(command, ...rest))).toMatch(/NOPERM|ACL failure|command not allowed/);
  });

  test('can not get in without a password, with a wrong one, or as berth', async () => {
    const { host, port } = redisAddress();
    for (const login of ['', 'app_first:wrong@', ':wrong@', 'default@', 'berth_admin:first-word@', 'berth_reader:@'])
      expect([
        login,
        await refusal(client(`redis://${login}${host}:${port}/0`).then((app) => app.get('greeting'))),
      ]).toEqual([login, expect.stringMatching(/NOAUTH|WRONGPASS|Connection is closed/)]);
  });

  test('gets in with the password alone, as old clients do', async () => {
    const { host, port } = redisAddress();
    expect(await (await client(`redis://:${FIRST.password}@${host}:${port}/0`)).get('greeting')).toBe('hello');
  });

  test('that reads nothing of a large reply is cut off before it takes the memory of the others', async () => {
    const app = await client();
    await app.setrange('large', 8 * 1024 ** 2, 'x');
    const greedy = connect(redisAddress().port, redisAddress().host);
    greedy.on('error', () => undefined);
    const closed = once(greedy, 'close');
    greedy.write(`AUTH ${FIRST.password}\r\nCLIENT SETNAME greedy\r\n`);
    const isThere = async (): Promise<boolean> => String(await app.client('LIST')).includes('name=greedy');
    await until(isThere);
    greedy.pause();
    greedy.write('GET large\r\n'.repeat(40));
    await until(async () => !(await isThere()));
    expect(await app.get('greeting')).toBe('hello');
    greedy.resume();
    await closed;
    await app.del('large');
  });
});

describe('a rotation', () => {
  test('lets both credentials in at once, then ends exactly the sessions of the dropped one', async () => {
    await settle([FIRST]);
    const old = await client(redis.url(FIRST));
    await settle([FIRST, SECOND]);
    const fresh = await client(redis.url(SECOND));
    let reconnected = false;
    fresh.on('close', () => (reconnected = true));
    expect([await old.get('greeting'), await fresh.get('greeting')]).toEqual(['hello', 'hello']);
    const ended = once(old, 'end');
    await settle([SECOND]);
    await ended;
    expect(await fresh.get('greeting')).toBe('hello');
    expect(reconnected).toBe(false);
    expect(await refusal(client(redis.url(FIRST)))).toMatch(/WRONGPASS|Connection is closed/);
  });

  test('ends sessions of the password alone too, and they come back with a valid one', async () => {
    const { host, port } = redisAddress();
    const bare = (password: string, retry = false): Promise<Redis> =>
      client(`redis://:${encodeURIComponent(password)}@${host}:${port}/0`, { retry });
    await settle([FIRST, SECOND]);
    const old = await bare(FIRST.password);
    const fresh = await bare(SECOND.password, true);
    const ended = once(old, 'end');
    await settle([SECOND]);
    await ended;
    expect(await fresh.get('greeting')).toBe('hello');
  });

  test('holds after a restart of the container by itself', async () => {
    await redis.lab.docker.getContainer(redis.containerId()).restart({ t: 5 });
    await redis.engine.settle(redis.instance, AbortSignal.timeout(30_000));
    expect(await (await client(redis.url(SECOND))).get('greeting')).toBe('hello');
    expect(await refusal(client(redis.url(FIRST)))).toMatch(/WRONGPASS|Connection is closed/);
  });

  test('disturbs nobody when nothing is to change', async () => {
    const app = await client();
    const listener = await client();
    await listener.subscribe('quiet');
    let closed = 0;
    for (const one of [app, listener]) one.on('close', () => (closed += 1));
    await settle([SECOND]);
    await settle([SECOND]);
    const heard = once(listener, 'message');
    await app.publish('quiet', 'still here');
    expect([await heard, closed]).toEqual([['quiet', 'still here'], 0]);
  });
});

describe('a tunnel', () => {
  /** The client's end of a tunnel, and the promise of its end. */
  const open = (signal = new AbortController().signal): { near: Duplex; far: Duplex; done: Promise<void> } => {
    const [near, far] = duplexPair();
    near.on('error', () => undefined);
    return { near, far, done: redis.engine.relay(redis.instance, far, signal) };
  };
  const ask = async (near: Duplex, text: string): Promise<string> => {
    near.write(text);
    const [answer] = (await once(near, 'data')) as [Buffer];
    return answer.toString();
  };

  test('needs no password, and does what an app may', async () => {
    const { near, done } = open();
    expect(await ask(near, 'GET greeting\r\n')).toBe('$5\r\nhello\r\n');
    expect(await ask(near, 'HELLO 3\r\n')).toStartWith('%');
    expect(await ask(near, 'AUTH anything wrong\r\n')).toStartWith('-WRONGPASS');
    expect(await ask(near, 'SUBSCRIBE a\r\n')).toStartWith('>3');
    expect(await ask(near, 'CONFIG GET dir\r\n')).toStartWith('-NOPERM');
    near.end();
    await done;
  });

  test('passes on more than either end can hold', async () => {
    const { near, done } = open();
    const value = 'x'.repeat(5_000_000);
    expect(await ask(near, `*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$${value.length}\r\n${value}\r\n`)).toBe('+OK\r\n');
    near.write('GET big\r\n');
    let size = 0;
    near.on('data', (chunk: Buffer) => (size += chunk.length));
    await until(() => size === value.length + '$5000000\r\n\r\n'.length);
    near.end();
    await done;
  });

  test('ends with the server, with berth, and says why it can not begin', async () => {
    const stop = new AbortController();
    const { near, far, done } = open(stop.signal);
    expect(await ask(near, 'PING\r\n')).toBe('+PONG\r\n');
    stop.abort();
    await done;
    expect(far.destroyed).toBe(true);
    const elsewhere = { ...redis.instance, addresses: { main: '127.0.0.1' } };
    const refused = redis.engine.relay(elsewhere, duplexPair()[0], AbortSignal.timeout(5000));
    expect(await refusal(refused)).toContain('did not answer');
  });
});

const redisAddress = (): { host: string; port: number; username: string; password: string } => ({
  host: redis.instance.addresses['main'] ?? '',
  port: redis.engine.port,
  username: redis.instance.credentials.at(-1)?.user ?? '',
  password: redis.instance.credentials.at(-1)?.password ?? '',
});
