import { invalidInput } from '#kernel/errors';
import type { BrowseEntry, BrowsePage, BrowseRequest, DatastoreInstance } from '../port.ts';
import { quoteBytes } from './command-line.ts';
import { type Link, readInfo, withLink } from './link.ts';
import { itemsOf, type Reply, textOf } from './resp.ts';

const TIMEOUT_MS = 30_000;
/** Work of one page at most, however few keys match. */
const MAX_SCANS = 50;
/** Keys that one scan looks at while searching: well below a millisecond of the server. */
const SEARCH_COUNT = 1000;
/** A scan returns whole buckets of the server's table, so some keys more than asked for. */
const BUCKET = 8;
/** Elements that MEMORY USAGE looks at: it estimates the rest. */
const SAMPLES = '5';

/** As many as every server has that nobody told otherwise. */
const DATABASES = 16;
const MAX_CURSOR = 2n ** 64n - 1n;

/** Where a page begins: a database, and the server's cursor in it; `skip` where the page before took only a part of a bucket. */
interface Place {
  database: number;
  cursor: string;
  skip: number;
}

/**
 * Keys of all databases, by cursor: none that stays during the walk is left out, and one may come twice. A page may be shorter
 * than its limit, or empty, and still have a next one.
 */
export const browse = (instance: DatastoreInstance, request: BrowseRequest): Promise<BrowsePage> =>
  withLink(instance, { as: 'reader', what: 'list its keys', timeoutMs: TIMEOUT_MS }, async (link) => {
    const databases = await readDatabases(link);
    const seen = new Set<string>();
    const entries: BrowseEntry[] = [];
    let place = parsePlace(request.cursor) ?? firstPlace(databases, -1);
    for (let scans = 0; place !== undefined && scans < MAX_SCANS && entries.length < request.limit; scans += 1) {
      const room = request.limit - entries.length;
      const found = await scan(link, place, { room, match: request.match, mayCut: entries.length === 0 });
      if (found === undefined) break;
      const fresh = found.keys.filter((key) => !seen.has(key.toString('latin1')));
      for (const key of fresh) seen.add(key.toString('latin1'));
      entries.push(...(await describe(link, place.database, fresh)));
      if (found.next === undefined) seen.clear();
      place = found.next ?? firstPlace(databases, place.database);
    }
    return { entries, next: place === undefined ? null : formatPlace(place) };
  });

interface Scan {
  room: number;
  match: string | undefined;
  /** Whether a bucket that is larger than the room may be taken in parts: only when the page has nothing else. */
  mayCut: boolean;
}

/** Some keys and the place after them; undefined when the next ones do not fit any more. */
const scan = async (
  link: Link,
  place: Place,
  { room, match, mayCut }: Scan,
): Promise<{ keys: Buffer[]; next: Place | undefined } | undefined> => {
  const fitting = Math.max(1, room - BUCKET);
  const counts = place.skip > 0 ? [1] : [...(match === undefined ? [] : [SEARCH_COUNT]), fitting, 1];
  for (const count of counts) {
    const command = ['SCAN', place.cursor, 'COUNT', String(count), ...(match === undefined ? [] : ['MATCH', match])];
    const [, reply] = await link.all('list its keys', [['SELECT', String(place.database)], command]);
    const [cursor, elements] = itemsOf(reply);
    const keys = itemsOf(elements).map(bytesOf).slice(place.skip);
    if (keys.length <= room) return { keys, next: placeAfter(place, textOf(cursor)) };
    if (count === 1 && mayCut) return { keys: keys.slice(0, room), next: { ...place, skip: place.skip + room } };
  }
  return undefined;
};

const placeAfter = ({ database }: Place, cursor: string): Place | undefined =>
  cursor === '0' ? undefined : { database, cursor, skip: 0 };

const describe = async (link: Link, database: number, keys: readonly Buffer[]): Promise<BrowseEntry[]> => {
  const replies = await link.all(
    'describe its keys',
    keys.flatMap((key) => [
      ['TYPE', key],
      ['TTL', key],
      ['MEMORY', 'USAGE', key, 'SAMPLES', SAMPLES],
    ]),
  );
  return keys.flatMap((key, i): BrowseEntry[] => {
    const [type, ttl, size] = replies.slice(3 * i, 3 * i + 3);
    const seconds = Number(textOf(ttl));
    // Expired since.
    if (textOf(type) === 'none' || seconds === -2) return [];
    return [
      {
        name: nameOf(key),
        type: textOf(type),
        ...(database === 0 ? {} : { schema: `db${database}` }),
        ...(size?.kind === 'integer' ? { size_bytes: Number(size.value) } : {}),
        ttl_seconds: seconds === -1 ? null : seconds,
      },
    ];
  });
};

/** Numbers of the databases that hold keys. */
const readDatabases = async (link: Link): Promise<number[]> =>
  [...(await readInfo(link, 'keyspace')).keys()]
    .map((name) => Number(name.replace(/^db/, '')))
    .sort((left, right) => left - right);

const firstPlace = (databases: readonly number[], after: number): Place | undefined => {
  const database = databases.find((number) => number > after);
  return database === undefined ? undefined : { database, cursor: '0', skip: 0 };
};

const formatPlace = ({ database, cursor, skip }: Place): string => `${database}.${cursor}.${skip}`;

const parsePlace = (text: string | undefined): Place | undefined => {
  if (text === undefined) return undefined;
  const [, database, cursor = '', skip] = /^(\d{1,2})\.(\d{1,20})\.(\d{1,6})$/.exec(text) ?? [];
  if (Number(database) >= DATABASES || !(BigInt(cursor) <= MAX_CURSOR) || cursor === '') {
    throw invalidInput('the cursor is not one that berth gave', 'send the next_cursor of the page before as it is');
  }
  return { database: Number(database), cursor, skip: Number(skip) };
};

const bytesOf = (reply: Reply): Buffer => (reply.kind === 'bytes' ? reply.bytes : Buffer.from(textOf(reply)));

/** A name that is no text is written as redis-cli does, in quotes: that is how a query takes it. */
const nameOf = (key: Buffer): string => {
  const text = key.toString();
  return Buffer.from(text).equals(key) ? text : quoteBytes(key);
};
