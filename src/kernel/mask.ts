import { withoutColours } from './terminal.ts';

/** Replaces known secret values in text that berth stores or shows. */
export interface Masker {
  readonly mask: (text: string) => string;
  /** Length of the longest end of `text` that may be the beginning of a secret. */
  readonly openEnd: (text: string) => number;
}

export const MASK = '[secret]';

/** Shorter needles would hit ordinary text. */
const SHORTEST = 6;
const KEY = 4;
const FILTER_BITS = 16;

/**
 * Compiles secrets into a masker. Each is looked for as it is, JSON-escaped, URL-encoded and base64-encoded (at any
 * offset inside a longer base64 text, both alphabets); one of several lines also line by line.
 */
export const createMasker = (secrets: Iterable<string>): Masker => {
  const needles = [...new Set([...secrets].flatMap(formsOf))].filter((form) => form.length >= SHORTEST);
  if (needles.length === 0) return { mask: (text) => text, openEnd: () => 0 };
  needles.sort((a, b) => b.length - a.length);
  const index = indexOf(needles);
  return { mask: (text) => maskWith(index, text), openEnd: (text) => openEnd(needles, text) };
};

interface Index {
  /** One bit a slot: whether any needle begins with characters of that hash. Keeps the scan at a few ns a character. */
  filter: Uint8Array;
  byHash: Map<number, string[]>;
}

const indexOf = (needles: readonly string[]): Index => {
  const index: Index = { filter: new Uint8Array(1 << FILTER_BITS), byHash: new Map() };
  for (const needle of needles) {
    let hash = 0;
    for (let i = 0; i < KEY; i += 1) hash = roll(hash, needle.charCodeAt(i));
    index.filter[slot(hash)] = 1;
    const list = index.byHash.get(hash);
    if (list === undefined) index.byHash.set(hash, [needle]);
    else list.push(needle);
  }
  return index;
};

/** The hash depends on the last four characters only, since older ones are shifted out. */
const roll = (hash: number, code: number): number => (hash << 8) ^ code;
const slot = (hash: number): number => Math.imul(hash, 0x9e3779b1) >>> (32 - FILTER_BITS);

const maskWith = (index: Index, text: string): string => {
  let out = '';
  let copied = 0;
  let hash = 0;
  let seen = 0;
  for (let i = 0; i < text.length; i += 1) {
    hash = roll(hash, text.charCodeAt(i));
    seen += 1;
    if (seen < KEY || index.filter[slot(hash)] === 0) continue;
    const start = i - KEY + 1;
    const found = index.byHash.get(hash)?.find((needle) => text.startsWith(needle, start));
    if (found === undefined) continue;
    out += text.slice(copied, start) + MASK;
    copied = start + found.length;
    i = copied - 1;
    hash = 0;
    seen = 0;
  }
  return copied === 0 ? text : out + text.slice(copied);
};

const openEnd = (needles: readonly string[], text: string): number => {
  let longest = 0;
  for (const needle of needles) {
    for (let length = Math.min(needle.length - 1, text.length); length > longest; length -= 1) {
      if (text.endsWith(needle.slice(0, length))) longest = length;
    }
  }
  return longest;
};

const formsOf = (secret: string): string[] => {
  const lines = secret.split(/\r?\n/).map((line) => line.trim());
  const whole = [
    secret,
    secret.trim(),
    JSON.stringify(secret).slice(1, -1),
    ...urlForms(secret),
    ...base64Forms(secret),
  ];
  if (lines.length === 1) return whole;
  // The armour of PEM files is no secret, and would hide which file a message is about.
  return [...whole, ...lines.filter((line) => !/^-----(?:BEGIN|END) /.test(line))];
};

const urlForms = (secret: string): string[] => {
  const encoded = encodeURIComponent(secret.toWellFormed());
  return [encoded, encoded.replaceAll('%20', '+'), encoded.replaceAll(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())];
};

/** The characters of base64 that depend on the secret alone, for each of the three offsets it can have. */
const base64Forms = (secret: string): string[] => {
  const bytes = Buffer.from(secret, 'utf8');
  return [0, 1, 2].flatMap((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const inner = text.slice(Math.ceil((8 * offset) / 6), Math.floor((8 * (offset + bytes.length)) / 6));
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
};

/** The engine cuts longer lines here, and drops the rest. */
const CUT_BYTES = 16 * 1024;

/** Masks one line; where the engine cut a long one, the beginning of a secret at its end goes too. */
export const maskLine = (masker: Masker, line: string): string => {
  const masked = masker.mask(line);
  if (!isCut(line)) return masked;
  const open = masker.openEnd(masked);
  return open < KEY ? masked : masked.slice(0, masked.length - open) + MASK;
};

/** Masks a line that may have colours: where they stand inside of a secret, the line loses them all. */
export const maskColoured = (masker: Masker, line: string): string => {
  const plain = withoutColours(line);
  const masked = maskLine(masker, plain);
  if (plain === line) return masked;
  const coloured = masker.mask(line);
  return withoutColours(coloured) === masked ? coloured : masked;
};

const isCut = (line: string): boolean => line.length >= CUT_BYTES / 4 && Buffer.byteLength(line) >= CUT_BYTES - 4;
