import { isoTime } from '#kernel/clock';
import { messageOf } from '#kernel/errors';
import type { Ctx } from '#kernel/ctx';
import type { Backups, DatastoreRow } from '#modules/datastores';
import type { Operations } from '#modules/operations';
import type { Found } from './containers.ts';
import type { DatastoreDeps } from './deps.ts';
import { nextNightly, nightlyRoom } from './calendar.ts';
import { createTend } from './tend.ts';

export interface UpkeepDeps extends DatastoreDeps {
  verbs: Pick<Backups, 'begin'>;
  queue: Pick<Operations, 'openChanges' | 'list'>;
  systemCtx: () => Ctx;
}

const EVERY_MS = 60_000;
/** Readings of the size, where no limit asks for more. */
const MEASURE_EVERY_MS = 600_000;
/** Apps may write again once this share of the limit is free. */
const FREE_SHARE = 0.05;
const MIB = 1024 * 1024;

/** What berth does for datastores unasked: heals, measures, backs up at night, and lets go of what is past its time. */
export interface Upkeep {
  /** Until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Looks at once: the engine was away. */
  hurry(): void;
}

export const createUpkeep = (deps: UpkeepDeps): Upkeep => {
  const { store, backups, engines, clock, log } = deps;
  const tend = createTend(deps);
  const measured = new Map<string, number>();

  const guarded = async (what: string, row: { project: string; name: string }, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      log.warn(`cannot ${what} a datastore`, { project: row.project, datastore: row.name, reason: messageOf(error) });
    }
  };
  const emit = (row: DatastoreRow, kind: 'datastore.read_only' | 'datastore.writable', usedBytes: number): void =>
    deps.events.emit({
      project: row.project,
      kind,
      actor: 'berth',
      data: { datastore: row.name, used_bytes: usedBytes, storage_limit_mb: row.storage_limit_mb },
    });

  /** Operations on a datastore are under way: it may be stopped on purpose. */
  const isBusy = (row: DatastoreRow): boolean =>
    deps.queue.openChanges(row.project, { datastore: row.name }).length > 0;

  const heal = async (row: DatastoreRow, found: Found, signal: AbortSignal): Promise<void> => {
    const engine = engines[row.kind];
    const runs = (role: string): boolean =>
      found.containers.some(({ datastore, unit, running }) => datastore === row.id && unit === role && running);
    if (engine.roles().every(runs)) return;
    log.warn('containers of a datastore are not running: starting them', {
      project: row.project,
      datastore: row.name,
    });
    await deps.containers.raise(deps.instanceOf(row), engine, { signal, anew: false });
    if (found.volumes.some(({ datastore }) => datastore === row.id)) return;
    // Apps go on with an empty one as if nothing had been: whoever can restore a backup has to know.
    log.warn('the volume of a datastore is gone: it begins empty', { project: row.project, datastore: row.name });
    store.update(row.id, { lost_at: clock.now() });
    const data = { datastore: row.name, last_verified_backup: lastVerified(row) };
    deps.events.emit({ project: row.project, kind: 'datastore.data_missing', actor: 'berth', data });
  };
  const lastVerified = (row: DatastoreRow): string | null =>
    backups.list(row.project, row.name).find(({ status }) => status === 'verified')?.key ?? null;

  const measure = async (row: DatastoreRow): Promise<void> => {
    const due =
      row.storage_limit_mb !== null || (measured.get(row.id) ?? -Infinity) + MEASURE_EVERY_MS < clock.monotonic();
    if (!due && !row.read_only) return;
    const used = await engines[row.kind].usedBytes(deps.instanceOf(row));
    measured.set(row.id, clock.monotonic());
    if (used !== row.used_bytes) store.update(row.id, { used_bytes: used });
    await limit(row, used);
  };
  const limit = async (row: DatastoreRow, used: number): Promise<void> => {
    const allowed = row.storage_limit_mb === null ? Number.POSITIVE_INFINITY : row.storage_limit_mb * MIB;
    const readOnly = used > (row.read_only ? allowed * (1 - FREE_SHARE) : allowed);
    if (readOnly === row.read_only) return;
    await engines[row.kind].setReadOnly(deps.instanceOf(row), readOnly);
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

  const backUp = (row: DatastoreRow): Promise<void> => {
    const due = nextNightly(deps.config, row, backups.list(row.project, row.name), clock.now());
    if (clock.now() < due || nightlyRoom(backups.all()) === 0) return Promise.resolve();
    deps.db.transaction(() => deps.verbs.begin(deps.systemCtx(), row, 'nightly')).immediate();
    return Promise.resolve();
  };

  const look = async (signal: AbortSignal): Promise<void> => {
    const found = await deps.containers.find();
    for (const row of store.all()) {
      if (signal.aborted) return;
      if (isBusy(row)) continue;
      if (row.status === 'deleting') await guarded('finish the deletion of', row, () => finishDeletion(row));
      if (row.status !== 'ready') continue;
      await guarded('heal', row, () => heal(row, found, signal));
      await guarded('measure', row, () => measure(row));
      await guarded('let go of replaced data of', row, () => dropKept(row));
      await guarded('back up', row, () => backUp(row));
    }
  };

  let pause = new AbortController();
  const repeat = async (work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const { signal: hurried } = pause;
      try {
        await work(signal);
      } catch (error) {
        log.warn('upkeep of datastores could not go on', { reason: messageOf(error) });
      }
      await clock.sleep(EVERY_MS, AbortSignal.any([signal, hurried]));
    }
  };

  return {
    hurry: () => {
      pause.abort();
      pause = new AbortController();
    },
    run: async (signal) => {
      log.debug('upkeep of datastores begins', { at: isoTime(clock.now()) });
      // Copies to a bucket may take hours, in which datastores are healed all the same.
      await Promise.all([repeat(look, signal), repeat(tend, signal)]);
    },
  };
};
