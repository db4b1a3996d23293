import { describe, expect, test } from 'bun:test';
import { type Bench, kindOf } from './runtime-bench.ts';

/** Networks. */
export const networkContract = (bench: Bench): void => {
  describe('networks', () => {
    test('are made once, found by labels, and count as used subnets', async () => {
      await bench.runtime.ensureNetwork(bench.network());
      const found = await bench.runtime.listNetworks(bench.labels);
      expect(found.map(({ name, subnet }) => ({ name, subnet }))).toEqual([
        { name: bench.network().name, subnet: bench.network().subnet },
      ]);
      expect(await bench.runtime.usedSubnets()).toContain(bench.network().subnet);
    });
    test('of one name with another subnet are a CONFLICT', async () => {
      expect(await kindOf(bench.runtime.ensureNetwork({ ...bench.network(), subnet: '10.207.0.0/24' }))).toBe(
        'CONFLICT',
      );
    });
    test('of another name with the same subnet are a CONFLICT', async () => {
      const other = {
        ...bench.network(),
        name: `${bench.harness.prefix}-other`,
        bridge: `${bench.harness.network.bridge}x`,
      };
      expect(await kindOf(bench.runtime.ensureNetwork(other))).toBe('CONFLICT');
    });
    test('stay while a container runs in them, and go once, twice', async () => {
      const id = await bench.run('idle');
      expect(await kindOf(bench.runtime.removeNetwork(bench.network().name))).toBe('CONFLICT');
      await bench.runtime.remove(id);
      await bench.runtime.removeNetwork(bench.network().name);
      await bench.runtime.removeNetwork(bench.network().name);
      expect(await bench.runtime.listNetworks(bench.labels)).toEqual([]);
    });
  });
};

/** Images. */
export const imageContract = (bench: Bench): void => {
  describe('images', () => {
    test('that are there need no pull', async () => {
      const found = await bench.runtime.inspectImage(bench.harness.image);
      expect(found?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
      expect(await bench.runtime.ensureImage(bench.harness.image)).toEqual(found ?? expect.unreachable());
    });
    test('of no registry cannot be pulled', async () => {
      expect(await kindOf(bench.runtime.pullImage('berth-test/none:1'))).not.toBe('no error');
    });
    test('that are not there are undefined', async () => {
      expect(await bench.runtime.inspectImage('berth-test/none:1')).toBeUndefined();
    });
    test('have more names by tagging, and lose them one by one', async () => {
      const target = `berth-test/${bench.harness.prefix}:1`;
      await bench.runtime.tagImage(bench.harness.image, target);
      const original = await bench.runtime.inspectImage(bench.harness.image);
      expect((await bench.runtime.inspectImage(target))?.id).toBe(original?.id ?? '');
      expect(await bench.runtime.imageNames(`berth-test/${bench.harness.prefix}:`)).toEqual([target]);
      await bench.runtime.removeImage(target);
      await bench.runtime.removeImage(target);
      expect(await bench.runtime.imageNames(`berth-test/${bench.harness.prefix}:`)).toEqual([]);
      expect(await bench.runtime.inspectImage(target)).toBeUndefined();
      expect((await bench.runtime.inspectImage(bench.harness.image))?.id).toBe(original?.id ?? '');
    });
    test('that are not there cannot be tagged', async () => {
      expect(await kindOf(bench.runtime.tagImage('berth-test/none:1', 'berth-test/other:1'))).toBe('NOT_FOUND');
    });
  });
};

/** The engine itself. */
export const infoContract = (bench: Bench): void => {
  test('info tells versions and capacity', async () => {
    const info = await bench.runtime.info();
    expect(info.cpus).toBeGreaterThan(0);
    expect(info.memoryBytes).toBeGreaterThan(0);
    expect(info.apiVersion).toMatch(/^\d+\.\d+$/);
    expect(['1', '2']).toContain(info.cgroupVersion);
  });
};
