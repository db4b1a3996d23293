import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { type Client, DatabaseError } from 'pg';
import { until } from '#test/support/until.ts';
import { collect, failureOf, inChunks } from './bytes.ts';
import { openDumpRig, type DumpRig } from './dump-rig.ts';

setDefaultTimeout(120_000);

const never = new AbortController().signal;
const CLIENTS = 12;

let rig: DumpRig;
let backup: Buffer;

/** What clients that connect again and again saw, in order of time. */
interface Sight {
  at: number;
  state: string | undefined;
  error: string | undefined;
}

beforeAll(async () => {
  rig = await openDumpRig();
  const app = await rig.app();
  await app.query("CREATE TABLE state (word text); INSERT INTO state VALUES ('as backed up')");
  await app.query('CREATE TABLE written (id bigint GENERATED ALWAYS AS IDENTITY)');
  // Does not get smaller: half of the backup is half of these rows.
  await app.query('CREATE TABLE bulk AS SELECT sha512(g::text::bytea) AS noise FROM generate_series(1, 5000) g');
  const dump = await rig.dumps.dump(rig.instance, never);
  backup = await collect(dump.bytes);
  await dump.report;
  await app.query("UPDATE state SET word = 'live'");
  await app.end();
});

afterAll(() => rig.close());

/** Clients without patience: every failure is followed by the next attempt at once. */
const reconnect = (): { sights: Sight[]; stop(): Promise<void> } => {
  const sights: Sight[] = [];
  const stop = new AbortController();
  const see = (sight: Partial<Sight>): void => {
    sights.push({ at: performance.now(), state: undefined, error: undefined, ...sight });
  };
  const once = async (stay: boolean): Promise<void> => {
    let client: Client | undefined;
    try {
      client = await rig.app();
      for (;;) {
        const { rows } = await client.query<{ word: string }>('SELECT word FROM state');
        see({ state: rows[0]?.word });
        if (!stay || stop.signal.aborted) break;
      }
    } catch (thrown) {
      see({ error: codeOf(thrown) });
    }
    client?.connection.stream.destroy();
  };
  const clients = Array.from({ length: CLIENTS }, async (_, index) => {
    while (!stop.signal.aborted) await once(index % 2 === 0);
  });
  return {
    sights,
    stop: async () => {
      stop.abort();
      await Promise.all(clients);
    },
  };
};

const codeOf = (thrown: unknown): string => {
  if (thrown instanceof DatabaseError) return thrown.code ?? thrown.message;
  if (thrown instanceof Error && thrown.cause !== undefined) return codeOf(thrown.cause);
  return thrown instanceof Error ? thrown.message : String(thrown);
};

const longestSilence = (sights: readonly Sight[]): number => {
  const seen = sights.filter(({ state }) => state !== undefined);
  return Math.max(...seen.slice(1).map(({ at }, index) => at - (seen[index]?.at ?? at)));
};

test('clients that never stop connecting see the restored rows after a moment, and no missing database for longer', async () => {
  await rig.dumps.loadBeside(rig.instance, 'app_restore_1', inChunks(backup), never);
  const clients = reconnect();
  await until(() => clients.sights.length > 200);
  const started = performance.now();
  await rig.dumps.swap(rig.instance, { database: 'app_restore_1', kept: 'app_kept_1' });
  const swapped = performance.now();
  await until(() => clients.sights.filter(({ at }) => at > swapped).length > 200);
  await clients.stop();

  const states = clients.sights.filter(({ state }) => state !== undefined);
  const turn = states.findIndex(({ state }) => state === 'as backed up');
  expect(new Set(states.slice(0, turn).map(({ state }) => state))).toEqual(new Set(['live']));
  expect(new Set(states.slice(turn).map(({ state }) => state))).toEqual(new Set(['as backed up']));
  expect(swapped - started).toBeLessThan(3000);
  expect(longestSilence(clients.sights)).toBeLessThan(2000);
  // Ended sessions, and those that were waiting at the door; none after the swap is through and they have come again.
  const errors = clients.sights.filter(({ error }) => error !== undefined);
  expect(errors.length).toBeLessThan(CLIENTS * 4);
  expect(errors.filter(({ at }) => at > swapped + 2000)).toEqual([]);
});

