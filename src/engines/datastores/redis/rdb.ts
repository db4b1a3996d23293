import { BerthError } from '#kernel/errors';

/**
 * Reads past an RDB file as it comes, only to count its keys and to know where it ends: totals are nowhere in the format, and
 * only the size of each database is (`RESIZEDB`), before the keys of that database.
 * https://rdb.fnordig.de/file_format.html, and `rdb.h` and `rdb.c` of Valkey for types since then (RDB version 11: 7.2 and 8).
 */
export class RdbCounter {
  /** Keys so far, expired ones that are still there included. */
  keys = 0;
  /** Keys that the file says each database has, added up. */
  announced = 0;
  /** Whether the end of the file was passed. */
  done = false;
  private chunk: Uint8Array = new Uint8Array(0);
  private at = 0;
  private readonly steps = this.file();

  /** Reads a chunk; returns how many bytes of it belong to the file: all, but for the one in which it ends. */
  push(chunk: Uint8Array): number {
    if (this.done) return 0;
    this.chunk = chunk;
    this.at = 0;
    this.steps.next();
    return this.at;
  }

  private *file(): Generator<void, void, void> {
    yield* this.header();
    for (;;) {
      const code = this.next() ?? (yield* this.byte());
      if (code === EOF) break;
      if (code === STRING && this.skipsStrings(2)) this.keys += 1;
      else yield* this.entry(code);
    }
    yield* this.skip(CHECKSUM_BYTES);
    this.done = true;
  }

  /** `REDIS` and four digits of a version. */
  private *header(): Generator<void, void, void> {
    let text = '';
    for (let i = 0; i < HEADER_BYTES; i += 1) text += String.fromCharCode(yield* this.byte());
    const version = /^REDIS(\d{4})$/.exec(text)?.[1];
    if (version === undefined) throw unreadable('it does not begin as an RDB file does');
    if (Number(version) < OLDEST || Number(version) > NEWEST) throw unreadable(`its version is ${version}`);
  }

  private *entry(code: number): Generator<void, void, void> {
    switch (code) {
      case AUX:
        return yield* this.strings(2);
      case FUNCTION:
        return yield* this.strings(1);
      case SELECT_DB:
      case IDLE:
        return void (yield* this.length());
      case RESIZE_DB:
        this.announced += yield* this.length();
        return void (yield* this.length());
      case EXPIRE_MS:
        return yield* this.skip(8);
      case EXPIRE_SECONDS:
        return yield* this.skip(4);
      case FREQUENCY:
        return yield* this.skip(1);
      default:
        this.keys += 1;
        yield* this.strings(1);
        return yield* this.value(code);
    }
  }

  private *value(type: number): Generator<void, void, void> {
    const parts = COLLECTIONS.get(type);
    if (WHOLE_STRINGS.has(type)) yield* this.strings(1);
    else if (STREAMS.has(type)) yield* this.stream(type);
    else if (parts === undefined) throw unreadable(`it has a value of the unknown type ${type}`);
    else yield* this.collection(parts);
  }

  private *collection(parts: readonly Part[]): Generator<void, void, void> {
    for (let left = yield* this.length(); left > 0; left -= 1) {
      for (const part of parts) {
        if (part === 'string') yield* this.strings(1);
        else if (part === 'binary double') yield* this.skip(8);
        else if (part === 'length') yield* this.length();
        else yield* this.textDouble();
      }
    }
  }

  /** Its length and its digits; lengths from 253 stand for not-a-number and the infinities. */
  private *textDouble(): Generator<void, void, void> {
    const size = yield* this.byte();
    yield* this.skip(size < 253 ? size : 0);
  }

  private *stream(type: number): Generator<void, void, void> {
    const nodes = yield* this.length();
    yield* this.strings(2 * nodes);
    // Its length and last id; since version 2 the first id, the largest deleted one and the number of entries ever added.
    yield* this.lengths(type === STREAM ? 3 : 8);
    const groups = yield* this.length();
    for (let group = 0; group < groups; group += 1) {
      yield* this.strings(1);
      yield* this.lengths(type === STREAM ? 2 : 3);
      const pending = yield* this.length();
      for (let i = 0; i < pending; i += 1) {
        yield* this.skip(STREAM_ID_BYTES + 8);
        yield* this.length();
      }
      const consumers = yield* this.length();
      for (let consumer = 0; consumer < consumers; consumer += 1) {
        yield* this.strings(1);
        yield* this.skip(type === STREAM_3 ? 16 : 8);
        yield* this.skip(STREAM_ID_BYTES * (yield* this.length()));
      }
    }
  }

