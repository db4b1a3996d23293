import { messageOf } from '#kernel/errors';
import type { DatastoreRow } from '#modules/datastores';
import { STOPPING, type Run } from '#modules/operations';
import type { UsedImage } from './containers.ts';
import type { DatastoreDeps } from './deps.ts';

/** For going back to how a datastore was. */
const REPAIR_MS = 120_000;

export type Remake = (
  run: Run,
  rows: { before: DatastoreRow; after: DatastoreRow },
  options: { pull: boolean },
) => Promise<void>;

/**
 * Stops a datastore and starts it again as `after` says; the data stays. When that fails, it runs as before, and on the image
 * of before.
 */
export const createRemake = ({ containers, engines, instanceOf }: DatastoreDeps): Remake => {
  /** One that does not answer any more is restarted all the same: that may be why it was asked for. */
  const quiesce = async (run: Run, row: DatastoreRow): Promise<void> => {
    try {
      await engines[row.kind].quiesce(instanceOf(row), run.signal);
    } catch (error) {
      run.signal.throwIfAborted();
      run.log('berth', `it does not prepare for the stop: ${messageOf(error)}`);
    }
  };
  /** When this fails too, the upkeep goes on with it. */
  const repair = async (run: Run, before: DatastoreRow, images: readonly UsedImage[]): Promise<void> => {
    run.log('berth', 'going back to how it was');
    try {
      await containers.putImagesBack(images);
      const options = { signal: AbortSignal.timeout(REPAIR_MS), anew: false };
      await containers.raise(instanceOf(before), engines[before.kind], options);
      if (before.read_only) await engines[before.kind].setReadOnly(instanceOf(before), true);
    } catch (error) {
      run.log('berth', `it could not be brought back yet, and is tried again: ${messageOf(error)}`);
    }
  };

  return async (run, { before, after }, { pull }) => {
    const engine = engines[after.kind];
    // What a name stands for is every datastore's. One that did not work is not to be what the next one is started on.
    const images = pull ? await containers.imagesOf(instanceOf(before), engine) : [];
    try {
      await quiesce(run, before);
      await containers.raise(instanceOf(after), engine, { signal: run.signal, anew: true, pull });
      // Not every kind remembers that over a restart.
      if (after.read_only) await engine.setReadOnly(instanceOf(after), true);
    } catch (error) {
      if (run.signal.reason === STOPPING) throw error;
      await repair(run, before, images);
      throw error;
    }
  };
};
