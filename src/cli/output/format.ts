const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** `1536` → `1.5 kB`, by powers of 1024 as the limits are. */
export const bytes = (count: number): string => {
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Math.round(value * 10) / 10} ${UNITS[unit]}`;
};

/** `3m`, `2h`, `5d`: the age of a time stamp. */
export const age = (timestamp: string | null | undefined, now: number): string => {
  if (timestamp === null || timestamp === undefined) return '-';
  const then = Date.parse(timestamp);
  if (Number.isNaN(then)) return '-';
  return duration(Math.max(0, now - then));
};

/** `850ms`, `4.2s`, `3m`, `2h`, `5d`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = ms / 1000;
  if (seconds < 10) return `${Math.round(seconds * 10) / 10}s`;
  if (seconds < 120) return `${Math.round(seconds)}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
};

const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/;
const IN_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `10m` → milliseconds; undefined when it is no duration. */
export const parseDuration = (text: string): number | undefined => {
  const match = DURATION.exec(text.trim());
  const unit = IN_MS[match?.[2] ?? ''];
  return match?.[1] === undefined || unit === undefined ? undefined : Number(match[1]) * unit;
};

/** `1 service`, `2 services`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
