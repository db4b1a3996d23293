import type { Database } from 'bun:sqlite';
import { isoTime } from '#kernel/clock';
import type { Capacity } from './model.ts';

/** A datastore that is ready, and how its backups stand. Times in milliseconds since the epoch. */
export interface DatastoreState {
  project: string;
  name: string;
  kind: string;
  used_bytes: number | null;
  read_only: number;
  /** Start of the newest verified backup: what came later is in none. */
  backed_up_at: number | null;
  /** Of the newest backup; null when there is none. */
  last_status: string | null;
}

export const datastoreStates = (db: Database): DatastoreState[] =>
  db
    .query<DatastoreState, []>(
      `SELECT d.project, d.name, d.kind, d.used_bytes, d.read_only,
              (SELECT max(b.started_at) FROM backups b WHERE b.datastore_id = d.id AND b.status = 'verified') AS backed_up_at,
              (SELECT b.status FROM backups b WHERE b.datastore_id = d.id ORDER BY b.started_at DESC, b.key DESC LIMIT 1)
                AS last_status
       FROM datastores d WHERE d.status = 'ready' ORDER BY d.project, d.name`,
    )
    .all();

export const countFailedDatastores = (db: Database): number =>
  db.query<{ n: number }, []>(`SELECT count(*) AS n FROM datastores WHERE status = 'failed'`).get()?.n ?? 0;

/** What an administrator is told of all of them. */
export const datastoreTotals = (db: Database): Capacity['datastores'] => {
  const states = datastoreStates(db);
  const backedUp = states.flatMap(({ backed_up_at: at }) => (at === null ? [] : [at]));
  return {
    ready: states.length,
    failed: countFailedDatastores(db),
    read_only: states.filter(({ read_only }) => read_only === 1).length,
    used_bytes: states.reduce((sum, { used_bytes }) => sum + (used_bytes ?? 0), 0),
    never_backed_up: states.length - backedUp.length,
    oldest_backup_at: backedUp.length === 0 ? null : isoTime(Math.min(...backedUp)),
    last_backup_failed: states.filter(({ last_status }) => last_status === 'failed').length,
  };
};
