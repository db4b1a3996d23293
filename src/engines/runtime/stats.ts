import type { ContainerUsage } from './port.ts';

/** The part of Docker's statistics that is used; every field may be missing, depending on the kernel. */
export interface RawStats {
  cpu_stats?: { cpu_usage?: { total_usage?: number } };
  memory_stats?: { usage?: number; stats?: Record<string, number> };
}

/** The counters of one sample. */
export const readUsage = (raw: RawStats): ContainerUsage | undefined => {
  const memory = raw.memory_stats?.usage;
  const nanoseconds = raw.cpu_stats?.cpu_usage?.total_usage;
  if (memory === undefined || nanoseconds === undefined) return undefined;
  return { cpuSeconds: nanoseconds / 1e9, memoryBytes: memory - reclaimable(raw.memory_stats?.stats ?? {}, memory) };
};

/** Page cache that the kernel gives back under pressure: cgroup v1 calls it `total_inactive_file`, v2 `inactive_file`. */
const reclaimable = (stats: Record<string, number>, usage: number): number => {
  const cache = stats.total_inactive_file ?? stats.inactive_file ?? 0;
  return cache < usage ? cache : 0;
};
