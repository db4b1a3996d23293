import { expect, test } from 'bun:test';
import { createIds } from '#kernel/ids';

test('ids of one process sort in the order in which they were made, within one millisecond and over a clock that jumps back', () => {
  const times = [1000, 1000, 1000, 999, 500, 1001, 1001, 2000, 1];
  const newId = createIds(() => times.shift() ?? 3000);
  const ids = Array.from({ length: 60_000 }, () => newId('op'));
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids[0]).toMatch(/^op_[0-9a-z]{20}$/);
});

test('two processes that start in the same millisecond make different ids', () => {
  const [one, two] = [createIds(() => 1000), createIds(() => 1000)];
  const ids = Array.from({ length: 500 }, () => [one('op'), two('op')]).flat();
  expect(new Set(ids).size).toBe(1000);
});
