import { invalidInput } from './errors.ts';

const UNIT_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Reads a time in RFC 3339 as milliseconds since the epoch; undefined for one that no calendar has, such as February 30. */
export const parseTime = (text: string): number | undefined => {
  const [, year, month, day] = RFC_3339.exec(text) ?? [];
  const at = Date.parse(text);
  if (day === undefined || Number.isNaN(at)) return undefined;
  const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
  return Number(day) > lastDay ? undefined : at;
};

/** Reads `since`: a time in RFC 3339, or how long ago, such as `10m` or `1h30m`. Milliseconds since the epoch. */
export const parseSince = (text: string, now: number, parameter = 'since'): number => {
  const ago = durationMs(text);
  if (ago !== undefined) return now - ago;
  // A `+` of the offset that was not encoded arrives as a space.
  const at = parseTime(text.replace(' ', '+'));
  if (at === undefined) {
    throw invalidInput(
      `query.${parameter} "${text.slice(0, 40)}" is neither a time nor a duration`,
      'use RFC 3339 such as 2026-01-31T12:00:00Z, or a duration such as 30s, 10m, 2h, 1d',
    );
  }
  return at;
};

const durationMs = (text: string): number | undefined => {
  if (!/^(?:\d{1,9}[smhd])+$/.test(text)) return undefined;
  let total = 0;
  for (const [, count, unit] of text.matchAll(/(\d+)([smhd])/g)) {
    total += Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  }
  return total;
};
