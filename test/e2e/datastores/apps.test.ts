import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Berth } from '#test/support/berth.ts';
import { until } from '#test/support/until.ts';
import { ask, createDatastore, killInside, mainContainer, packFixture, rowOf, Store } from './kit.ts';

const DRIVERS = {
  node: ['pg', 'pg-variables', 'postgres.js', 'ioredis', 'mongodb', 'mongodb4', 'mongoose'],
  python: ['psycopg', 'psycopg-variables', 'asyncpg', 'sqlalchemy', 'redis-py', 'pymongo'],
} as const;
const SERVICES = ['node', 'python'] as const;
const KINDS = ['postgres', 'redis', 'mongo'] as const;

let berth: Berth;

beforeAll(async () => {
  berth = await Berth.boot(['--build-concurrency', '2']);
  await berth.project('shop');
  await Promise.all(KINDS.map((kind) => createDatastore(berth, 'shop', { kind })));
  const uploads = await Promise.all(
    SERVICES.map(async (name) => berth.uploadArchive('shop', name, await packFixture(name))),
  );
  for (const { body } of uploads) {
    expect(await berth.wait(body.operation_id, 400)).toMatchObject({ status: 'succeeded', error: null });
  }
}, 500_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

interface Sample {
  id: string;
  text: string;
  bytes: string;
  big: string;
  at: string;
}

const sample = (): Sample => ({
  id: crypto.randomUUID(),
  text: `Grüße "und" 'mehr' – 你好 🦭 ${'x'.repeat(10_000)}\n\\\t$1 %s`,
  bytes: Buffer.from(Uint8Array.from({ length: 256 }, (_, n) => n)).toString('base64'),
  // Beyond what a double holds.
  big: '9007199254740993',
  at: '1969-07-20T20:17:40.123Z',
});

const roundTrip = (service: string, driver: string, sent: Sample): Promise<unknown> =>
  ask(berth, 'shop', service, [`/${driver}`, sent]);

describe('with the injected variables alone, data goes round trip through', () => {
  for (const service of SERVICES) {
    test.each([...DRIVERS[service]])(
      `%s in ${service}`,
      async (driver) => {
        const sent = sample();
        expect(await roundTrip(service, driver, sent)).toEqual(sent);
      },
      30_000,
    );
  }
});

describe('connections to Postgres', () => {
  test('are encrypted, and Node has verified who answers', async () => {
    expect(await ask(berth, 'shop', 'node', ['/tls'])).toEqual({ ssl: true, version: 'TLSv1.3', verified: true });
  });

  test('are refused by Node without the authority that replicas are given', async () => {
    expect(await ask(berth, 'shop', 'node', ['/tls/strangers'])).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });

  test('hold what verify-full asks: the authority, and the name', async () => {
    expect(await ask(berth, 'shop', 'python', ['/tls'])).toEqual({ ssl: true, version: 'TLSv1.3' });
  });
});

/** Every driver works again, without anybody's help. */
const allWork = async (): Promise<void> => {
  for (const service of SERVICES) {
    for (const driver of DRIVERS[service]) {
      const works = async (): Promise<boolean> => {
        try {
          await roundTrip(service, driver, sample());
          return true;
        } catch {
          return false;
        }
      };
      await until(works, 60);
    }
  }
};

describe('apps come back by themselves', () => {
  test('after a restart of their datastores', async () => {
    const restarts = await Promise.all(KINDS.map((kind) => new Store(berth, 'shop', kind).change('restart')));
    for (const operation of restarts) expect(operation).toMatchObject({ status: 'succeeded', error: null });
    await allWork();
  }, 180_000);

  test('after a kill -9 of what their datastores run', async () => {
    for (const kind of KINDS) await killInside(await mainContainer(berth, rowOf(berth, 'shop', kind)));
    await allWork();
  }, 120_000);
});
