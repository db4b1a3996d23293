import type { Ctx } from '#kernel/ctx';
import type { DryRun } from '#kernel/schema';
import { requireProject } from '#kernel/scope';
import type { Accepted } from '#modules/operations';
import { notReady, requireMemory } from './admission.ts';
import type { DatastorePath, DatastoresDeps, Lookup } from './lookup.ts';
import type { Datastore, UpdateDatastore } from './model.ts';
import { deletionPlan, restartPlan, rotationPlan, updatePlan } from './plans.ts';

type WithRestarts = Accepted & { restarted_services: string[] };

export interface Changes {
  updateDatastore(ctx: Ctx, path: DatastorePath, body: UpdateDatastore): Accepted | Datastore | DryRun;
  /** Starts it anew, on the newest image of its version. */
  restartDatastore(ctx: Ctx, path: DatastorePath): Accepted | DryRun;
  /** Gives apps another credential, one replica after the other; the old one is then worthless. */
  rotateDatastore(ctx: Ctx, path: DatastorePath): WithRestarts | DryRun;
  deleteDatastore(ctx: Ctx, path: DatastorePath, options: { finalBackup: boolean }): WithRestarts | DryRun;
}

export const createChanges = (deps: DatastoresDeps, lookup: Lookup): Changes => {
  const { db, operations, engines } = deps;
  const { view, requireRow, requireChangeable, openOf, enqueue } = lookup;

  return {
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
      if (ctx.dryRun) return deletionPlan(deps.injection, row, { finalBackup, restarts, open });
      const begun = openOf(path, ['datastore.delete']);
      const input = { final_backup: finalBackup };
      const operation = begun ?? db.transaction(() => enqueue(ctx, row, 'datastore.delete', input)).immediate();
      for (const id of open) operations.cancel(ctx, id);
      return { ...operation, restarted_services: restarts };
    },
  };
};
