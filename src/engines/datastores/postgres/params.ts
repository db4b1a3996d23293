import { invalidInput } from '#kernel/errors';
import type { Cell } from '../port.ts';
import { OID } from './cells.ts';

/** Dimensions that an array of Postgres may have. */
const MAX_DIMENSIONS = 6;
/** What an object or a list becomes JSON text for; for any other type a list is an array of Postgres. */
const TAKES_JSON = new Set<number>([OID.json, OID.jsonb, OID.text, OID.varchar, OID.bpchar, OID.name, OID.unknown]);

/**
 * Bind parameters as the text that Postgres reads for the types that the statement gives them: numbers and booleans as they
 * are written, objects as JSON, lists as JSON where the type is json or text and else as an array, `bytea` from base64 (as
 * results show it) or `\x…`, everything else as its text. Wrong ones are INVALID_INPUT.
 */
export const encodeParams = (params: readonly Cell[], oids: readonly number[]): (string | null)[] => {
  if (params.length !== oids.length) {
    throw invalidInput(
      `the statement takes ${oids.length} parameters, but ${params.length} were given`,
      'send one value in params for each of $1, $2 … in the statement',
    );
  }
  return params.map((value, index) => {
    const text = encode(value, oids[index] ?? OID.unknown, index);
    if (text?.includes('\0')) {
      throw invalidInput(
        `$${index + 1} holds a NUL character, which Postgres has no text for`,
        'leave it out, or use bytea',
      );
    }
    if (text !== null && !text.isWellFormed()) {
      throw invalidInput(`$${index + 1} is no valid Unicode text`, 'send well-formed Unicode');
    }
    return text;
  });
};

const encode = (value: Cell, oid: number, index: number): string | null => {
  if (value === null) return null;
  if (typeof value === 'string') return oid === OID.bytea ? bytesOf(value, index) : value;
  if (typeof value !== 'object') return String(value);
  if (!Array.isArray(value) || TAKES_JSON.has(oid)) return JSON.stringify(value);
  return arrayText(value, { oid, index, depth: 1 });
};

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytesOf = (value: string, index: number): string => {
  if (value.startsWith('\\x')) return value;
  if (!BASE64.test(value)) {
    throw invalidInput(`$${index + 1} is a bytea, but not base64`, 'send base64, or hexadecimal digits after \\x');
  }
  return `\\x${Buffer.from(value, 'base64').toString('hex')}`;
};

interface Place {
  oid: number;
  index: number;
  depth: number;
}

const arrayText = (values: readonly Cell[], place: Place): string => {
  if (place.depth > MAX_DIMENSIONS) {
    throw invalidInput(
      `$${place.index + 1} is nested deeper than the ${MAX_DIMENSIONS} dimensions of an array`,
      'cast the parameter to jsonb if it is JSON: $1::jsonb',
    );
  }
  return `{${values.map((value) => elementText(value, place)).join(',')}}`;
};

const elementText = (value: Cell, place: Place): string => {
  if (value === null) return 'NULL';
  if (place.oid === OID.jsonArray || place.oid === OID.jsonbArray) return quoted(JSON.stringify(value));
  if (Array.isArray(value)) return arrayText(value, { ...place, depth: place.depth + 1 });
  if (typeof value === 'object') return quoted(JSON.stringify(value));
  if (typeof value === 'string') return quoted(place.oid === OID.byteaArray ? bytesOf(value, place.index) : value);
  return String(value);
};

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;
