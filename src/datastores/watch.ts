import { LABEL } from '#deploy/index';
import type { Labels, Runtime, RuntimeEvent } from '#engines/runtime/port';
import { messageOf } from '#kernel/errors';
import type { DatastoreRow } from '#modules/datastores';
import type { DatastoreDeps } from './deps.ts';
import { DATASTORE_LABEL, type DatastoreRole } from './labels.ts';

export interface WatchDeps extends Pick<DatastoreDeps, 'store' | 'events' | 'clock' | 'log'> {
  runtime: Pick<Runtime, 'events'>;
  /** Operations are at work on it: its containers may end on purpose. */
  isBusy: (row: DatastoreRow) => boolean;
  /** A container was removed by somebody, and has to be made anew; or one that may take no writes has forgotten that. */
  onNeed: () => void;
}

const RELINK_PAUSE_MS = 2000;
/** So many events within the window tell enough of a datastore that cannot stay up. */
const TOLD = 5;
const WINDOW_MS = 10 * 60_000;

/** Containers that serve apps; the runtime knows of no other installation's. */
const SERVING: Labels = { [LABEL.role]: 'datastore' satisfies DatastoreRole };

/** Turns what happens to the containers of datastores into events of their projects, until the signal aborts. */
export const createWatch = (deps: WatchDeps): ((signal: AbortSignal) => Promise<void>) => {
  const { store, runtime, clock, log } = deps;
  const told = new Map<string, number[]>();
  const killedForMemory = new Set<string>();

  const tell = (
    row: DatastoreRow,
    kind: 'datastore.exited' | 'datastore.oom_killed',
    data: Record<string, unknown>,
  ): void => {
    const now = clock.monotonic();
    const times = (told.get(row.id) ?? []).filter((at) => now - at < WINDOW_MS);
    if (times.length >= TOLD) return;
    told.set(row.id, [...times, now]);
    deps.events.emit({ project: row.project, kind, actor: 'berth', data: { datastore: row.name, ...data } });
  };

  const onEvent = ({ action, containerId, labels, exitCode }: RuntimeEvent): void => {
    const row = store.byId(labels[DATASTORE_LABEL.id] ?? '');
    if (row === undefined || row.status !== 'ready') return;
    const container = labels[DATASTORE_LABEL.unit] ?? '';
    if (action === 'oom') {
      killedForMemory.add(containerId);
      tell(row, 'datastore.oom_killed', { container, memory_mb: row.memory_mb, hint: MORE_MEMORY });
      return;
    }
    const forMemory = action === 'die' && killedForMemory.delete(containerId);
    if (deps.isBusy(row)) return;
    if (action === 'die' && !forMemory) tell(row, 'datastore.exited', { container, exit_code: exitCode });
    if (action === 'destroy' || (action === 'start' && row.read_only)) deps.onNeed();
  };

  return async (signal) => {
    while (!signal.aborted) {
      try {
        for await (const event of runtime.events(SERVING, signal)) onEvent(event);
      } catch (error) {
        if (!signal.aborted) log.warn('lost the link to the engine’s events', { reason: messageOf(error) });
      }
      await clock.sleep(RELINK_PAUSE_MS, signal);
    }
  };
};

const MORE_MEMORY = 'give it more memory, or let apps ask for less at once';
