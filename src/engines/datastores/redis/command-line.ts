import { invalidInput } from '#kernel/errors';

const BACKSLASH = 0x5c;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const LINE_FEED = 0x0a;
/** What C's isspace knows. */
const SPACES = new Set([0x20, 0x09, LINE_FEED, 0x0b, 0x0c, 0x0d]);
const ESCAPES: Record<string, number> = { n: 10, r: 13, t: 9, b: 8, a: 7 };

/**
 * Takes a command line apart as redis-cli does (`sdssplitargs` of its source): words, "double quotes" with `\n \r \t \b \a
 * \xHH` and `\"`, 'single quotes' with `\'`. The result is bytes, because `\xff` is one.
 */
export const splitCommandLine = (line: string): Buffer[] => {
  const bytes = Buffer.from(line);
  const words: Buffer[] = [];
  let at = skipSpaces(bytes, 0);
  while (at < bytes.length) {
    const { word, end } = readWord(bytes, at);
    words.push(word);
    at = skipSpaces(bytes, end);
    if (at < bytes.length && bytes.subarray(end, at).includes(LINE_FEED)) {
      throw invalidInput(
        'the query has more than one line',
        'send one command at a time; quote a value with line breaks',
      );
    }
  }
  if (words.length === 0) throw invalidInput('the query is empty', 'send one command, such as: GET key');
  return words;
};

const skipSpaces = (bytes: Buffer, from: number): number => {
  let at = from;
  while (SPACES.has(bytes[at] ?? 0)) at += 1;
  return at;
};

const readWord = (bytes: Buffer, from: number): { word: Buffer; end: number } => {
  const word: number[] = [];
  let at = from;
  while (at < bytes.length && !SPACES.has(bytes[at] ?? 0)) {
    const byte = bytes[at] ?? 0;
    if (byte !== QUOTE && byte !== APOSTROPHE) {
      word.push(byte);
      at += 1;
      continue;
    }
    at = readQuoted(bytes, at, word);
    if (at < bytes.length && !SPACES.has(bytes[at] ?? 0)) throw unbalanced('a closing quote is followed by no space');
  }
  return { word: Buffer.from(word), end: at };
};

/** Appends what is between the quotes at `from`, and returns the place after the closing one. */
const readQuoted = (bytes: Buffer, from: number, word: number[]): number => {
  const quote = bytes[from];
  let at = from + 1;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === quote) return at + 1;
    if (byte !== BACKSLASH || at + 1 === bytes.length) {
      word.push(byte);
      at += 1;
    } else if (quote === QUOTE) {
      at = readEscape(bytes, at, word);
    } else {
      const escaped = bytes[at + 1] === APOSTROPHE;
      word.push(escaped ? APOSTROPHE : BACKSLASH);
      at += escaped ? 2 : 1;
    }
  }
  throw unbalanced('a quote is not closed');
};

const readEscape = (bytes: Buffer, at: number, word: number[]): number => {
  const hex = /^x([0-9a-f]{2})/i.exec(bytes.toString('latin1', at + 1, at + 4))?.[1];
  if (hex !== undefined) {
    word.push(Number.parseInt(hex, 16));
    return at + 4;
  }
  const next = bytes[at + 1] ?? BACKSLASH;
  word.push(ESCAPES[String.fromCharCode(next)] ?? next);
  return at + 2;
};

const unbalanced = (message: string): Error =>
  invalidInput(
    `the query can't be taken apart: ${message}`,
    'quote as redis-cli does: SET greeting "hello \\"world\\"", or send values as params',
  );

/** How redis-cli writes a byte string that is no text: it can be pasted into a command line again. */
export const quoteBytes = (bytes: Buffer): string => {
  let text = '';
  for (const byte of bytes) {
    if (byte === QUOTE || byte === BACKSLASH) text += `\\${String.fromCharCode(byte)}`;
    else if (byte >= 0x20 && byte < 0x7f) text += String.fromCharCode(byte);
    else text += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return `"${text}"`;
};
