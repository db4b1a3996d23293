import type { Database } from 'bun:sqlite';
import type { DatastoreEngine, DatastoreInstance, DatastoreKind } from '#engines/datastores/port';
import type { Clock } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import type { NewId } from '#kernel/ids';
import { requireProject } from '#kernel/scope';
import type { Events } from '#modules/events';
import { accepted, type Accepted, type OperationKind, type Operations } from '#modules/operations';
import { beingDeleted, datastoreNotFound, notReady, type AdmissionDeps } from './admission.ts';
import type { BackupStore } from './backup-store.ts';
import type { Datastore } from './model.ts';
import type { DatastoreRow } from './store.ts';
import { datastoreView } from './view.ts';

export interface DatastorePath {
  project: string;
  name: string;
}

export type Engines = Readonly<Record<DatastoreKind, DatastoreEngine>>;

export interface DatastoresDeps extends AdmissionDeps {
  db: Database;
  clock: Clock;
  newId: NewId;
  backups: BackupStore;
  engines: Engines;
  operations: Operations;
  events: Events;
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

/** What the verbs share: finding a datastore, and putting an operation on it into the queue. */
export interface Lookup {
  view(row: DatastoreRow): Datastore;
  /** NOT_FOUND for a missing one. */
  requireRow(path: DatastorePath): DatastoreRow;
  /** CONFLICT while it is not usable. */
  requireReady(path: DatastorePath): DatastoreRow;
  /** What every change of a datastore asks first. */
  requireChangeable(ctx: Ctx, path: DatastorePath): DatastoreRow;
  /** The open operation of these kinds on it. */
  openOf(path: DatastorePath, kinds: readonly OperationKind[]): Accepted | undefined;
  enqueue(ctx: Ctx, row: DatastoreRow, kind: OperationKind, input: Record<string, unknown>): Accepted;
}

export const createLookup = (deps: DatastoresDeps): Lookup => {
  const { store, operations, engines } = deps;

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
  const openOf: Lookup['openOf'] = ({ project, name }, kinds) => {
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

  return { view, requireRow, requireReady, requireChangeable, openOf, enqueue };
};
