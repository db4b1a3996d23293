import { describe, expect, test } from 'bun:test';
import { readUsage } from '#engines/runtime/stats';

const cpu_stats = { cpu_usage: { total_usage: 2_500_000_000 } };

describe('statistics', () => {
  test('of cgroup v1 leave out the cache that can be given back', () => {
    const memory_stats = { usage: 1000, stats: { total_inactive_file: 300, inactive_file: 100 } };
    expect(readUsage({ cpu_stats, memory_stats })).toEqual({ memoryBytes: 700, cpuSeconds: 2.5 });
  });
  test('of cgroup v2 do so too', () => {
    const memory_stats = { usage: 1000, stats: { inactive_file: 400 } };
    expect(readUsage({ cpu_stats, memory_stats })).toEqual({ memoryBytes: 600, cpuSeconds: 2.5 });
  });
  test('of a container that does not run are none', () => {
    expect(readUsage({ memory_stats: {}, cpu_stats })).toBeUndefined();
    expect(readUsage({ memory_stats: { usage: 1 }, cpu_stats: {} })).toBeUndefined();
  });
});
