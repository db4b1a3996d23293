/** A piece of a line with one look. */
export interface Piece {
  text: string;
  /** Class names, for what the terminal would show. */
  look: string;
}

const COLOURS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

// ECMA-48: CSI sequences, OSC and the other strings up to their end, then escapes of two characters.
const ESCAPES =
  // oxlint-disable-next-line no-control-regex
  /\u001b\[([0-9:;<=>?]*)[ -/]*([@-~])|\u001b[\]PX^_][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]?/g;
// Controls that move the caret or turn the direction of writing: none may rearrange what a line shows.
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000a-\u001a\u001c-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
// oxlint-disable-next-line no-control-regex
const UNUSUAL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

/**
 * Takes the looks of a terminal's line apart (ECMA-48, 8.3.117); a bare carriage return begins the line anew, as terminals
 * do. The text is given as it is: it is never markup.
 */
export const parseAnsi = (raw: string): Piece[] => {
  if (!UNUSUAL.test(raw)) return [{ text: raw, look: '' }];
  const line = lastWritten(raw);
  const pieces: Piece[] = [];
  const style = { ...PLAIN };
  let from = 0;
  const take = (end: number): void => {
    const text = line.slice(from, end).replace(CONTROLS, '\ufffd');
    if (text === '') return;
    const look = classOf(style);
    const last = pieces.at(-1);
    if (last?.look === look) last.text += text;
    else pieces.push({ text, look });
  };
  for (const match of line.matchAll(ESCAPES)) {
    take(match.index);
    from = match.index + match[0].length;
    if (match[2] === 'm') applyCodes(style, match[1] ?? '');
  }
  take(line.length);
  return pieces.length === 0 ? [{ text: '', look: '' }] : pieces;
};

/** The text alone, for search and copies. */
export const stripAnsi = (line: string): string =>
  UNUSUAL.test(line) ? lastWritten(line).replace(ESCAPES, '').replace(CONTROLS, '\ufffd') : line;

const lastWritten = (raw: string): string => {
  const line = raw.replace(/[\r\n]+$/, '');
  return line.slice(line.lastIndexOf('\r') + 1);
};

interface Style {
  colour: string;
  ground: string;
  bold: boolean;
  faint: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
}

const PLAIN: Style = {
  colour: '',
  ground: '',
  bold: false,
  faint: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

const classOf = (style: Style): string => {
  const { colour, ground, inverse } = style;
  return [
    !inverse && colour !== '' ? `ansi-${colour}` : '',
    !inverse && ground !== '' ? `ansi-on-${ground}` : '',
    ...(['bold', 'faint', 'italic', 'underline', 'strike', 'inverse'] as const).map((flag) =>
      style[flag] ? `ansi-${flag}` : '',
    ),
  ]
    .filter((name) => name !== '')
    .join(' ');
};

const CODES: Record<number, Partial<Style>> = {
  0: PLAIN,
  1: { bold: true },
  2: { faint: true },
  3: { italic: true },
  4: { underline: true },
  7: { inverse: true },
  9: { strike: true },
  22: { bold: false, faint: false },
  23: { italic: false },
  24: { underline: false },
  27: { inverse: false },
  29: { strike: false },
  39: { colour: '' },
  49: { ground: '' },
};

const applyCodes = (style: Style, text: string): void => {
  const codes = text.split(/[;:]/).map(Number);
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0;
    if (code === 38 || code === 48) {
      const { colour, used } = extended(codes.slice(at + 1));
      style[code === 38 ? 'colour' : 'ground'] = colour;
      at += used;
    } else Object.assign(style, CODES[code] ?? named(code));
  }
};

const named = (code: number): Partial<Style> => {
  const name = COLOURS[code % 10];
  if (name === undefined) return {};
  if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) return { colour: name };
  if ((code >= 40 && code <= 47) || (code >= 100 && code <= 107)) return { ground: name };
  return {};
};

/** `5;n` and `2;r;g;b`, brought to the colours that the page has in both themes. */
const extended = ([mode, first = 0, second = 0, third = 0]: readonly number[]): { colour: string; used: number } => {
  if (mode === 5) return { colour: first < 16 ? (COLOURS[first % 8] ?? '') : nearest(...indexed(first)), used: 2 };
  if (mode === 2) return { colour: nearest(first, second, third), used: 4 };
  return { colour: '', used: 0 };
};

/** The cube of 6 × 6 × 6 and the greys behind it. */
const indexed = (index: number): [number, number, number] => {
  if (index >= 232) return [128, 128, 128];
  const cube = index - 16;
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
};

/** By hue: lightness belongs to the theme. Greys are left in the text's own colour. */
const nearest = (red: number, green: number, blue: number): string => {
  const high = Math.max(red, green, blue);
  if (high - Math.min(red, green, blue) < 40) return '';
  const middle = high / 1.6;
  return COLOURS[(red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0)] ?? '';
};
