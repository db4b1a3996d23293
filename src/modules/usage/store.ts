import { Database } from 'bun:sqlite';
import { rmSync } from 'node:fs';
import { NOTHING, type Sample } from './sample.ts';

/** How long intervals of one length are kept. Both in seconds. */
export interface Tier {
  step: number;
  kept: number;
  /** Whether single replicas are kept too. */
  replicas: boolean;
}

const HOUR = 3600;
const DAY = 24 * HOUR;

/** The finest first. */
export const TIERS: readonly Tier[] = [
  { step: 15, kept: HOUR, replicas: true },
  { step: 60, kept: DAY, replicas: true },
  { step: 600, kept: 7 * DAY, replicas: false },
];

/** A service, or one of its replicas. */
export interface SeriesKey {
  project: string;
  service: string;
  /** Empty for the service. */
  replica: string;
}

export interface StoredSample extends Sample {
  replica: string;
  /** Start of the interval in seconds since the epoch. */
  ts: number;
}

export interface UsageStore {
  get(key: SeriesKey, step: number, ts: number): Sample | undefined;
  put(samples: readonly { key: SeriesKey; step: number; ts: number; sample: Sample }[]): void;
  /** In order of replica and time, `from` and `to` in seconds, `to` exclusive. */
  range(of: { project: string; service: string; step: number; from: number; to: number }): StoredSample[];
  /** Drops what is older than its tier keeps. */
  prune(now: number): void;
  close(): void;
}

/** Of the file's shape. Another one is thrown away: these are measurements of a week. */
const SHAPE = 1;

interface Row {
  replica: string;
  ts: number;
  covered: number;
  buckets: Uint8Array | null;
  errors: number;
  cpu_seconds: number | null;
  memory_bytes: number | null;
  replicas: number;
  restarts: number;
}

/** Opens the measurements: a file of their own, so that they neither slow the state down nor swell its backups. */
export const openUsageStore = (path: string): UsageStore => {
  const db = open(path);
  const select =
    'SELECT replica, ts, covered, buckets, errors, cpu_seconds, memory_bytes, replicas, restarts FROM usage';
  const insert = db.query(
    `INSERT OR REPLACE INTO usage (project, service, step, replica, ts, covered, buckets, errors, cpu_seconds, memory_bytes, replicas, restarts)
     VALUES ($project, $service, $step, $replica, $ts, $covered, $buckets, $errors, $cpu_seconds, $memory_bytes, $replicas, $restarts)`,
  );
  return {
    get: ({ project, service, replica }, step, ts) => {
      const row = db
        .query<Row, [string, string, number, string, number]>(
          `${select} WHERE project = ?1 AND service = ?2 AND step = ?3 AND replica = ?4 AND ts = ?5`,
        )
        .get(project, service, step, replica, ts);
      return row === null ? undefined : sampleOf(row);
    },
    put: (samples) => {
      db.transaction(() => {
        for (const { key, step, ts, sample } of samples) insert.run({ ...key, step, ts, ...rowOf(sample) });
      }).immediate();
    },
    range: ({ project, service, step, from, to }) =>
      db
        .query<Row, [string, string, number, number, number]>(
          `${select} WHERE project = ?1 AND service = ?2 AND step = ?3 AND ts >= ?4 AND ts < ?5 ORDER BY replica, ts`,
        )
        .all(project, service, step, from, to)
        .map((row) => ({ ...sampleOf(row), replica: row.replica, ts: row.ts })),
    prune: (now) => {
      for (const { step, kept } of TIERS)
        db.query('DELETE FROM usage WHERE step = ?1 AND ts < ?2').run(step, now - kept);
    },
    close: () => db.close(),
  };
};

const open = (path: string): Database => {
  const db = openFile(path);
  const shape = db.query<{ user_version: number }, []>('PRAGMA user_version').get()?.user_version ?? 0;
  if (shape === SHAPE) return db;
  db.exec(`DROP TABLE IF EXISTS usage;
    CREATE TABLE usage (
      project TEXT NOT NULL,
      service TEXT NOT NULL,
      step INTEGER NOT NULL,
      replica TEXT NOT NULL,
      ts INTEGER NOT NULL,
      covered INTEGER NOT NULL,
      buckets BLOB,
      errors INTEGER NOT NULL,
      cpu_seconds REAL,
      memory_bytes INTEGER,
      replicas INTEGER NOT NULL,
      restarts INTEGER NOT NULL,
      PRIMARY KEY (project, service, step, replica, ts)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX usage_age ON usage (step, ts);
    PRAGMA user_version = ${SHAPE};`);
  return db;
};

/** A file that is damaged is made anew. Losing the last seconds in a power cut is no harm, so nothing waits for the disk. */
const openFile = (path: string): Database => {
  try {
    return prepared(path);
  } catch (thrown) {
    if (path === ':memory:') throw thrown;
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    return prepared(path);
  }
};

const prepared = (path: string): Database => {
  const db = new Database(path, { create: true, strict: true });
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;');
    return db;
  } catch (thrown) {
    db.close();
    throw thrown;
  }
};

const rowOf = (sample: Sample) => ({
  covered: Math.round(sample.covered),
  buckets: sample.buckets === null ? null : new Uint8Array(Uint32Array.from(sample.buckets).buffer),
  errors: sample.errors,
  cpu_seconds: sample.cpuSeconds,
  memory_bytes: sample.memoryBytes,
  replicas: sample.replicas,
  restarts: sample.restarts,
});

const sampleOf = (row: Row): Sample => ({
  ...NOTHING,
  covered: row.covered,
  // A copy, because numbers of four bytes begin at a multiple of four.
  buckets: row.buckets === null ? null : [...new Uint32Array(row.buckets.slice().buffer)],
  errors: row.errors,
  cpuSeconds: row.cpu_seconds,
  memoryBytes: row.memory_bytes,
  replicas: row.replicas,
  restarts: row.restarts,
});
