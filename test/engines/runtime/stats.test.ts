import { describe, expect, test } from 'bun:test';
import { readStats } from '#engines/runtime/stats';

const cpu = (total: number, system: number): object => ({
  cpu_usage: { total_usage: total },
  system_cpu_usage: system,
  online_cpus: 4,
});

describe('statistics', () => {
  test('of cgroup v1 leave out the cache that can be given back', () => {
    const raw = {
      memory_stats: { usage: 1000, limit: 5000, stats: { total_inactive_file: 300, inactive_file: 100 } },
      cpu_stats: cpu(300, 2000),
      precpu_stats: cpu(100, 1000),
      pids_stats: { current: 7 },
    };
    expect(readStats(raw)).toEqual({ memoryBytes: 700, memoryLimitBytes: 5000, cpu: 0.8, pids: 7 });
  });
  test('of cgroup v2 do so too', () => {
    const raw = { memory_stats: { usage: 1000, limit: 5000, stats: { inactive_file: 400 } } };
    expect(readStats(raw)).toEqual({ memoryBytes: 600, memoryLimitBytes: 5000, cpu: 0, pids: 0 });
  });
  test('count cores of old engines by their list', () => {
    const raw = {
      memory_stats: { usage: 1 },
      cpu_stats: { cpu_usage: { total_usage: 10, percpu_usage: [5, 5] }, system_cpu_usage: 20 },
      precpu_stats: { cpu_usage: { total_usage: 0 }, system_cpu_usage: 0 },
    };
    expect(readStats(raw)?.cpu).toBe(1);
  });
  test('of a container that does not run are none', () => {
    expect(readStats({ memory_stats: {}, cpu_stats: cpu(0, 0) })).toBeUndefined();
  });
});
