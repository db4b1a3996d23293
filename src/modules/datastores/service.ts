import type { Database } from 'bun:sqlite';
import type { Credential, DatastoreEngine, DatastoreInstance, DatastoreKind } from '#engines/datastores/port';
import type { Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import type { Ctx } from '#kernel/ctx';
import { BerthError, conflict, invalidInput, notFound } from '#kernel/errors';
import type { NewId } from '#kernel/ids';
import { dryRun, type Change, type DryRun, type Page } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { Events } from '#modules/events';
import { accepted, type Accepted, type OperationKind, type Operations } from '#modules/operations';
import type { BackupRow, BackupStore } from './backup-store.ts';
import type { Injection } from './injection.ts';
import type { CreateDatastore, CreatedDatastore, Datastore, DatastoreDetail, UpdateDatastore } from './model.ts';
import { newPassword, newUser } from './passwords.ts';
import type { DatastoreRow, DatastoreStore } from './store.ts';
import { datastoreView } from './view.ts';

export interface DatastorePath {
  project: string;
  name: string;
}

export type Engines = Readonly<Record<DatastoreKind, DatastoreEngine>>;
type WithRestarts = Accepted & { restarted_services: string[] };

/** The verbs on datastores. */
export interface Datastores {
  /** At most `page.limit + 1` in the order of their names. */
  listDatastores(ctx: Ctx, project: string, page: Page): Datastore[];
  getDatastore(ctx: Ctx, path: DatastorePath): Promise<DatastoreDetail>;
  /** With `from`, filled from that backup before it is ready. */
  createDatastore(
    ctx: Ctx,
    project: string,
    body: CreateDatastore & { from?: BackupRow },
  ): Promise<CreatedDatastore | DryRun>;
  updateDatastore(ctx: Ctx, path: DatastorePath, body: UpdateDatastore): Accepted | Datastore | DryRun;
  /** Starts it anew, on the newest image of its version. */
  restartDatastore(ctx: Ctx, path: DatastorePath): Accepted | DryRun;
  /** Gives apps another credential, one replica after the other; the old one is then worthless. */
  rotateDatastore(ctx: Ctx, path: DatastorePath): WithRestarts | DryRun;
  deleteDatastore(ctx: Ctx, path: DatastorePath, options: { finalBackup: boolean }): WithRestarts | DryRun;
  /** As callers see them, for the project's tree. */
  views(project: string): Datastore[];
  /** For changes and reads alike: NOT_FOUND, or CONFLICT while it is not usable. */
  requireReady(path: DatastorePath): DatastoreRow;
  requireRow(path: DatastorePath): DatastoreRow;
  /** Puts a new datastore into the state, to be made by its operation. Call it in a transaction. */
  insert(ctx: Ctx, row: NewDatastore): DatastoreRow;
  /** The open operation of these kinds on it. */
  openOf(path: DatastorePath, kinds: readonly OperationKind[]): Accepted | undefined;
}

export type NewDatastore = Pick<
  DatastoreRow,
  'project' | 'name' | 'kind' | 'version' | 'memory_mb' | 'cpus' | 'storage_limit_mb'
>;

export interface DatastoresDeps {
  db: Database;
  config: Config;
  clock: Clock;
  newId: NewId;
  store: DatastoreStore;
  backups: BackupStore;
  engines: Engines;
  operations: Operations;
  events: Events;
  injection: Injection;
  /** Names of the variables that users have set. */
  envNames: (project: string) => string[];
  /** Names of the services that restart when the project's variables change. */
  affectedServices: (project: string) => string[];
  instanceOf: (row: DatastoreRow) => DatastoreInstance;
  /** Milliseconds since the epoch. */
  nextBackupAt: (row: DatastoreRow) => number | null;
  /** Fails when the disks have no room for another datastore. */
  requireDisk: () => Promise<void>;
  requireActive: (project: string) => void;
  requireExists: (project: string) => void;
}

const DEFAULT_CPUS = 1;

export const createDatastores = (deps: DatastoresDeps): Datastores => {
  const { db, store, operations, engines } = deps;

  const view = (row: DatastoreRow): Datastore =>
    datastoreView(row, {
      engine: engines[row.kind],
      variables: deps.injection.namesOf(row),
      lastBackup: deps.backups.newest(row.project, row.name),
      nextBackupAt: row.status === 'ready' ? deps.nextBackupAt(row) : null,
    });
  const requireRow = ({ project, name }: DatastorePath): DatastoreRow => {
    const row = store.get(project, name);
    if (row === undefined) throw datastoreNotFound(project, name);
    return row;
  };
  const requireReady = (path: DatastorePath): DatastoreRow => {
    const row = requireRow(path);
    if (row.status !== 'ready') throw notReady(row);
    return row;
  };
  const openOf: Datastores['openOf'] = ({ project, name }, kinds) => {
    for (const status of ['running', 'queued'] as const) {
      const found = operations
        .list({ projects: ['*'], project, datastore: name, status }, { limit: 100, after: undefined })
        .find((operation) => kinds.includes(operation.kind));
      if (found !== undefined) return accepted(found);
    }
    return undefined;
  };
  const enqueue = (ctx: Ctx, row: DatastoreRow, kind: OperationKind, input: Record<string, unknown>): Accepted =>
    accepted(operations.enqueue(ctx, { kind, project: row.project, service: null, datastore: row.name, input }));
  const requireChangeable = (ctx: Ctx, path: DatastorePath): DatastoreRow => {
    requireProject(ctx.actor, path.project);
    deps.requireActive(path.project);
    const row = requireReady(path);
    if (openOf(path, ['datastore.delete']) !== undefined) throw beingDeleted(row.name);
    return row;
  };
  const insert: Datastores['insert'] = (ctx, wanted) => {
    requireRoom(deps, wanted.project);
    requireNoClash(deps, wanted);
    const now = deps.clock.now();
    const row: DatastoreRow = {
      ...wanted,
      id: deps.newId('ds'),
      status: 'provisioning',
      addresses: {},
      secrets: newSecrets(),
      used_bytes: null,
      read_only: false,
      kept: null,
      rotated_at: null,
      created_at: now,
      created_by: ctx.actor.principal,
      updated_at: now,
    };
    store.insert(row);
    const data = { datastore: row.name, datastore_kind: row.kind };
    deps.events.emit({ project: row.project, kind: 'datastore.created', actor: ctx.actor.principal, data });
    return row;
  };

  const existing = (ctx: Ctx, row: DatastoreRow, kind: DatastoreKind): CreatedDatastore | DryRun => {
    if (row.kind !== kind) {
      throw conflict(`datastore "${row.name}" exists, and is of kind ${row.kind}`, 'choose another name');
    }
    if (row.status === 'deleting' || openOf(row, ['datastore.delete']) !== undefined) throw beingDeleted(row.name);
    if (ctx.dryRun) return dryRun(`datastore ${row.name} exists already: nothing to do`, []);
    if (row.status === 'failed') return retry(ctx, row);
    const open = openOf(row, ['datastore.create']);
    return reply(view(row), { created: false, restarts: [], operation: open });
  };
  /** One that could not be made is made again, under the same name and credentials. */
  const retry = (ctx: Ctx, row: DatastoreRow): CreatedDatastore =>
    db
      .transaction(() => {
        store.update(row.id, { status: 'provisioning', updated_at: deps.clock.now() });
        const operation = enqueue(ctx, row, 'datastore.create', {});
        const restarts = deps.affectedServices(row.project);
        return reply(view({ ...row, status: 'provisioning' }), { created: false, restarts, operation });
      })
      .immediate();

  return {
    listDatastores: (ctx, project, page) => {
      requireProject(ctx.actor, project);
      deps.requireExists(project);
      return store.list(project, page).map(view);
    },
    getDatastore: async (ctx, path) => {
      requireProject(ctx.actor, path.project);
      deps.requireExists(path.project);
      const row = requireRow(path);
      const answering = row.status === 'ready' ? await engines[row.kind].answers(deps.instanceOf(row)) : null;
      const open = openOf(path, CHANGES);
      return {
        ...view(store.get(path.project, path.name) ?? row),
        answering,
        operation_id: open?.operation_id ?? null,
      };
    },
    createDatastore: async (ctx, project, body) => {
      requireProject(ctx.actor, project);
      deps.requireActive(project);
      const wanted = newRow(engines[body.kind], project, body);
      const there = store.get(project, wanted.name);
      if (there !== undefined) return existing(ctx, there, body.kind);
      requireRoom(deps, project);
      requireNoClash(deps, wanted);
      await deps.requireDisk();
      if (ctx.dryRun) return creationPlan(deps, wanted);
      return db
        .transaction(() => {
          const meanwhile = store.get(project, wanted.name);
          if (meanwhile !== undefined) return existing(ctx, meanwhile, body.kind) as CreatedDatastore;
          const row = insert(ctx, wanted);
          const operation = enqueue(
            ctx,
            row,
            'datastore.create',
            body.from === undefined ? {} : { from: body.from.key },
          );
          return reply(view(row), { created: true, restarts: deps.affectedServices(project), operation });
        })
        .immediate();
    },
    updateDatastore: (ctx, path, body) => {
      const row = requireChangeable(ctx, path);
      requireMemory(engines[row.kind], body.memory_mb);
      const changes = Object.entries(body).filter(([key, value]) => row[key as keyof UpdateDatastore] !== value);
      if (ctx.dryRun) return updatePlan(row, changes);
      if (changes.length === 0 && openOf(path, ['datastore.update']) === undefined) return view(row);
      return db.transaction(() => enqueue(ctx, row, 'datastore.update', { ...body })).immediate();
    },
    restartDatastore: (ctx, path) => {
      const row = requireChangeable(ctx, path);
      if (ctx.dryRun) return restartPlan(row);
      return db.transaction(() => enqueue(ctx, row, 'datastore.restart', {})).immediate();
    },
    rotateDatastore: (ctx, path) => {
      const row = requireChangeable(ctx, path);
      const restarts = deps.affectedServices(row.project);
      if (ctx.dryRun) return rotationPlan(row, restarts);
      const operation = db.transaction(() => enqueue(ctx, row, 'datastore.rotate', {})).immediate();
      return { ...operation, restarted_services: restarts };
    },
    deleteDatastore: (ctx, path, { finalBackup }) => {
      requireProject(ctx.actor, path.project);
      deps.requireActive(path.project);
      const row = requireRow(path);
      if (finalBackup && row.status !== 'ready') throw notReady(row);
      const restarts = row.status === 'ready' ? deps.affectedServices(row.project) : [];
      const open = operations.openChanges(path.project, { datastore: path.name });
      if (ctx.dryRun) return deletionPlan(deps, row, { finalBackup, restarts, open });
      const begun = openOf(path, ['datastore.delete']);
      const input = { final_backup: finalBackup };
      const operation = begun ?? db.transaction(() => enqueue(ctx, row, 'datastore.delete', input)).immediate();
      for (const id of open) operations.cancel(ctx, id);
      return { ...operation, restarted_services: restarts };
    },
    views: (project) => store.list(project).map(view),
    requireReady,
    requireRow,
    insert,
    openOf,
  };
};

const CHANGES: readonly OperationKind[] = [
  'datastore.create',
  'datastore.update',
  'datastore.restart',
  'datastore.rotate',
  'datastore.restore',
  'datastore.undo_restore',
  'datastore.delete',
];

const datastoreNotFound = (project: string, name: string): BerthError =>
  notFound(
    `no datastore named "${name}" in project "${project}"`,
    `list them with GET /v1/projects/${project}/datastores`,
  );

const notReady = (row: DatastoreRow): BerthError =>
  row.status === 'failed'
    ? conflict(`datastore "${row.name}" could not be made`, 'create it again: that retries; or delete it')
    : conflict(`datastore "${row.name}" is ${row.status}`, 'wait until its status is "ready"', true);

const beingDeleted = (name: string): BerthError =>
  conflict(`datastore "${name}" is being deleted`, 'wait until it is gone', true);

const newSecrets = (): DatastoreRow['secrets'] => ({
  adminPassword: newPassword(),
  readerPassword: newPassword(),
  writerPassword: newPassword(),
  credentials: [newCredential()],
  tls: null,
});

/** What apps are given from the next rotation on. */
export const newCredential = (): Credential => ({ user: newUser(), password: newPassword() });

const newRow = (engine: DatastoreEngine, project: string, body: CreateDatastore): NewDatastore => {
  const [newest = ''] = engine.versions;
  const version = body.version ?? newest;
  if (!engine.versions.includes(version)) {
    throw invalidInput(
      `body.version: ${body.kind} ${version} is not offered`,
      `use one of ${engine.versions.join(', ')}; without a version you get ${newest}`,
    );
  }
  requireMemory(engine, body.memory_mb);
  return {
    project,
    name: body.name ?? body.kind,
    kind: body.kind,
    version,
    memory_mb: body.memory_mb ?? engine.defaultMemoryMb,
    cpus: body.cpus ?? DEFAULT_CPUS,
    storage_limit_mb: body.storage_limit_mb ?? null,
  };
};

const requireMemory = (engine: DatastoreEngine, memoryMb: number | undefined): void => {
  if (memoryMb === undefined || memoryMb >= engine.minMemoryMb) return;
  throw invalidInput(
    `body.memory_mb: ${engine.kind} needs at least ${engine.minMemoryMb} MiB, not ${memoryMb}`,
    `omit it for ${engine.defaultMemoryMb} MiB`,
  );
};

const requireRoom = ({ config, store }: DatastoresDeps, project: string): void => {
  const count = store.list(project).length;
  if (count < config.quotaDatastores) return;
  throw new BerthError(
    'QUOTA_EXCEEDED',
    `project "${project}" has ${count} of at most ${config.quotaDatastores} datastores`,
    { hint: 'delete a datastore, or raise quota_datastores in the server configuration' },
  );
};

/** Nothing that a user has set is overwritten, and no two datastores share a variable. */
const requireNoClash = ({ envNames, injection, store }: DatastoresDeps, wanted: NewDatastore): void => {
  const names = injection.namesOf(wanted);
  const set = envNames(wanted.project).filter((name) => names.includes(name));
  if (set.length > 0) {
    throw conflict(
      `the project has set ${set.join(', ')} itself, which datastore "${wanted.name}" would give`,
      `unset ${set.length === 1 ? 'it' : 'them'} first, or choose another name for the datastore`,
    );
  }
  for (const other of store.list(wanted.project)) {
    const both = injection.namesOf(other).filter((name) => names.includes(name));
    if (both.length > 0) {
      throw conflict(`datastore "${other.name}" gives ${both.join(', ')} already`, 'choose another name');
    }
  }
};

const reply = (
  view: Datastore,
  facts: { created: boolean; restarts: string[]; operation: Accepted | undefined },
): CreatedDatastore => ({
  ...view,
  created: facts.created,
  restarted_services: facts.restarts,
  operation_id: facts.operation?.operation_id ?? null,
  stream_url: facts.operation?.stream_url ?? null,
});

const restartsOf = (services: readonly string[]): Change[] =>
  services.map((name) => ({ action: 'restart', resource: 'service', name }));

const creationPlan = (deps: DatastoresDeps, wanted: NewDatastore): DryRun => {
  const services = deps.affectedServices(wanted.project);
  return dryRun(
    `create ${wanted.kind} ${wanted.version} datastore ${wanted.name} with ${wanted.memory_mb} MiB, restart ${services.length} services`,
    [
      { action: 'create', resource: 'datastore', name: wanted.name, kind: wanted.kind, version: wanted.version },
      ...deps.injection.namesOf(wanted).map((name) => ({ action: 'create', resource: 'env', name })),
      ...restartsOf(services),
    ],
  );
};

const updatePlan = (row: DatastoreRow, changes: readonly [string, unknown][]): DryRun => {
  if (changes.length === 0) return dryRun(`datastore ${row.name} has these settings already: nothing to do`, []);
  const from = Object.fromEntries(changes.map(([key]) => [key, row[key as keyof UpdateDatastore]]));
  const restarts = changes.some(([key]) => key !== 'storage_limit_mb');
  return dryRun(`change ${changes.map(([key]) => key).join(', ')} of datastore ${row.name}`, [
    { action: 'update', resource: 'datastore', name: row.name, from, to: Object.fromEntries(changes) },
    ...(restarts ? [{ action: 'restart', resource: 'datastore', name: row.name }] : []),
  ]);
};

const restartPlan = (row: DatastoreRow): DryRun =>
  dryRun(`restart datastore ${row.name} on the newest image of ${row.kind} ${row.version}; apps reconnect`, [
    { action: 'restart', resource: 'datastore', name: row.name },
  ]);

const rotationPlan = (row: DatastoreRow, services: readonly string[]): DryRun =>
  dryRun(`give the services another credential for datastore ${row.name}, then void the old one`, [
    { action: 'update', resource: 'datastore', name: row.name },
    ...restartsOf(services),
  ]);

const deletionPlan = (
  deps: DatastoresDeps,
  row: DatastoreRow,
  what: { finalBackup: boolean; restarts: readonly string[]; open: readonly string[] },
): DryRun => {
  const backup = what.finalBackup ? 'after a final backup' : 'without a final backup (final_backup=true makes one)';
  return dryRun(`delete datastore ${row.name} with all its data, ${backup}`, [
    ...what.open.map((id) => ({ action: 'cancel', resource: 'operation', name: id })),
    ...(what.finalBackup ? [{ action: 'create', resource: 'backup', name: row.name }] : []),
    { action: 'delete', resource: 'datastore', name: row.name, used_bytes: row.used_bytes },
    ...deps.injection.namesOf(row).map((name) => ({ action: 'delete', resource: 'env', name })),
    ...restartsOf(what.restarts),
  ]);
};
