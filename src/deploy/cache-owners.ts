import type { CacheRecord } from '#engines/builder/port';

/** From when to when a build of a service ran; without an end, it still runs. */
export interface BuildWindow {
  /** `project/service`. */
  key: string;
  begun: number;
  ended: number | null;
  /** `lettersOf` the Dockerfile, once it is known. */
  letters: string;
}

/** Ids of records, with the keys of the services that used them. */
export type Owners = Map<string, Set<string>>;

/** The engine's cache, and who used what of it; owners are known of a few records more, which the engine left out. */
export interface OwnedCache {
  records: readonly CacheRecord[];
  owners: Owners;
}

/** A busy engine lets go of what a build used a moment after it answered. */
export const LETTING_GO_MS = 5000;

/** What the cache scope of a service is; names have no double dashes, so no two services have the same. */
export const cacheScope = (instance: string, key: string): string => `${instance}--${key.replace('/', '--')}`;

/**
 * Who used which record. Engines do not say which build that was, so it goes by the time of the last use, and by whether the
 * Dockerfile has the command that made it: others may build on the same engine. Of two builds at the same time with the
 * same command both count as users, unless it is known better: a cache mount is never shared between services. Pure.
 */
export const ownersOf = (
  records: readonly CacheRecord[],
  known: Owners,
  windows: readonly BuildWindow[],
  scopeOf: (key: string) => string,
): Owners => {
  const owners: Owners = new Map(records.map(({ id }) => [id, new Set()]));
  const byId = new Map(records.map((record) => [record.id, record]));
  const add = (id: string, keys: ReadonlySet<string>): void => {
    const before = owners.get(id);
    const news = [...keys].filter((key) => before?.has(key) === false);
    for (const key of news) before?.add(key);
    // Whoever uses a layer uses those below it.
    if (news.length > 0) for (const parent of byId.get(id)?.parents ?? []) add(parent, new Set(news));
  };
  /** Those whose commands made a layer below it. */
  const builders = (id: string): string[] => {
    const record = byId.get(id);
    if (record === undefined) return [];
    return record.command === null ? record.parents.flatMap(builders) : [...(owners.get(id) ?? [])];
  };
  const usersOf = (record: CacheRecord): Candidates => ({
    before: known.get(record.id) ?? new Set(),
    makers: buildersAt(record, record.createdAt, windows),
    users: buildersAt(record, record.lastUsedAt, windows),
  });

  const [commands, copies] = [
    records.filter(({ command }) => command !== null),
    records.filter(({ command }) => command === null),
  ];
  for (const record of commands) {
    const candidates = usersOf(record);
    const { before, makers, users } = candidates;
    add(record.id, record.mount ? mountOwners(record, candidates, scopeOf) : new Set([...before, ...makers, ...users]));
  }
  // A COPY tells nothing of whose it is, but what it stands on does.
  for (const record of copies) {
    const { before, makers, users } = usersOf(record);
    const likely = new Set(record.parents.flatMap(builders));
    add(record.id, new Set([...before, ...[...makers, ...users].filter((key) => likely.has(key))]));
  }
  return owners;
};

/** Whose builds with its command ran at that time; when none did, those that had just ended. */
const buildersAt = ({ command }: CacheRecord, at: number, windows: readonly BuildWindow[]): Set<string> => {
  const made = lettersOf(command ?? '');
  const within = (graceMs: number): Set<string> =>
    new Set(
      windows
        .filter(({ begun, ended }) => begun <= at && (ended === null || at <= ended + graceMs))
        .filter(({ letters }) => letters.includes(made))
        .map(({ key }) => key),
    );
  const running = within(0);
  return running.size > 0 ? running : within(LETTING_GO_MS);
};

/** Letters and digits alone: however a command is continued, quoted or escaped, these stay. */
export const lettersOf = (text: string): string =>
  text
    .replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/\\[nrt]/g, ' ')
    .replaceAll(/[^A-Za-z0-9]+/g, '');

