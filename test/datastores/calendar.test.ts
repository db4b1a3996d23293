import { describe, expect, test } from 'bun:test';
import { expiryOf, isExpired, nextNightly, nightlyRoom } from '#datastores/calendar';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const TIMES = { backupHour: 2, backupDays: 7 };
const at = (text: string): number => Date.parse(`${text}:00Z`);
const shown = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

const DATASTORE = { id: 'ds_01', created_at: at('2026-03-01T12:00') };
const night = (started_at: number, status: 'verified' | 'failed' | 'running' | 'verifying' = 'verified') => ({
  datastore_id: DATASTORE.id,
  cause: 'nightly' as const,
  status,
  started_at,
});
const NOW = at('2026-03-10T12:00');
const next = (backups: ReturnType<typeof night>[], now = NOW, row = DATASTORE): number =>
  nextNightly(TIMES, row, backups, now);
/** Minutes past the hour at which this datastore has its turn. */
const OFFSET = next([]) - at('2026-03-02T02:00');

describe('the time of a nightly backup', () => {
  test('lies in the hour that was set, always at the same minute of it for one datastore', () => {
    const starts = Array.from({ length: 200 }, (_, i) => next([], NOW, { ...DATASTORE, id: `ds_${i}` }));
    for (const start of starts) {
      expect(start).toBeGreaterThanOrEqual(at('2026-03-02T02:00'));
      expect(start).toBeLessThan(at('2026-03-02T03:00'));
    }
    expect(next([])).toBe(next([]));
    // Spread over the hour: each quarter has its share.
    const quarters = [0, 1, 2, 3].map(
      (quarter) => starts.filter((start) => Math.floor((start % HOUR) / (HOUR / 4)) === quarter).length,
    );
    for (const count of quarters) expect(count).toBeGreaterThan(25);
  });

  test.each([
    ['a new datastore has its first in its first night', [], '2026-03-02T02:00'],
    [
      'one that was made last night is next made in the coming one',
      [night(at('2026-03-10T02:59'))],
      '2026-03-11T02:00',
    ],
    ['one that was missed is due since its night', [night(at('2026-03-05T02:59'))], '2026-03-06T02:00'],
    ['one that is being made counts', [night(at('2026-03-10T02:59'), 'running')], '2026-03-11T02:00'],
    ['one that is being verified counts', [night(at('2026-03-10T02:59'), 'verifying')], '2026-03-11T02:00'],
    ['one made up for at noon does not move the next', [night(at('2026-03-10T11:30'))], '2026-03-11T02:00'],
    [
      'one made under a clock that was years ahead does not count',
      [night(at('2026-03-09T02:59')), night(at('2031-01-01T02:59'))],
      '2026-03-10T02:00',
    ],
  ])('%s', (_, backups, hour) => {
    expect(shown(next(backups) - OFFSET)).toBe(hour);
  });

  test('one that failed is tried again two hours later, not at once and not only next night', () => {
    const failed = at('2026-03-10T11:00');
    expect(next([night(at('2026-03-09T02:59')), night(failed, 'failed')])).toBe(failed + 2 * HOUR);
    expect(shown(next([night(failed, 'failed'), night(failed + 2 * HOUR)]) - OFFSET)).toBe('2026-03-11T02:00');
  });

  test('a clock that was an hour ahead for a while moves nothing', () => {
    expect(shown(next([night(NOW + HOUR)]) - OFFSET)).toBe('2026-03-11T02:00');
  });

  test('a datastore made under a clock that was years ahead is due at once', () => {
    expect(next([], NOW, { ...DATASTORE, created_at: at('2031-01-01T00:00') })).toBeLessThan(NOW);
  });

  test('what is made on demand, or of an earlier datastore of the name, does not stand in for it', () => {
    const other = [
      { ...night(at('2026-03-10T02:59')), cause: 'manual' as const },
      { ...night(at('2026-03-10T02:59')), datastore_id: 'ds_00' },
    ];
    expect(nextNightly(TIMES, DATASTORE, other, NOW)).toBe(next([]));
  });

  test('every hour of the day can be set', () => {
    for (let backupHour = 0; backupHour < 24; backupHour += 1) {
      const start = nextNightly({ ...TIMES, backupHour }, DATASTORE, [night(NOW - 1000)], NOW);
      expect(new Date(start).getUTCHours()).toBe(backupHour);
      expect(start).toBeGreaterThan(NOW - HOUR);
      expect(start).toBeLessThan(NOW + DAY + HOUR);
    }
  });

  test('made at its time, it is next due a day later, also across the change to summer time', () => {
    let start = at('2026-03-26T02:00') + OFFSET;
    for (let i = 0; i < 7; i += 1) {
      const following = next([night(start)], start + 1000);
      expect(following - start).toBe(DAY);
      start = following;
    }
  });
});