  private *lengths(count: number): Generator<void, void, void> {
    for (let i = 0; i < count; i += 1) yield* this.length();
  }

  private *length(): Generator<void, number, void> {
    const first = yield* this.byte();
    if (first >> 6 === 3) throw unreadable('a length is no number');
    return yield* this.lengthAfter(first);
  }

  private *strings(count: number): Generator<void, void, void> {
    for (let i = 0; i < count; i += 1) {
      if (this.skipsStrings(1)) continue;
      const first = yield* this.byte();
      switch (first) {
        case INT8:
          yield* this.skip(1);
          break;
        case INT16:
          yield* this.skip(2);
          break;
        case INT32:
          yield* this.skip(4);
          break;
        case LZF: {
          const compressed = yield* this.length();
          yield* this.length();
          yield* this.skip(compressed);
          break;
        }
        default:
          if (first >> 6 === 3) throw unreadable(`a string is encoded as ${first}`);
          yield* this.skip(yield* this.lengthAfter(first));
      }
    }
  }

  /** 6 bits, 14 bits, or 32 or 64 bits big-endian after the first byte. */
  private *lengthAfter(first: number): Generator<void, number, void> {
    const kind = first >> 6;
    if (kind === 0) return first;
    if (kind === 1) return ((first & 0x3f) << 8) | (yield* this.byte());
    if (first !== LENGTH_32 && first !== LENGTH_64) throw unreadable(`a length begins with ${first}`);
    let value = 0;
    for (let i = first === LENGTH_32 ? 4 : 8; i > 0; i -= 1) value = value * 256 + (yield* this.byte());
    return value;
  }

  /**
   * Skips strings that are short, plain and wholly in this chunk, as nearly all are, or nothing: a generator for each would
   * take longer than the server takes to write them.
   */
  private skipsStrings(count: number): boolean {
    let at = this.at;
    for (let i = 0; i < count; i += 1) {
      const first = this.chunk[at];
      if (first === undefined || first >> 6 > 1) return false;
      at += first >> 6 === 0 ? 1 + first : 2 + (((first & 0x3f) << 8) | (this.chunk[at + 1] ?? 0));
    }
    if (at > this.chunk.length) return false;
    this.at = at;
    return true;
  }

  private next(): number | undefined {
    const byte = this.chunk[this.at];
    if (byte !== undefined) this.at += 1;
    return byte;
  }

  private *byte(): Generator<void, number, void> {
    while (this.at >= this.chunk.length) yield;
    const byte = this.chunk[this.at] ?? 0;
    this.at += 1;
    return byte;
  }

  private *skip(count: number): Generator<void, void, void> {
    let left = count;
    while (left > this.chunk.length - this.at) {
      left -= this.chunk.length - this.at;
      this.at = this.chunk.length;
      yield;
    }
    this.at += left;
  }
}

const HEADER_BYTES = 9;
const CHECKSUM_BYTES = 8;
const STREAM_ID_BYTES = 16;
/** The checksum at the end came with 5; 11 is that of Valkey 7.2 and 8. */
const OLDEST = 5;
const NEWEST = 11;

const STRING = 0;
const FUNCTION = 245;
const IDLE = 248;
const FREQUENCY = 249;
const AUX = 250;
const RESIZE_DB = 251;
const EXPIRE_MS = 252;
const EXPIRE_SECONDS = 253;
const SELECT_DB = 254;
const EOF = 255;

type Part = 'string' | 'length' | 'binary double' | 'text double';

/** What each element of a collection is made of, by type. */
const COLLECTIONS = new Map<number, readonly Part[]>([
  [1, ['string']],
  [2, ['string']],
  [3, ['string', 'text double']],
  [4, ['string', 'string']],
  [5, ['string', 'binary double']],
  [14, ['string']],
  [18, ['length', 'string']],
]);
const STREAM = 15;
const STREAM_3 = 21;
const STREAMS = new Set([STREAM, 19, STREAM_3]);
/** A string, and the compact forms of small collections, which are written as one: zipmap, ziplists, intset, listpacks. */
const WHOLE_STRINGS = new Set([STRING, 9, 10, 11, 12, 13, 16, 17, 20]);

const INT8 = 0xc0;
const INT16 = 0xc1;
const INT32 = 0xc2;
const LZF = 0xc3;
const LENGTH_32 = 0x80;
const LENGTH_64 = 0x81;

const unreadable = (why: string): BerthError =>
  new BerthError('INTERNAL_ERROR', `the dump can't be understood: ${why}`, {
    hint: 'the file is damaged: use another backup, and back the datastore up again; if it persists, report it',
  });
