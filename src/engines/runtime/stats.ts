import type { ContainerStats, ContainerUsage } from './port.ts';

/** The part of Docker's statistics that is used; every field may be missing, depending on the kernel. */
export interface RawStats {
  cpu_stats?: RawCpu;
  precpu_stats?: RawCpu;
  memory_stats?: { usage?: number; limit?: number; stats?: Record<string, number> };
  pids_stats?: { current?: number };
}

interface RawCpu {
  cpu_usage?: { total_usage?: number; percpu_usage?: number[] | null };
  system_cpu_usage?: number;
  online_cpus?: number;
}

/** Reads one sample as `docker stats` shows it; undefined when the container did not run. */
export const readStats = (raw: RawStats): ContainerStats | undefined => {
  const usage = raw.memory_stats?.usage;
  if (usage === undefined) return undefined;
  return {
    memoryBytes: usage - reclaimable(raw.memory_stats?.stats ?? {}, usage),
    memoryLimitBytes: raw.memory_stats?.limit ?? 0,
    cpu: cpuShare(raw.precpu_stats ?? {}, raw.cpu_stats ?? {}),
    pids: raw.pids_stats?.current ?? 0,
  };
};

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

const cpuShare = (before: RawCpu, after: RawCpu): number => {
  const used = (after.cpu_usage?.total_usage ?? 0) - (before.cpu_usage?.total_usage ?? 0);
  const elapsed = (after.system_cpu_usage ?? 0) - (before.system_cpu_usage ?? 0);
  const cores = after.online_cpus ?? after.cpu_usage?.percpu_usage?.length ?? 1;
  return used > 0 && elapsed > 0 ? (used / elapsed) * cores : 0;
};