test('at most two nightly backups are made at once; others do not count', () => {
  const nightly = (status: 'verified' | 'running' | 'verifying') => ({ cause: 'nightly' as const, status });
  expect(nightlyRoom([])).toBe(2);
  expect(nightlyRoom([nightly('running'), nightly('verified'), { cause: 'manual', status: 'running' }])).toBe(1);
  expect(nightlyRoom([nightly('running'), nightly('verifying'), nightly('running')])).toBe(0);
});

describe('how long a backup is kept', () => {
  const backup = (day: number, status: 'verified' | 'failed' | 'running' | 'verifying' = 'verified') => ({
    key: `bkp_${String(100 + day)}`,
    datastore_id: DATASTORE.id,
    status,
    started_at: at('2026-03-01T02:10') + day * DAY,
  });
  type Aged = ReturnType<typeof backup>;
  const kept = (backups: Aged[], now: number, exists = true): string[] =>
    backups.filter((each) => !isExpired(TIMES, each, { backups, exists, lostAt: null }, now)).map((each) => each.key);
  const after = (day: number): number => at('2026-03-01T03:00') + day * DAY;

  test('one a night: the last seven nights are kept', () => {
    const nights = Array.from({ length: 12 }, (_, day) => backup(day));
    expect(kept(nights, after(11))).toEqual(nights.slice(5).map((each) => each.key));
  });

  test('the newest verified one is kept however old it is, and says so', () => {
    const only = [backup(0), backup(1, 'failed')];
    expect(kept(only, after(400))).toEqual(['bkp_100']);
    expect(expiryOf(TIMES, backup(0), { backups: only, exists: true, lostAt: null })).toBeNull();
    const two = [backup(0), backup(1)];
    expect(expiryOf(TIMES, backup(0), { backups: two, exists: true, lostAt: null })).toBe(
      backup(0).started_at + 7 * DAY,
    );
  });

  test('after a loss of data, those from before it are kept until a restore', () => {
    const nights = Array.from({ length: 12 }, (_, day) => backup(day));
    const lostAt = after(3);
    const left = (lost: number | null): number =>
      nights.filter((each) => !isExpired(TIMES, each, { backups: nights, exists: true, lostAt: lost }, after(30)))
        .length;
    expect(left(lostAt)).toBeGreaterThan(left(null));
    expect(isExpired(TIMES, backup(0), { backups: nights, exists: true, lostAt }, after(400))).toBe(false);
    expect(isExpired(TIMES, backup(0), { backups: nights, exists: true, lostAt: null }, after(400))).toBe(true);
  });

  test('when the nights begin to fail, what is there stays until one succeeds again', () => {
    const good = [0, 1, 2, 3, 4, 5, 6].map((day) => backup(day));
    const failing = Array.from({ length: 30 }, (_, i) => backup(7 + i, 'failed'));
    const verified = kept([...good, ...failing], after(37)).filter((key) => good.some((each) => each.key === key));
    expect(verified.length).toBeGreaterThanOrEqual(6);
    expect(kept([...good, ...failing, backup(38)], after(38))).not.toContain('bkp_106');
  });

  test('failed ones go after their days, also when none was ever verified', () => {
    const failed = [backup(0, 'failed'), backup(6, 'failed')];
    expect(kept(failed, after(8))).toEqual(['bkp_106']);
  });

  test('a clock that is years ahead for a while takes no more than one night would', () => {
    const nights = [0, 1, 2, 3, 4, 5, 6].map((day) => backup(day));
    expect(kept(nights, after(2000)).length).toBeGreaterThanOrEqual(6);
  });

  test('what is being made is never let go of', () => {
    for (const status of ['running', 'verifying'] as const)
      expect(kept([backup(0, status), backup(1)], after(400))).toContain('bkp_100');
  });

  test('those of a deleted datastore, the final one included, go after their days', () => {
    const last = [backup(0), backup(1)];
    expect(kept(last, after(6), false)).toEqual(['bkp_100', 'bkp_101']);
    expect(kept(last, after(8), false)).toEqual([]);
  });

  test('a datastore made anew under the same name does not shorten the life of the old one’s backups', () => {
    const old = { ...backup(0), datastore_id: 'ds_00' };
    expect(isExpired(TIMES, old, { backups: [old, backup(9)], exists: true, lostAt: null }, after(400))).toBe(false);
  });
});
