import type { Ctx } from '#kernel/ctx';
import type { Page } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { OperationKind } from '#modules/operations';
import { createChanges, type Changes } from './changes.ts';
import { createCreation, type Creation } from './creation.ts';
import { createLookup, type DatastorePath, type DatastoresDeps, type Lookup } from './lookup.ts';
import type { Datastore, DatastoreDetail } from './model.ts';

export { newCredential } from './creation.ts';
export type { DatastorePath, Engines } from './lookup.ts';

/** The verbs on datastores. */
export interface Datastores extends Creation, Changes, Pick<Lookup, 'requireReady' | 'requireRow' | 'openOf'> {
  /** At most `page.limit + 1` in the order of their names. */
  listDatastores(ctx: Ctx, project: string, page: Page): Datastore[];
  getDatastore(ctx: Ctx, path: DatastorePath): Promise<DatastoreDetail>;
  /** As callers see them, for the project's tree. */
  views(project: string): Datastore[];
}

export const createDatastores = (deps: DatastoresDeps): Datastores => {
  const { store, engines } = deps;
  const lookup = createLookup(deps);
  const { view, requireRow, requireReady, openOf } = lookup;

  return {
    ...createCreation(deps, lookup),
    ...createChanges(deps, lookup),
    requireReady,
    requireRow,
    openOf,
    views: (project) => store.list(project).map(view),
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
