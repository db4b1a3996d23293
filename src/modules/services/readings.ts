import type { Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import type { ReplicaReading } from './view.ts';

/** The engine's word on containers, within a deadline: what has not come by then is left out. */
export type ReadReplicas = (containerIds: readonly string[]) => Promise<ReadonlyMap<string, ReplicaReading>>;

/** Above the two seconds that a CPU reading takes. */
const DEADLINE_MS = 2500;

export const createReadReplicas =
  (runtime: Pick<Runtime, 'inspect' | 'stats'>, clock: Clock): ReadReplicas =>
  async (containerIds) => {
    const readings = new Map<string, ReplicaReading>();
    const late = new AbortController();
    const read = async (id: string): Promise<void> => {
      const reading: ReplicaReading = { state: undefined, stats: undefined };
      readings.set(id, reading);
      const [state, stats] = [runtime.inspect(id), runtime.stats(id)];
      // A container may vanish between the row and the reading: then there is nothing to tell of it.
      await Promise.allSettled([
        state.then((value) => (reading.state = value)),
        stats.then((value) => (reading.stats = value)),
      ]);
    };
    await Promise.race([Promise.all(containerIds.map(read)), clock.sleep(DEADLINE_MS, late.signal)]);
    late.abort();
    return new Map([...readings].map(([id, reading]) => [id, { ...reading }]));
  };
