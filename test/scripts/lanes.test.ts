import { expect, test } from 'bun:test';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '../..');

const lane = (name: string): string[] => {
  const shell = Bun.spawnSync(
    ['bash', '-euo', 'pipefail', '-c', '. scripts/lib/lanes.sh; lane_files "$1"', 'sh', name],
    {
      cwd: ROOT,
    },
  );
  expect(shell.stderr.toString()).toBe('');
  return shell.stdout.toString().trim().split('\n');
};

test('every file of tests is in one lane', async () => {
  const lanes = ['quick', 'engines', 'builds', 'hands', 'waiting', 'alone'].map(lane);
  const all = (await Array.fromAsync(new Bun.Glob('test/**/*.test.ts').scan({ cwd: ROOT }))).map((path) => `./${path}`);
  expect(all.length).toBeGreaterThan(100);
  expect(lanes.flat().toSorted()).toEqual(all.toSorted());
  for (const files of lanes) expect(files.length).toBeGreaterThan(3);
});

test('files that measure time, or change what all builds share, have no company', () => {
  const alone = lane('alone');
  for (const name of ['load', 'faults', 'docker-faults', 'builds', 'build-caches', 'limits', 'streams']) {
    expect(alone).toContain(`./test/e2e/${name}.test.ts`);
  }
});
