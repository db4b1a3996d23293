import type { Client } from 'pg';
import type { DatastoreRow } from '#modules/datastores';
import type { Berth } from '#test/support/berth.ts';
import type { Bench } from './bench.ts';
import { asAdmin, asApp, ensurePostgres, rowOf, withClient } from './postgres.ts';

export const PROJECT = 'bench-data';
export const NAME = 'big';

const MB = 1024 * 1024;
const BATCH = 100_000;
/** The index that is made at the end. */
const INDEX_SHARE = 0.03;

/** Words of a letter-like frequency, so that text compresses about as that of people does. */
const WORDS = `string_to_array('the of and to in is that for it was on are as with his they be at one have this from or had by
  hot but some what there we can out other were all your when up use word how said an each she which do their time if will way
  about many then them would write like so these her long make thing see him two has look more day could go come did my sound no
  most number who over know water than call first people may down side been now find any new work part take get place made live
  where after back little only round man year came show every good me give our under name very through just form much great think
  say help low line before turn cause same mean differ move right boy old too does tell sentence set three want air well also
  order shipped invoice payment pending customer address refund delivered account discount quantity warehouse', ' ')`;

const TABLE = `CREATE TABLE events (
  id bigint PRIMARY KEY, at timestamptz NOT NULL, account int NOT NULL, amount numeric(12,2) NOT NULL,
  email text NOT NULL, body text NOT NULL, details jsonb NOT NULL)`;

const picks = (count: number): string =>
  Array.from({ length: count }, () => `w.list[1 + floor(random() * w.count)::int]`).join(` || ' ' || `);

const INSERT = `
  WITH w AS MATERIALIZED (SELECT list, cardinality(list) AS count FROM (SELECT ${WORDS} AS list) l)
  INSERT INTO events
  SELECT g, timestamptz '2026-01-01' + g * interval '7 s' + random() * interval '5 s', floor(random() * 50000)::int,
    round((random() * 900)::numeric, 2), 'user' || floor(random() * 50000)::int || '@example.com', ${picks(24)},
    jsonb_build_object('ip', '10.' || g % 250 || '.' || floor(random() * 250)::int || '.7', 'agent', 'Mozilla/5.0 (X11; Linux)',
      'step', g % 9, 'ref', md5(g::text))
  FROM generate_series($1::bigint, $2::bigint) g, w`;

/** A datastore with so many MB in it, data files and indexes together; made once, and shared by those that ask for it. */
export const filledPostgres = async (bench: Bench, berth: Berth): Promise<{ row: DatastoreRow; note: string }> => {
  await berth.project(PROJECT);
  const row = await ensurePostgres(berth, PROJECT, NAME);
  const note = await withClient(asApp(row), async (client) => {
    await client.query('SET statement_timeout = 0');
    if ((await sizeOf(client)) < bench.sizeMb * MB * (1 - INDEX_SHARE)) await fill(bench, client);
    const { rows } = await client.query<{ n: string }>('SELECT count(*) AS n FROM events');
    return `${((await sizeOf(client)) / MB).toFixed(0)} MB in the database, ${rows[0]?.n} rows`;
  });
  return { row: rowOf(berth, PROJECT, NAME), note };
};

const fill = async (bench: Bench, client: Client): Promise<void> => {
  bench.say(`making ${bench.sizeMb} MB of data`);
  await client.query('DROP TABLE IF EXISTS events');
  await client.query(TABLE);
  for (let from = 1; (await sizeOf(client)) < bench.sizeMb * MB * (1 - INDEX_SHARE); from += BATCH)
    await client.query(INSERT, [from, from + BATCH - 1]);
  await client.query('CREATE INDEX ON events (account)');
  await client.query('VACUUM (ANALYZE) events');
};

const sizeOf = async (client: Client): Promise<number> => {
  const { rows } = await client.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes');
  return Number(rows[0]?.bytes ?? 0);
};

/** Nothing that was written before is left to be written during what is measured next. */
export const settleDisk = async (row: DatastoreRow): Promise<void> => {
  await withClient(asAdmin(row), (client) => client.query('CHECKPOINT'));
  const sync = Bun.spawn(['sync']);
  if ((await sync.exited) !== 0) throw new Error('sync failed');
};
