import { describe, expect, test } from 'bun:test';
import { parseSince } from '#kernel/since';

const NOW = Date.UTC(2026, 0, 31, 12);

describe('parseSince', () => {
  test.each([
    ['30s', NOW - 30_000],
    ['10m', NOW - 600_000],
    ['1h30m', NOW - 5_400_000],
    ['2d', NOW - 172_800_000],
    ['2026-01-31T11:00:00Z', NOW - 3_600_000],
    ['2026-01-31T12:00:00.500+01:00', NOW - 3_600_000 + 500],
    ['2026-01-31T12:00:00 01:00', NOW - 3_600_000],
  ])('reads %s', (text, expected) => {
    expect(parseSince(text, NOW)).toBe(expected);
  });
  test.each(['', 'yesterday', '10', '-5m', '2026-01-31', '2026-13-31T12:00:00Z', '2026-02-29T12:00:00Z', '1m30'])(
    'refuses %p',
    (text) => {
      expect(() => parseSince(text, NOW)).toThrow(/neither a time nor a duration/);
    },
  );
});
