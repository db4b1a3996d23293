import { BerthError, conflict } from '#kernel/errors';
import type { DatastoreRow } from '#modules/datastores';
import type { Outcome, Run } from '#modules/operations';
import { requireSame } from './compare.ts';
import type { DatastoreDeps } from './deps.ts';
import { requireRow } from './rows.ts';
import { useStored } from './stored.ts';
import { whileRoom } from './while-room.ts';

/** Brings data back. The live data is untouched until the one step in which both change places. */
export interface Restore {
  restore(run: Run): Promise<Outcome>;
  undo(run: Run): Promise<Outcome>;
}

const HOUR_MS = 3_600_000;
/** How long what was swapped away by `undo` is kept in its turn. */
const UNDO_KEEP_HOURS = 24;

/** Names of databases beside the live one: at most 63 bytes, of an operation's id. */
const besideName = (run: Run): string => `app_restore_${run.id.slice('op_'.length)}`;
const keptName = (run: Run): string => `app_kept_${run.id.slice('op_'.length)}`;

export const createRestore = (deps: DatastoreDeps): Restore => {
  const { store, engines, clock } = deps;

  /** What restores that were cut short have left: neither kept on purpose nor of this operation. */
  const dropLeftovers = async (run: Run, row: DatastoreRow): Promise<void> => {
    const instance = deps.instanceOf(row);
    const wanted = new Set([row.kept?.database, keptName(run)]);
    for (const database of await engines[row.kind].listBeside(instance)) {
      if (!wanted.has(database)) await engines[row.kind].dropBeside(instance, database);
    }
  };

  const exchange = async (
    run: Run,
    row: DatastoreRow,
    what: { database: string; backup: string; keepHours: number },
  ): Promise<void> => {
    const engine = engines[row.kind];
    const instance = deps.instanceOf(row);
    const kept = keptName(run);
    run.phase('swapping', 'the restored data takes the place of the live data; apps reconnect');
    const swapped = (await engine.listBeside(instance)).includes(kept);
    if (!swapped) await engine.swap(instance, { database: what.database, kept });
    const now = clock.now();
    const before = row.kept;
    store.update(row.id, {
      kept: { database: kept, backup: what.backup, restoredAt: now, until: now + what.keepHours * HOUR_MS },
      lost_at: null,
      updated_at: now,
    });
    if (before !== null && before.database !== what.database) await engine.dropBeside(instance, before.database);
    if (what.keepHours > 0) return;
    await engine.dropBeside(instance, kept);
    store.update(row.id, { kept: null });
  };

  return {
    restore: async (run) => {
      const row = requireRow(deps, run);
      const key = String(run.input.key);
      const keepHours = Number(run.input.keep_hours);
      const backup = deps.backups.get(run.project, key);
      if (backup === undefined)
        throw new BerthError('NOT_FOUND', `backup ${key} was deleted meanwhile`, { hint: 'choose another backup' });
      const instance = deps.instanceOf(row);
      const engine = engines[row.kind];
      const database = besideName(run);
      // A crash after the swap: the live data is the restored data already.
      if (row.kept?.database === keptName(run)) return done(key, backup.rows);
      if (!(await engine.listBeside(instance)).includes(keptName(run))) {
        await dropLeftovers(run, row);
        run.phase('restoring', `backup ${key} beside the live data: ${backup.rows ?? 0} rows`);
        const { report } = await useStored(deps, { row: backup, run }, (bytes) =>
          whileRoom(deps, run.signal, (signal) => engine.loadBeside(instance, database, bytes, signal)),
        );
        try {
          requireSame(backup, report);
          if (run.signal.aborted) throw run.signal.reason;
        } catch (error) {
          await engine.dropBeside(instance, database);
          throw error;
        }
        run.log('berth', `checked: ${report.rows} rows came back`);
      }
      await exchange(run, row, { database, backup: key, keepHours });
      return done(key, backup.rows);
    },
    undo: async (run) => {
      const row = requireRow(deps, run);
      const { kept } = row;
      if (kept === null)
        throw conflict(`datastore "${row.name}" keeps nothing that could be swapped back`, 'restore a backup instead');
      if (kept.database === keptName(run)) return done(kept.backup, null);
      await exchange(run, row, { database: kept.database, backup: kept.backup, keepHours: UNDO_KEEP_HOURS });
      return done(kept.backup, null);
    },
  };
};

const done = (key: string, rows: number | null): Outcome => ({
  phase: 'ready',
  error: null,
  result: { key, ...(rows === null ? {} : { rows }) },
});
