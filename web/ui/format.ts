/** How sizes, durations and times are written, everywhere. */

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** In units of 1024, as memory and disks are limited. */
export const bytes = (value: number): string => {
  let amount = value;
  let unit = 0;
  while (amount >= 1024 && unit < UNITS.length - 1) {
    amount /= 1024;
    unit += 1;
  }
  return `${amount >= 100 || unit === 0 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit] ?? ''}`;
};

/** `340 ms`, `4.2 s`, `1 min 20 s`, `2 h 5 min`. */
export const duration = (ms: number): string => {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return withRest(`${minutes} min`, Math.round(seconds % 60), 's');
  return withRest(`${Math.floor(minutes / 60)} h`, minutes % 60, 'min');
};

const withRest = (whole: string, rest: number, unit: string): string =>
  rest === 0 ? whole : `${whole} ${rest} ${unit}`;

/** The server's clock may be a little ahead of the browser's, and of the last tick of the page's. */
const SKEW_SECONDS = 5;

/** `just now`, `3 min ago`, `in 2 h`; beyond a week the date. */
export const ago = (time: number, now: number): string => {
  const ms = now - time;
  const past = ms >= 0;
  const seconds = Math.abs(ms) / 1000;
  if (seconds < 10) return past || seconds < SKEW_SECONDS ? 'just now' : 'in a moment';
  const [amount, unit] = roughly(seconds);
  if (amount === undefined) return date(time);
  return past ? `${amount} ${unit} ago` : `in ${amount} ${unit}`;
};

const roughly = (seconds: number): [number | undefined, string] => {
  if (seconds < 60) return [Math.round(seconds), 's'];
  if (seconds < 3600) return [Math.round(seconds / 60), 'min'];
  if (seconds < 86_400) return [Math.round(seconds / 3600), 'h'];
  if (seconds < 7 * 86_400) return [Math.round(seconds / 86_400), 'd'];
  return [undefined, ''];
};

export const date = (time: number): string =>
  new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' }).format(time);

/** To the second, with its zone, for tooltips and logs. */
export const exactly = (time: number): string =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' }).format(time);

export const clockTime = (time: number): string =>
  new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false }).format(
    time,
  );

export const count = (amount: number, one: string, many = `${one}s`): string =>
  `${amount} ${amount === 1 ? one : many}`;

export const percent = (share: number): string =>
  `${share >= 0.1 || share === 0 ? Math.round(share * 100) : (share * 100).toFixed(1)} %`;

export const capitalised = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
