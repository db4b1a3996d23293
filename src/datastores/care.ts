import { messageOf } from '#kernel/errors';
import type { Ctx } from '#kernel/ctx';
import type { Backups, DatastoreRow } from '#modules/datastores';
import { nextNightly, nightlyRoom } from './calendar.ts';
import type { DatastoreDeps } from './deps.ts';

export interface CareDeps extends DatastoreDeps {
  verbs: Pick<Backups, 'begin'>;
  systemCtx: () => Ctx;
  /** Brings the data along that a state which was moved here had; missing where nothing is moved. */
  comeBack?: (row: DatastoreRow) => void;
}

/** Between two readings of the size, where no limit asks for more; and between two looks for what restores have left. */
const SELDOM_MS = 600_000;
/** Apps may write again once this share of the limit is free. */
const FREE_SHARE = 0.05;
const MIB = 1024 * 1024;

/** What one datastore needs now and then. Nothing of it throws: what could not be done is logged, and done the next time. */
export interface Care {
  /** While no operation works on it. Each step reads the row anew: the one before may have taken minutes. */
  lookAfter(id: string, signal: AbortSignal): Promise<void>;
}

export const createCare = (deps: CareDeps & { isBusy: (row: DatastoreRow) => boolean }): Care => {
  const { store, backups, engines, clock, log } = deps;
  const measured = new Map<string, number>();
  const swept = new Map<string, number>();
  const isDue = (done: ReadonlyMap<string, number>, id: string): boolean =>
    (done.get(id) ?? -Infinity) + SELDOM_MS < clock.monotonic();

  const emit = (row: DatastoreRow, kind: 'datastore.read_only' | 'datastore.writable', usedBytes: number): void =>
    deps.events.emit({
      project: row.project,
      kind,
      actor: 'berth',
      data: { datastore: row.name, used_bytes: usedBytes, storage_limit_mb: row.storage_limit_mb },
    });

  const heal = async (row: DatastoreRow, signal: AbortSignal): Promise<void> => {
    const engine = engines[row.kind];
    const found = await deps.containers.find();
    const runs = (role: string): boolean =>
      found.containers.some(({ datastore, unit, running }) => datastore === row.id && unit === role && running);
    if (engine.roles().every(runs)) return;
    log.warn('containers of a datastore are not running: starting them', {
      project: row.project,
      datastore: row.name,
    });
    // Before anything makes an empty volume: after a crash in between, nothing would tell that there had been another one.
    if (!found.volumes.some(({ datastore }) => datastore === row.id)) tellLoss(row);
    await deps.containers.raise(deps.instanceOf(row), engine, { signal, anew: false });
    // Not every kind remembers that over a restart.
    if (row.read_only) await engine.setReadOnly(deps.instanceOf(row), true);
  };
  /** Apps go on with an empty one as if nothing had been: whoever can restore a backup has to know. */
  const tellLoss = (row: DatastoreRow): void => {
    log.warn('the volume of a datastore is gone: it begins empty', { project: row.project, datastore: row.name });
    store.update(row.id, { lost_at: clock.now() });
    const verified = backups.list(row.project, row.name).find(({ status }) => status === 'verified');
    const data = { datastore: row.name, last_verified_backup: verified?.key ?? null };
    deps.events.emit({ project: row.project, kind: 'datastore.data_missing', actor: 'berth', data });
  };

  const measure = async (row: DatastoreRow): Promise<void> => {
    if (row.storage_limit_mb === null && !row.read_only && !isDue(measured, row.id)) return;
    const used = await engines[row.kind].usedBytes(deps.instanceOf(row));
    measured.set(row.id, clock.monotonic());
    if (used !== row.used_bytes) store.update(row.id, { used_bytes: used });
    await limit(row, used);
  };
  const limit = async (row: DatastoreRow, used: number): Promise<void> => {
    const allowed = row.storage_limit_mb === null ? Number.POSITIVE_INFINITY : row.storage_limit_mb * MIB;
    const readOnly = used > (row.read_only ? allowed * (1 - FREE_SHARE) : allowed);
    // Not every kind remembers over a restart that it takes no writes, and the engine may have restarted it.
    if (readOnly || row.read_only) await engines[row.kind].setReadOnly(deps.instanceOf(row), readOnly);
    if (readOnly === row.read_only) return;
    store.update(row.id, { read_only: readOnly });
    emit(row, readOnly ? 'datastore.read_only' : 'datastore.writable', used);
  };

  /** Its operation could not: the engine was away, say. */
  const finishDeletion = async (row: DatastoreRow): Promise<void> => {
    await deps.containers.lower(row, { data: true });
    store.remove(row.id);
  };

  const dropKept = async (row: DatastoreRow): Promise<void> => {
    if (row.kept === null || row.kept.until > clock.now()) return;
    await engines[row.kind].dropBeside(deps.instanceOf(row), row.kept.database);
    store.update(row.id, { kept: null });
    log.info('dropped the data that a restore had replaced', { project: row.project, datastore: row.name });
  };

  /** Of restores that were cut short. Who has begun one since the list was made is busy; who has ended one has it in the row. */
  const dropLeftOver = async (row: DatastoreRow): Promise<void> => {
    if (!engines[row.kind].restorable || !isDue(swept, row.id)) return;
    const instance = deps.instanceOf(row);
    const found = await engines[row.kind].listBeside(instance);
    const now = store.byId(row.id);
    if (now === undefined || deps.isBusy(now)) return;
    for (const database of found) {
      if (database === now.kept?.database) continue;
      await engines[row.kind].dropBeside(instance, database);
      log.info('dropped what an interrupted restore had left', { project: row.project, datastore: row.name, database });
    }
    swept.set(row.id, clock.monotonic());
  };

  const backUp = (row: DatastoreRow): Promise<void> => {
    const due = nextNightly(deps.config, row, backups.list(row.project, row.name), clock.now());
    if (clock.now() < due || nightlyRoom(backups.all()) === 0) return Promise.resolve();
    deps.db.transaction(() => deps.verbs.begin(deps.systemCtx(), row, 'nightly')).immediate();
    return Promise.resolve();
  };

  const steps: [DatastoreRow['status'], string, (row: DatastoreRow, signal: AbortSignal) => Promise<void>][] = [
    ['deleting', 'finish the deletion of', finishDeletion],
    ['ready', 'heal', heal],
    ['ready', 'bring back', (row) => Promise.resolve(deps.comeBack?.(row))],
    ['ready', 'measure', measure],
    ['ready', 'let go of replaced data of', dropKept],
    ['ready', 'clear up after restores of', dropLeftOver],
    ['ready', 'back up', backUp],
  ];

  return {
    lookAfter: async (id, signal) => {
      for (const [status, what, work] of steps) {
        const row = store.byId(id);
        if (signal.aborted || row === undefined || deps.isBusy(row)) return;
        if (row.status !== status) continue;
        try {
          await work(row, signal);
        } catch (error) {
          const { project, name: datastore } = row;
          log.warn(`cannot ${what} a datastore`, { project, datastore, reason: messageOf(error) });
        }
      }
    },
  };
};
