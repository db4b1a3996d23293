import {
  type BrowsePage,
  type Bytes,
  type DatastoreEngine,
  type DatastoreInstance,
  type DatastoreKind,
  PLACED,
  type QueryRequest,
  type QueryResult,
} from '#engines/datastores/port';
import { invalidInput } from '#kernel/errors';
import type { BackupFiles } from '#modules/datastores';

/** A datastore engine in memory: it remembers what was asked of it. */
export interface FakeDatastoreEngine extends DatastoreEngine {
  settled: DatastoreInstance[];
  queries: { instance: DatastoreInstance; request: QueryRequest }[];
  answer: (request: QueryRequest) => QueryResult;
  page: BrowsePage;
}

const URL_SCHEME: Record<DatastoreKind, string> = { postgres: 'postgres', redis: 'redis', mongo: 'mongodb' };

export const createFakeDatastoreEngine = (kind: DatastoreKind): FakeDatastoreEngine => {
  const unrestorable = (): Promise<never> => Promise.reject(invalidInput(`${kind} is backup-only`, 'download it'));
  const report = { server: `${kind} 1`, rows: 0, objects: {} };
  const fake: FakeDatastoreEngine = {
    kind,
    versions: kind === 'postgres' ? ['17', '16'] : ['8'],
    restorable: kind === 'postgres',
    defaultMemoryMb: 512,
    minMemoryMb: 128,
    port: 5432,
    settled: [],
    queries: [],
    answer: () => ({ columns: [], rows: [], row_count: 0, truncated: false, duration_ms: 0 }),
    page: { entries: [], next: null },
    images: (version) => [`${kind}:${version}`],
    roles: () => ['main'],
    units: () => [],
    connection: ({ host }, { user, password }) => ({
      url: `${URL_SCHEME[kind]}://${user}:${password}@${host}/app`,
      parts: kind === 'postgres' ? { PGHOST: host, PGUSER: user, PGPASSWORD: password } : {},
    }),
    place: () => Promise.resolve(PLACED),
    settle: (instance) => {
      fake.settled.push(instance);
      return Promise.resolve();
    },
    quiesce: () => Promise.resolve(),
    answers: () => Promise.resolve(true),
    usedBytes: () => Promise.resolve(1000),
    setReadOnly: () => Promise.resolve(),
    browse: () => Promise.resolve(fake.page),
    query: async (instance, request) => {
      fake.queries.push({ instance, request });
      return fake.answer(request);
    },
    relay: () => Promise.resolve(),
    dump: () => Promise.resolve({ bytes: nothing(), report: Promise.resolve(report) }),
    rehearse: () => Promise.resolve(report),
    load: kind === 'postgres' ? () => Promise.resolve(report) : unrestorable,
    loadBeside: kind === 'postgres' ? (_instance, database) => Promise.resolve({ database, report }) : unrestorable,
    swap: kind === 'postgres' ? () => Promise.resolve() : unrestorable,
    listBeside: kind === 'postgres' ? () => Promise.resolve([]) : unrestorable,
    dropBeside: kind === 'postgres' ? () => Promise.resolve() : unrestorable,
  };
  return fake;
};

async function* nothing(): Bytes {
  // An empty dump.
}

/** Where backups would be kept. */
export interface FakeBackupFiles extends BackupFiles {
  removed: string[];
  contents: Map<string, Uint8Array>;
}

export const createFakeBackupFiles = (): FakeBackupFiles => {
  const files: FakeBackupFiles = {
    removed: [],
    contents: new Map(),
    open: (row) => Promise.resolve(once(files.contents.get(row.key) ?? new Uint8Array())),
    remove: (row) => {
      files.removed.push(row.key);
      return Promise.resolve();
    },
    expiresAt: (row) => (row.finished_at === null ? null : row.finished_at + 1000),
    nextBackupAt: () => null,
  };
  return files;
};

async function* once(bytes: Uint8Array): Bytes {
  yield bytes;
}
