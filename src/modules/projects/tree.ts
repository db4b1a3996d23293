import type { Database } from 'bun:sqlite';
import { isoTime } from '#kernel/clock';
import type { Datastore } from '#modules/datastores';
import type { Event } from '#modules/events';
import type { Release } from '#modules/releases';
import type { Service } from '#modules/services';
import type { ProjectTree } from './model.ts';
import type { ProjectStore } from './store.ts';

export interface TreeDeps {
  db: Database;
  store: ProjectStore;
  /** The parts of the tree, each from its own module. */
  parts: {
    services: (project: string) => Service[];
    releases: (project: string, count: number) => Release[];
    datastores: (project: string) => Datastore[];
    envKeys: (project: string) => string[];
    recentEvents: (project: string, count: number) => Event[];
    /** Counts changes of what the parts know beside the database, such as which replicas run. */
    version: () => number;
  };
}

const RELEASES = 50;
const EVENTS = 20;
/** Trees kept as text. */
const MAX_CACHED = 500;

/**
 * Reads project trees. The text is kept until anything in the database changes: `total_changes` counts every row that this
 * connection wrote, cascades included, and no other connection writes (the data directory is locked by one server).
 */
export const createTree = ({ db, store, parts }: TreeDeps) => {
  const changes = db.query<{ total: number }, []>('SELECT total_changes() AS total');
  const cache = new Map<string, string>();
  let written = -1;
  let beside = -1;

  const dropStale = (): void => {
    const writtenNow = changes.get()?.total ?? -1;
    const besideNow = parts.version();
    if (writtenNow === written && besideNow === beside) return;
    cache.clear();
    written = writtenNow;
    beside = besideNow;
  };

  const build = (name: string): ProjectTree => {
    const row = store.require(name);
    return {
      name: row.name,
      state: row.state,
      created_at: isoTime(row.created_at),
      created_by: row.created_by,
      services: parts.services(name),
      releases: parts.releases(name, RELEASES),
      datastores: parts.datastores(name),
      env_keys: parts.envKeys(name),
      recent_events: parts.recentEvents(name, EVENTS),
    };
  };

  return {
    read: (name: string): string => {
      dropStale();
      const cached = cache.get(name);
      if (cached !== undefined) return cached;
      const text = JSON.stringify(build(name));
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(name, text);
      return text;
    },
    serviceNames: (name: string): string[] => parts.services(name).map((service) => service.name),
    datastoreNames: (name: string): string[] => parts.datastores(name).map((datastore) => datastore.name),
  };
};
