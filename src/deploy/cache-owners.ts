import type { CacheRecord } from '#engines/builder/port';

/** From when to when a build of a service ran; without an end, it still runs. */
export interface BuildWindow {
  /** `project/service`. */
  key: string;
  begun: number;
  ended: number | null;
}

/** Ids of records, with the keys of the services that used them. */
export type Owners = Map<string, Set<string>>;

/** The engine's cache, and who used what of it. */
export interface OwnedCache {
  records: readonly CacheRecord[];
  owners: Owners;
}

/** The engine lets go of what a build used a moment after it answered. */
export const LETTING_GO_MS = 500;

/** What the cache scope of a service is; names have no double dashes, so no two services have the same. */
export const cacheScope = (instance: string, key: string): string => `${instance}--${key.replace('/', '--')}`;

/**
 * Who used which record, by the time at which it was used last: engines do not say which build that was. Of two builds at
 * the same time both count as users, unless it is known better: a cache mount is never shared between services. Pure.
 */
export const ownersOf = (
  records: readonly CacheRecord[],
  known: Owners,
  windows: readonly BuildWindow[],
  scopeOf: (key: string) => string,
): Owners => {
  const owners: Owners = new Map();
  const byId = new Map(records.map((record) => [record.id, record]));
  const add = (id: string, keys: ReadonlySet<string>): void => {
    const before = owners.get(id) ?? new Set();
    owners.set(id, before);
    const news = [...keys].filter((key) => !before.has(key));
    if (news.length === 0) return;
    for (const key of news) before.add(key);
    // Whoever uses a layer uses those below it.
    for (const parent of byId.get(id)?.parents ?? []) if (byId.has(parent)) add(parent, new Set(news));
  };
  for (const record of records) {
    const before = known.get(record.id) ?? new Set();
    const users = usersAt(record.lastUsedAt, windows);
    add(record.id, record.mount ? mountOwners(record, before, users, scopeOf) : new Set([...before, ...users]));
  }
  return owners;
};

const usersAt = (at: number, windows: readonly BuildWindow[]): Set<string> =>
  new Set(
    windows
      .filter(({ begun, ended }) => begun <= at && (ended === null || at <= ended + LETTING_GO_MS))
      .map(({ key }) => key),
  );

/** A Dockerfile may write into descriptions what looks like another's scope: so it only decides between likely ones. */
const mountOwners = (
  { scope }: CacheRecord,
  before: Set<string>,
  users: Set<string>,
  scopeOf: (key: string) => string,
): Set<string> => {
  const named = [...before, ...users].find((key) => scopeOf(key) === scope);
  if (named !== undefined) return new Set([named]);
  if (users.size === 1) return users;
  return before.size > 0 ? before : users;
};

/** Records that go when these services do: nobody else used them, and images do not hold them. Pure. */
export const droppedWith = (keys: readonly string[], { records, owners }: OwnedCache): string[] => {
  const going = new Set(keys);
  return records
    .filter(({ id, shared }) => {
      const users = owners.get(id) ?? new Set();
      return !shared && users.size > 0 && [...users].every((key) => going.has(key));
    })
    .map(({ id }) => id);
};

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
