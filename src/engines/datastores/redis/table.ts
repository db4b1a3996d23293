import type { Cell, Column } from '../port.ts';
import { parseInfo } from './link.ts';
import { itemsOf, type Reply, textOf } from './resp.ts';

export interface Table {
  columns: Column[];
  rows: Cell[][];
}

/** Columns by name, with the replies that stand in them. */
interface Grid {
  names: string[];
  rows: Reply[][];
}

/** A reply as a table: one value is a cell, a list gives a row an element, a map one a field. */
export const tableOf = (command: string, reply: Reply): Table => render((SHAPES[command] ?? plain)(reply));

const plain = (reply: Reply): Grid => {
  if (reply.kind === 'map') return { names: ['field', 'value'], rows: reply.pairs };
  if (reply.kind === 'list') return { names: ['value'], rows: reply.items.map((item) => [item]) };
  return { names: ['value'], rows: [[reply]] };
};

/** Lists whose elements are lists of this length; anything else as it is. */
const tuples =
  (...names: string[]) =>
  (reply: Reply): Grid => {
    const rows = itemsOf(reply).map(itemsOf);
    const fits = reply.kind === 'list' && rows.every((row) => row.length === names.length);
    return fits && rows.length > 0 ? { names, rows } : plain(reply);
  };

/** Cursor and elements: the cursor is repeated, because an empty page has one too. */
const page =
  (name: string) =>
  (reply: Reply): Grid => {
    const [cursor, elements] = itemsOf(reply);
    if (cursor === undefined || elements?.kind !== 'list') return plain(reply);
    const rows = elements.items.map((element) => [cursor, element]);
    return { names: ['cursor', name], rows: rows.length > 0 ? rows : [[cursor, { kind: 'null' }]] };
  };

/** A page whose elements alternate: field, value, field, value. */
const pairPage =
  (...names: [string, string]) =>
  (reply: Reply): Grid => {
    const [cursor, elements] = itemsOf(reply);
    if (cursor === undefined || elements?.kind !== 'list' || elements.items.length % 2 === 1) return plain(reply);
    const rows: Reply[][] = pairsOf(elements.items).map((pair) => [cursor, ...pair]);
    return { names: ['cursor', ...names], rows: rows.length > 0 ? rows : [[cursor, NULL, NULL]] };
  };

/** Entries of a stream: their fields are a flat list, also in RESP3. */
const entries = (reply: Reply): Grid => {
  const grid = tuples('id', 'fields')(reply);
  return { ...grid, rows: grid.rows.map((row) => row.map(fieldsOf)) };
};

const byStream = (reply: Reply): Grid => {
  if (reply.kind !== 'map') return plain(reply);
  const rows = reply.pairs.flatMap(([stream, found]) => entries(found).rows.map((row) => [stream, ...row]));
  return { names: ['stream', 'id', 'fields'], rows };
};

const fieldsOf = (reply: Reply): Reply =>
  reply.kind === 'list' && reply.items.length % 2 === 0 ? { kind: 'map', pairs: pairsOf(reply.items) } : reply;

const pairsOf = (items: readonly Reply[]): [Reply, Reply][] =>
  items.flatMap((item, i): [Reply, Reply][] => (i % 2 === 0 ? [[item, items[i + 1] ?? NULL]] : []));

const info = (reply: Reply): Grid => ({
  names: ['field', 'value'],
  rows: Array.from(parseInfo(textOf(reply)), (pair) => pair.map((text): Reply => ({ kind: 'status', text }))),
});

const NULL: Reply = { kind: 'null' };

const scored = tuples('member', 'score');
const SHAPES: Record<string, (reply: Reply) => Grid> = {
  ...Object.fromEntries(
    ['ZRANGE', 'ZREVRANGE', 'ZRANGEBYSCORE', 'ZREVRANGEBYSCORE', 'ZUNION', 'ZINTER', 'ZDIFF', 'ZRANDMEMBER']
      .concat('ZPOPMIN', 'ZPOPMAX')
      .map((command) => [command, scored]),
  ),
  HRANDFIELD: tuples('field', 'value'),
  SCAN: page('key'),
  SSCAN: page('value'),
  HSCAN: pairPage('field', 'value'),
  ZSCAN: pairPage('member', 'score'),
  XRANGE: entries,
  XREVRANGE: entries,
  XREAD: byStream,
  XREADGROUP: byStream,
  INFO: info,
};

const render = ({ names, rows }: Grid): Table => {
  const columns = names.map((name, i) => ({ name, type: typeOf(rows.map((row) => row[i] ?? NULL)) }));
  const binary = columns.map(({ type }) => type === 'bytes');
  return { columns, rows: rows.map((row) => row.map((reply, i) => cellOf(reply, binary[i] === true))) };
};

/** One name for all values of a column; nulls have any. */
const typeOf = (replies: readonly Reply[]): string => {
  const types = new Set(replies.filter(({ kind }) => kind !== 'null').map(nameOf));
  if (types.has('bytes') && [...types].every((type) => type === 'bytes' || type === 'string')) return 'bytes';
  if (types.size > 1) return 'json';
  return [...types][0] ?? 'null';
};

const nameOf = (reply: Reply): string => {
  if (reply.kind === 'bytes') return isText(reply.bytes) ? 'string' : 'bytes';
  if (reply.kind === 'list' || reply.kind === 'map') return 'json';
  return reply.kind === 'status' ? 'string' : reply.kind;
};

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const isText = (bytes: Buffer): boolean => {
  try {
    UTF8.decode(bytes);
    return true;
  } catch {
    // The one thing that it throws for is that it is no UTF-8.
    return false;
  }
};

/** `binary`: the column is base64 throughout, so that no value's meaning depends on another's. */
const cellOf = (reply: Reply, binary = false): Cell => {
  if (reply.kind === 'null') return null;
  if (reply.kind === 'boolean') return reply.value;
  if (reply.kind === 'integer') return integerOf(reply.value);
  if (reply.kind === 'double') return doubleOf(reply.text);
  if (reply.kind === 'error') return { error: reply.message };
  if (reply.kind === 'list') return reply.items.map((item) => cellOf(item));
  if (reply.kind === 'map') {
    return Object.fromEntries(reply.pairs.map(([key, value]) => [keyOf(key), cellOf(value)]));
  }
  const bytes = reply.kind === 'status' ? Buffer.from(reply.text) : reply.bytes;
  if (binary) return bytes.toString('base64');
  return isText(bytes) ? bytes.toString() : { base64: bytes.toString('base64') };
};

const keyOf = (reply: Reply): string => {
  const key = cellOf(reply);
  return typeof key === 'string' ? key : JSON.stringify(key);
};

const integerOf = (value: bigint): Cell => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
};

/** JSON has no infinities. */
const doubleOf = (text: string): Cell => {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
};