interface Candidates {
  before: Set<string>;
  /** Who built when it came to be. */
  makers: Set<string>;
  /** Who built when it was used last. */
  users: Set<string>;
}

/** A Dockerfile may write into descriptions what looks like another's scope: so it only decides between likely ones. */
const mountOwners = (
  { scope }: CacheRecord,
  { before, makers, users }: Candidates,
  scopeOf: (key: string) => string,
): Set<string> => {
  const named = [...before, ...makers, ...users].find((key) => scopeOf(key) === scope);
  if (named !== undefined) return new Set([named]);
  const likely = before.size > 0 ? before : makers;
  const [user] = users;
  return users.size === 1 && user !== undefined && likely.has(user) ? users : likely;
};

/**
 * Records that go when these services do, because nobody else used them. A layer that is in an image is among them: another
 * service may have made one of the same content, for which this record is of no use. Pure.
 */
export const droppedWith = (keys: readonly string[], { owners }: OwnedCache): string[] =>
  [...owners].filter(([, users]) => ownedBy(keys, users)).map(([id]) => id);

/** Those of these records that can go together: on which nothing else is built. Pure. */
export const droppable = (ids: readonly string[], records: readonly CacheRecord[]): string[] => {
  const byId = new Map(records.map((record) => [record.id, record]));
  const going = new Set(ids);
  const keep = (id: string): void => {
    for (const parent of byId.get(id)?.parents ?? []) if (going.delete(parent)) keep(parent);
  };
  for (const { id } of records) if (!going.has(id)) keep(id);
  return [...going];
};

/** Whether these services, and nobody else, used a record. */
const ownedBy = (keys: readonly string[], users: ReadonlySet<string>): boolean =>
  users.size > 0 && [...users].every((key) => keys.includes(key));

/** What has to go so that these services keep at most `limit` bytes together: the records used longest ago. Pure. */
export const surplusOf = (keys: readonly string[], limit: number, { records, owners }: OwnedCache): string[] => {
  const own = records.filter(({ id, shared }) => !shared && keys.some((key) => owners.get(id)?.has(key) === true));
  let excess = own.reduce((sum, { bytes }) => sum + bytes, 0) - limit;
  const chosen: string[] = [];
  // What a layer is built on cannot go before it: each is as young as what stands on it.
  const age = effectiveAges(records);
  const oldestFirst = own.toSorted(
    (a, b) =>
      (age.get(a.id)?.at ?? 0) - (age.get(b.id)?.at ?? 0) || (age.get(b.id)?.depth ?? 0) - (age.get(a.id)?.depth ?? 0),
  );
  for (const { id, bytes, inUse } of oldestFirst) {
    if (excess <= 0) break;
    if (inUse) continue;
    chosen.push(id);
    excess -= bytes;
  }
  return chosen;
};

interface Age {
  /** When it, or something that is built on it, was used last. */
  at: number;
  /** How many layers are below it. */
  depth: number;
}

const effectiveAges = (records: readonly CacheRecord[]): Map<string, Age> => {
  const byId = new Map(records.map((record) => [record.id, record]));
  const ages = new Map<string, Age>();
  const depthOf = (id: string): number => {
    const parents = byId.get(id)?.parents ?? [];
    return parents.length === 0
      ? 0
      : 1 + Math.max(...parents.map((parent) => ages.get(parent)?.depth ?? depthOf(parent)));
  };
  for (const { id } of records) ages.set(id, { at: 0, depth: depthOf(id) });
  const raise = (id: string, at: number): void => {
    const age = ages.get(id);
    if (age === undefined || age.at >= at) return;
    age.at = at;
    for (const parent of byId.get(id)?.parents ?? []) raise(parent, at);
  };
  for (const { id, lastUsedAt } of records) raise(id, lastUsedAt);
  return ages;
};
