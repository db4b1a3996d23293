import { afterEach, beforeEach, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBuildLimits, limitFiles } from '#engines/builder/build-limits';
import type { Connection } from '#engines/docker/connection';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { until } from '#test/support/until.ts';

const LIMITS = { memoryBytes: 1_000_000 };
const STEP = `docker-${'k3'.repeat(12)}x.scope`;
const CONTAINER = `docker-${'ab'.repeat(32)}.scope`;

let root: string;
let lines: string[];
let ended: AbortController;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'berth-cgroup-'));
  lines = [];
  ended = new AbortController();
});
afterEach(() => {
  ended.abort();
  rmSync(root, { recursive: true, force: true });
});

/** Makes a group with the files that the kernel would show in it. */
const group = (path: string, files: string[]): void => {
  mkdirSync(join(root, path), { recursive: true });
  for (const file of files) writeFileSync(join(root, path, file), '');
};

const V2_FILES = ['memory.max', 'memory.swap.max', 'pids.max', 'cpu.weight'];

const limit = (driver: string, version: string): Promise<void> => {
  const info = { CgroupDriver: driver, CgroupVersion: version };
  const connection = { call: async () => info } as unknown as Connection;
  const log = createLog('warn', (line) => lines.push(line), Date.now);
  return createBuildLimits({ connection, clock: systemClock, log, limits: LIMITS, root })(ended.signal);
};

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

test('with the cgroupfs driver the group of all steps is limited before the first', async () => {
  group('docker/buildkit', V2_FILES);
  await limit('cgroupfs', '2');
  expect(V2_FILES.map((file) => read(`docker/buildkit/${file}`))).toEqual(['1000000', '0', '4096', '25']);
});

test('the group is made when Docker has not made it yet', async () => {
  await limit('cgroupfs', '1');
  expect(existsSync(join(root, 'memory/docker/buildkit'))).toBe(true);
  expect(lines).toEqual([]);
});

test('with the systemd driver each step is limited as it comes, and containers are left alone', async () => {
  group('system.slice', []);
  group(`system.slice/${CONTAINER}`, V2_FILES);
  await limit('systemd', '2');
  group(`system.slice/${STEP}`, V2_FILES);
  await until(() => read(`system.slice/${STEP}/cpu.weight`) === '25', 5);
  expect(read(`system.slice/${STEP}/memory.max`)).toBe('1000000');
  expect(read(`system.slice/${CONTAINER}/memory.max`)).toBe('');
});

test('a host that does not let berth set limits is told once, and builds go on', async () => {
  rmSync(root, { recursive: true });
  writeFileSync(root, 'no directory');
  await limit('cgroupfs', '2');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('cannot limit');
});

test('control groups of version 1 have their own names, and take a higher limit as well as a lower one', () => {
  expect(limitFiles('docker/buildkit', '1', LIMITS)).toEqual([
    ['memory/docker/buildkit/memory.memsw.limit_in_bytes', '-1'],
    ['memory/docker/buildkit/memory.limit_in_bytes', '1000000'],
    ['memory/docker/buildkit/memory.memsw.limit_in_bytes', '1000000'],
    ['pids/docker/buildkit/pids.max', '4096'],
    ['cpu/docker/buildkit/cpu.shares', '256'],
  ]);
});
