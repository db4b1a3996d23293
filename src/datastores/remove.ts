import { messageOf } from '#kernel/errors';
import type { DatastoreRow } from '#modules/datastores';
import type { Outcome, Run } from '#modules/operations';
import type { BackupMaker } from './backup.ts';
import type { DatastoreDeps } from './deps.ts';
import { ctxOfRun, untilRestarted } from './restarts.ts';
import { removeStored } from './stored.ts';

/** Deletes datastores. Every step is idempotent, so that a restart of berth just goes on. */
export interface Remove {
  one(run: Run): Promise<Outcome>;
  /** All of a project, with every backup. */
  project(run: Run): Promise<void>;
}

export const createRemove = (deps: DatastoreDeps, backups: BackupMaker): Remove => {
  const { store } = deps;

  const lower = async (row: DatastoreRow): Promise<void> => deps.containers.lower(row, { data: true });

  /** From here on nothing new is given its variables. */
  const withdraw = async (run: Run, row: DatastoreRow): Promise<string[]> => {
    deps.env.injectionChanged(row.project);
    const restarts = deps.db
      .transaction(() => {
        store.update(row.id, { status: 'deleting', updated_at: deps.clock.now() });
        return deps.env.restartAffected(ctxOfRun(run), row.project);
      })
      .immediate();
    const failed = await untilRestarted(deps, run, restarts);
    if (failed.length > 0) run.log('berth', `${failed.join(', ')}: still as before, without the datastore`);
    return restarts.map((operation) => operation.service ?? '');
  };

  return {
    one: async (run) => {
      const row = store.get(run.project, run.datastore);
      if (row === undefined) return { phase: 'ready', error: null, result: { deleted: true } };
      const backup =
        run.input.final_backup === true && row.status === 'ready' ? await backups.final(run, row) : undefined;
      run.phase('deleting', `deleting datastore ${row.name} with its data`);
      const restarted = row.status === 'ready' ? await withdraw(run, row) : [];
      await lower(row);
      deps.env.injectionChanged(row.project);
      store.remove(row.id);
      const final = backup === undefined ? {} : { final_backup: backup };
      return { phase: 'ready', error: null, result: { deleted: true, restarted_services: restarted, ...final } };
    },
    project: async (run) => {
      for (const row of store.list(run.project)) {
        run.log('berth', `datastore ${row.name}: deleting it with its data`);
        store.update(row.id, { status: 'deleting' });
        await lower(row);
        store.remove(row.id);
      }
      for (const backup of deps.backups.ofProject(run.project)) {
        try {
          await removeStored(deps, backup);
        } catch (error) {
          // A bucket that cannot be reached must not hold the project up; what is left there is said.
          run.log('berth', `backup ${backup.key} could not be removed everywhere: ${messageOf(error)}`);
        }
        deps.backups.remove(backup.key);
      }
    },
  };
};