test('nothing that was acknowledged is lost: it is in the database that is kept', async () => {
  let acknowledged = 0;
  const stop = new AbortController();
  const writing = (async () => {
    while (!stop.signal.aborted) {
      try {
        const client = await rig.app();
        while (!stop.signal.aborted) {
          await client.query('INSERT INTO written DEFAULT VALUES');
          acknowledged += 1;
        }
        await client.end();
      } catch (thrown) {
        expect(codeOf(thrown)).toMatch(/57P01|3D000|terminat|closed|ECONNRESET|not queryable/);
      }
    }
  })();
  await until(() => acknowledged > 50);
  await rig.dumps.loadBeside(rig.instance, 'app_restore_2', inChunks(backup), never);
  await rig.dumps.swap(rig.instance, { database: 'app_restore_2', kept: 'app_kept_2' });
  const atSwap = acknowledged;
  await until(() => acknowledged > atSwap + 50);
  stop.abort();
  await writing;
  const count = 'SELECT count(*)::int AS n FROM public.written';
  const [kept, live] = [
    await rig.rows(() => rig.admin('app_kept_2'), count),
    await rig.rows(() => rig.admin('app'), count),
  ] as [{ n: number }[], { n: number }[]];
  // One statement may have been carried out whose answer was cut off.
  expect((kept[0]?.n ?? 0) + (live[0]?.n ?? 0) - acknowledged).toBeLessThanOrEqual(1);
  expect((kept[0]?.n ?? 0) + (live[0]?.n ?? 0)).toBeGreaterThanOrEqual(acknowledged);
  await rig.dumps.dropBeside(rig.instance, 'app_kept_2');
});

test('a server that is killed in mid-swap comes back with either database, whole, and the swap can be repeated', async () => {
  for (let round = 0; round < 4; round += 1) {
    const [database, kept] = [`app_restore_k${round}`, `app_kept_k${round}`];
    await rig.dumps.loadBeside(rig.instance, database, inChunks(backup), never);
    const swapping = rig.dumps.swap(rig.instance, { database, kept }).catch((thrown: unknown) => thrown);
    await Bun.sleep(round * 15);
    await rig.core.lab.docker.getContainer(rig.container).kill();
    await swapping;
    await rig.core.lab.runtime.start(rig.container);
    await rig.core.core.settle(rig.instance, AbortSignal.timeout(60_000));
    await rig.dumps.swap(rig.instance, { database, kept });
    expect(await rig.rows(rig.app, 'SELECT word FROM state')).toEqual([{ word: 'as backed up' }]);
    expect(await rig.dumps.listBeside(rig.instance)).toContain(kept);
    expect(await rig.dumps.listBeside(rig.instance)).not.toContain(database);
    await rig.dumps.dropBeside(rig.instance, kept);
  }
});

test('a name that is taken is a conflict, and everything stays as it is', async () => {
  await rig.dumps.loadBeside(rig.instance, 'app_restore_3', inChunks(backup), never);
  expect(
    await failureOf(rig.dumps.swap(rig.instance, { database: 'app_restore_3', kept: 'app_kept_1' })),
  ).toMatchObject({ kind: 'CONFLICT' });
  expect(await rig.dumps.listBeside(rig.instance)).toEqual(['app_kept_1', 'app_restore_3']);
});

const sessionsIn = async (database: string): Promise<number> =>
  (await rig.rows(() => rig.admin(), 'SELECT FROM pg_stat_activity WHERE datname = $1', [database])).length;

test('a server that is killed in mid-restore comes back without what was half restored', async () => {
  const halfway = (async function* () {
    const half = Math.floor(backup.length / 2);
    yield backup.subarray(0, half);
    // A chunk is passed on when the next one has come: the last one may end in the seal.
    yield backup.subarray(half, half + 50);
    await until(async () => (await sessionsIn('app_restore_4')) > 0, 10);
    await rig.core.lab.docker.getContainer(rig.container).kill();
    await rig.core.lab.runtime.start(rig.container);
    yield backup.subarray(half + 50);
  })();
  const before = await rig.dumps.listBeside(rig.instance);
  const failure = await failureOf(rig.dumps.loadBeside(rig.instance, 'app_restore_4', halfway, never));
  expect(failure.message).toContain('could not restore the database');
  expect(await rig.dumps.listBeside(rig.instance)).toEqual(before);
});
