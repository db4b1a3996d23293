/* oxlint-disable no-control-regex -- control characters are what this file looks for */

/** ECMA-48: control sequences, strings up to their end (OSC, DCS, …), other escapes; with ESC or in one byte (C1). */
const ESCAPES =
  /(?:\u001B\[|\u009B)([0-?]*)[ -/]*([@-~])?|(?:\u001B[\]PX^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C]*(?:\u0007|\u001B\\|\u009C)?|\u001B[ -/]*[0-~]?/g;
/** But the tab. */
const CONTROLS = /[\u0000-\u0008\u000A-\u001F\u007F-\u009F]/g;
const UNUSUAL = /[\u0000-\u0008\u000A-\u001F\u007F-\u009F]/;
const SGR = /\u001B\[[\d;]*m/g;
const RESET = '\u001B[0m';
/** A line with more changes of its look than this is made to cost whoever shows it. */
const MOST_LOOKS = 256;

/** A line as text alone: nothing of it acts on a terminal. */
export const plainText = (line: string): string =>
  UNUSUAL.test(line) ? line.replace(ESCAPES, '').replace(CONTROLS, '') : line;

/**
 * A line with its colours and weights, and nothing else that acts on a terminal. What hides or blinks goes too, and the line
 * ends as plain as it began.
 */
export const colouredText = (line: string): string => {
  if (!UNUSUAL.test(line)) return line;
  let out = '';
  let text = '';
  let looks = 0;
  let on = false;
  let from = 0;
  const take = (end: number): void => {
    const part = line.slice(from, end).replace(CONTROLS, '');
    out += part;
    text += part;
  };
  for (const match of line.matchAll(ESCAPES)) {
    take(match.index);
    from = match.index + match[0].length;
    const codes = match[2] === 'm' ? shownCodes(match[1] ?? '') : undefined;
    if (codes === undefined || (!on && codes === '0')) continue;
    on = codes !== '0';
    looks += 1;
    out += `\u001B[${codes}m`;
  }
  take(line.length);
  if (looks === 0 || looks > MOST_LOOKS || text.trim() === '') return text;
  return on ? out + RESET : out;
};

/** Without the colours that `colouredText` leaves. */
export const withoutColours = (line: string): string => (line.includes('\u001B') ? line.replace(SGR, '') : line);

const CONCEAL = 8;
const BLINK = new Set([5, 6]);
/** What follows 38 and 48: `5;n`, or `2;r;g;b`. */
const EXTENDED: Record<number, number> = { 5: 2, 2: 4 };

/** The codes of a change of looks that may stay, or undefined for none. */
const shownCodes = (parameters: string): string | undefined => {
  if (!/^[\d;]{0,48}$/.test(parameters)) return undefined;
  const codes = parameters.split(';').map(Number);
  const kept: number[] = [];
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const end = at + 1 + (EXTENDED[codes[at + 1] ?? 0] ?? codes.length);
      // Of an unknown kind, or cut off: what follows belongs to it.
      if (end > codes.length) break;
      kept.push(...codes.slice(at, end));
      at = end - 1;
    } else if (code <= 107 && code !== CONCEAL && !BLINK.has(code)) kept.push(code);
  }
  return kept.length === 0 ? undefined : kept.join(';');
};
