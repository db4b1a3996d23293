import type { ContainerUsage, Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import type { ReplicaReading } from './view.ts';

/** The engine's word on containers, within a deadline: what has not come by then is left out. */
export type ReadReplicas = (containerIds: readonly string[]) => Promise<ReadonlyMap<string, ReplicaReading>>;

const DEADLINE_MS = 2500;
/** CPU is what was spent between two readings that lie at least so far apart, and at most so. */
const APART_MS = 200;
const TOGETHER_MS = 30_000;
/** So many containers are remembered, the newest. */
const REMEMBERED = 2000;

interface Counted extends ContainerUsage {
  at: number;
  /** What was told of its CPU then. */
  cpu: number | null;
}

/** A page that is looked at asks again and again: the reading before serves as the first of the two. */
export const createReadReplicas = (
  runtime: Pick<Runtime, 'inspect' | 'usage'>,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
): ReadReplicas => {
  const counted = new Map<string, Counted>();

  const count = async (ids: readonly string[]): Promise<Map<string, Counted>> => {
    const usage = await runtime.usage(ids);
    const at = clock.monotonic();
    return new Map([...usage].map(([id, value]) => [id, { ...value, at, cpu: null }]));
  };
  const remember = (id: string, value: Counted): void => {
    counted.delete(id);
    counted.set(id, value);
    const [oldest] = counted.keys();
    if (counted.size > REMEMBERED && oldest !== undefined) counted.delete(oldest);
  };
  /** Calls back with what is known of each, first without CPU where it has to be waited for. */
  const measure = async (
    ids: readonly string[],
    tell: (id: string, usage: ReplicaReading['usage']) => void,
  ): Promise<void> => {
    const first = await count(ids);
    const alone: string[] = [];
    for (const [id, now] of first) {
      const before = counted.get(id);
      const near = before !== undefined && now.at - before.at < APART_MS;
      const cpu = before === undefined ? null : near ? before.cpu : between(before, now);
      tell(id, { memoryBytes: now.memoryBytes, cpu });
      if (cpu === null) alone.push(id);
      else if (!near) remember(id, { ...now, cpu });
    }
    if (alone.length === 0) return;
    await clock.sleep(APART_MS);
    for (const [id, now] of await count(alone)) {
      const before = first.get(id);
      const cpu = before === undefined ? null : between(before, now);
      tell(id, { memoryBytes: now.memoryBytes, cpu });
      remember(id, { ...now, cpu });
    }
  };

  return async (ids) => {
    if (ids.length === 0) return new Map();
    const readings = new Map<string, ReplicaReading>(ids.map((id) => [id, { state: undefined, usage: undefined }]));
    const set = (id: string, part: Partial<ReplicaReading>): void => {
      readings.set(id, { state: undefined, usage: undefined, ...readings.get(id), ...part });
    };
    // A container may vanish between the row and the reading: then there is nothing to tell of it.
    const all = Promise.allSettled([
      ...ids.map(async (id) => set(id, { state: await runtime.inspect(id) })),
      measure(ids, (id, usage) => set(id, { usage })),
    ]);
    const late = new AbortController();
    await Promise.race([all, clock.sleep(DEADLINE_MS, late.signal)]);
    late.abort();
    return new Map(readings);
  };
};

/** In cores; null when the two readings tell nothing: too far apart, or of a container that began anew. */
const between = (before: Counted, now: Counted): number | null => {
  const elapsed = now.at - before.at;
  const spent = now.cpuSeconds - before.cpuSeconds;
  return elapsed <= 0 || elapsed > TOGETHER_MS || spent < 0 ? null : (spent * 1000) / elapsed;
};
