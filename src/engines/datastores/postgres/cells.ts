import type { Cell } from '../port.ts';

/** Type oids of Postgres's catalog (pg_type.dat); they are the same in every version. */
export const OID = {
  bool: 16,
  bytea: 17,
  name: 19,
  int8: 20,
  int2: 21,
  int4: 23,
  text: 25,
  oid: 26,
  json: 114,
  jsonArray: 199,
  float4: 700,
  float8: 701,
  unknown: 705,
  byteaArray: 1001,
  bpchar: 1042,
  varchar: 1043,
  timestamp: 1114,
  timestamptz: 1184,
  jsonb: 3802,
  jsonbArray: 3807,
} as const;

/** What has to be known of an array type to take its text apart. */
export interface ArrayShape {
  /** Oid of the elements' type, the one below domains. */
  element: number;
  /** What stands between elements: a comma, except for `box`. */
  delimiter: string;
}

/**
 * The text in which Postgres shows a value, as JSON. Numbers that JSON cannot hold (NaN, an int8 beyond 2^53, every numeric)
 * stay text; `bytea` becomes base64; timestamps RFC 3339, those with a time zone in UTC; a type unknown here stays text.
 */
export const cellOf = (text: string | null, oid: number, array?: ArrayShape): Cell => {
  if (text === null) return null;
  if (array !== undefined) return arrayOf(text, array);
  switch (oid) {
    case OID.bool:
      return text === 't';
    case OID.int2:
    case OID.int4:
    case OID.oid:
    case OID.int8:
      return integerOf(text);
    case OID.float4:
    case OID.float8:
      return floatOf(text);
    case OID.json:
    case OID.jsonb:
      return jsonOf(text);
    case OID.bytea:
      return text.startsWith('\\x') ? Buffer.from(text.slice(2), 'hex').toString('base64') : text;
    case OID.timestamp:
    case OID.timestamptz:
      return timeOf(text);
    default:
      return text;
  }
};

const integerOf = (text: string): Cell => {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : text;
};

const floatOf = (text: string): Cell => {
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
};

const TIMESTAMP = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:([+-]\d\d)(?::(\d\d))?)?$/;

/** `infinity`, years before Christ and those of five digits have no form in RFC 3339, and stay as they are. */
const timeOf = (text: string): string => {
  const parts = TIMESTAMP.exec(text);
  if (parts === null) return text;
  const [, day = '', time = '', hours, minutes = '00'] = parts;
  if (hours === undefined) return `${day}T${time}`;
  return `${day}T${time}${hours === '+00' && minutes === '00' ? 'Z' : `${hours}:${minutes}`}`;
};

/** Below what JSON.stringify and every client's parser can take. */
const MAX_DEPTH = 500;
/** Only such text can hold a number that a double does not: at least 16 digits, or an exponent. */
const LONG_NUMBER = /\d(?:\.?\d){15}|\d[eE]/;

const jsonOf = (text: string): Cell => {
  if (nestsDeeper(text, MAX_DEPTH)) return text;
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepNumber) : JSON.parse(text);
};

const keepNumber = (_key: string, value: unknown, context?: { source?: string }): unknown => {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  return holds(value, context.source) ? value : context.source;
};

/** Whether a double says the same as the digits that it was read from. */
const holds = (value: number, source: string): boolean => {
  if (!Number.isFinite(value)) return false;
  const significant = (text: string): string =>
    text
      .replace(/[eE].*$/, '')
      .replace(/[-.]/g, '')
      .replace(/^0+/, '')
      .replace(/0+$/, '');
  return significant(source) === significant(String(value));
};

const nestsDeeper = (text: string, most: number): boolean => {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (quoted) {
      if (char === BACKSLASH) at += 1;
      else if (char === QUOTE) quoted = false;
    } else if (char === QUOTE) quoted = true;
    else if (char === BRACE || char === BRACKET) {
      depth += 1;
      if (depth > most) return true;
    } else if (char === BRACE_END || char === BRACKET_END) depth -= 1;
  }
  return false;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;
const BRACE_END = 0x7d;
const BRACKET = 0x5b;
const BRACKET_END = 0x5d;

/**
 * Takes the text of an array apart (https://www.postgresql.org/docs/17/arrays.html#ARRAYS-IO) in time linear in its length;
 * `postgres-array` is quadratic in the number of quoted elements, and knows commas only. Text of another form stays text.
 */
const arrayOf = (text: string, { element, delimiter }: ArrayShape): Cell => {
  const start = text.startsWith('[') ? text.indexOf('=') + 1 : 0;
  if (text.charCodeAt(start) !== BRACE) return text;
  const root: Cell[] = [];
  const open: Cell[][] = [root];
  const plainEnd = new RegExp(`[${delimiter}{}]`, 'g');
  let at = start + 1;
  while (at < text.length) {
    const current = open.at(-1);
    if (current === undefined) return text;
    const char = text.charCodeAt(at);
    if (char === BRACE) {
      const inner: Cell[] = [];
      current.push(inner);
      open.push(inner);
      at += 1;
    } else if (char === BRACE_END) {
      open.pop();
      at += 1;
    } else if (text[at] === delimiter) {
      at += 1;
    } else if (char === QUOTE) {
      const end = closingQuote(text, at + 1);
      const raw = text.slice(at + 1, end);
      current.push(cellOf(raw.includes('\\') ? raw.replace(/\\([^])/g, '$1') : raw, element));
      at = end + 1;
    } else {
      plainEnd.lastIndex = at;
      const end = plainEnd.exec(text)?.index ?? text.length;
      const raw = text.slice(at, end);
      current.push(raw === 'NULL' ? null : cellOf(raw, element));
      at = end;
    }
  }
  return open.length === 0 ? root : text;
};

const closingQuote = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
};
