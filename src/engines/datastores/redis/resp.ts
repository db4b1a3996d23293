import { invalidInput } from '#kernel/errors';

/**
 * RESP2 and RESP3, the protocol of Redis and Valkey, as far as replies to single commands need it.
 * https://redis.io/docs/latest/develop/reference/protocol-spec/ and https://valkey.io/topics/protocol/
 */
export type Reply =
  | { kind: 'null' }
  | { kind: 'status'; text: string }
  | { kind: 'error'; message: string }
  | { kind: 'integer'; value: bigint }
  | { kind: 'double'; text: string }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'bytes'; bytes: Buffer }
  | { kind: 'list'; items: Reply[] }
  | { kind: 'map'; pairs: [Reply, Reply][] };

export interface ReplyLimits {
  /** Elements of the outermost list, or pairs of the outermost map. */
  maxItems: number;
  /** Of what is read. A small element counts as `ELEMENT_COST`, which is what it takes in memory at least. */
  maxBytes: number;
}

export interface Answer {
  reply: Reply;
  /** The reply was larger than the limits. What follows on the connection is the rest of it: only closing it is left. */
  truncated: boolean;
}

export const NO_LIMITS: ReplyLimits = { maxItems: Infinity, maxBytes: Infinity };

const ELEMENT_COST = 32;
/** Status and error lines, and lengths. */
const MAX_LINE = 64 * 1024;
/** Scripts can nest replies as deep as their stack; JSON of such a depth helps nobody. */
const MAX_DEPTH = 32;
const CR = 13;
const LF = 10;
const NULL: Reply = { kind: 'null' };

/** A command as an array of bulk strings, the only form in which requests may carry any byte. */
export const encodeCommand = (args: readonly (string | Buffer)[]): Buffer => {
  const parts: Buffer[] = [Buffer.from(`*${args.length}\r\n`)];
  for (const arg of args) {
    const bytes = typeof arg === 'string' ? Buffer.from(arg) : arg;
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, CRLF);
  }
  return Buffer.concat(parts);
};

const CRLF = Buffer.from('\r\n');

/** What answers does not speak the protocol. */
export class ProtocolError extends Error {
  override name = 'ProtocolError';
}

/** The other end closed in mid-reply. */
export class ConnectionClosed extends Error {
  override name = 'ConnectionClosed';
  constructor() {
    super('the connection was closed');
  }
}

/** Thrown where a limit is met; whatever was complete by then is the reply. */
class LimitMet extends Error {
  readonly part: Reply | undefined;
  constructor(part?: Reply) {
    super('the reply is larger than the limits');
    this.part = part;
  }
}

/** Reads replies from a stream of chunks, and never asks for a chunk that the limits do not allow. */
export class ReplyReader {
  private readonly source: AsyncIterator<Buffer>;
  private chunk: Buffer = Buffer.alloc(0);
  private at = 0;
  private budget = 0;

  constructor(source: AsyncIterator<Buffer>) {
    this.source = source;
  }

  async read(limits: ReplyLimits = NO_LIMITS): Promise<Answer> {
    this.budget = limits.maxBytes;
    const outer: Reply[] = [];
    try {
      return { reply: await this.value(0, { outer, maxItems: limits.maxItems }), truncated: false };
    } catch (error) {
      if (!(error instanceof LimitMet)) throw error;
      return { reply: error.part ?? { kind: 'list', items: outer }, truncated: true };
    }
  }

  /** The next chunk as it is, for what follows a command that is no reply (`SYNC`); undefined at the end. */
  async rest(): Promise<Buffer | undefined> {
    if (this.at < this.chunk.length) {
      const rest = this.chunk.subarray(this.at);
      this.at = this.chunk.length;
      return rest;
    }
    const { value, done } = await this.source.next();
    return done === true ? undefined : value;
  }

  async line(): Promise<string> {
    let text = '';
    for (;;) {
      if (this.at === this.chunk.length) await this.more();
      const end = this.chunk.indexOf(LF, this.at);
      const stop = end === -1 ? this.chunk.length : end;
      text += this.chunk.toString('latin1', this.at, stop);
      this.at = end === -1 ? stop : stop + 1;
      if (text.length > MAX_LINE) throw new ProtocolError('a line is too long');
      if (end !== -1) return text.endsWith('\r') ? text.slice(0, -1) : text;
    }
  }

  private async more(): Promise<void> {
    const { value, done } = await this.source.next();
    if (done === true) throw new ConnectionClosed();
    this.chunk = value;
    this.at = 0;
  }

  private async value(depth: number, top?: { outer: Reply[]; maxItems: number }): Promise<Reply> {
    if (depth > MAX_DEPTH) {
      throw invalidInput(`the reply nests deeper than ${MAX_DEPTH} levels`, 'let the script return something flatter');
    }
    this.spend(ELEMENT_COST);
    const line = await this.line();
    const rest = line.slice(1);
    switch (line.charAt(0)) {
      case '+':
        return { kind: 'status', text: utf8(rest) };
      case '-':
        return { kind: 'error', message: utf8(rest) };
      case ':':
        return { kind: 'integer', value: BigInt(rest) };
      case '(':
        return { kind: 'integer', value: BigInt(rest) };
      case ',':
        return { kind: 'double', text: rest };
      case '#':
        return { kind: 'boolean', value: rest === 't' };
      case '_':
        return NULL;
      case '$':
        return await this.bulk(rest, depth);
      case '!':
        return { kind: 'error', message: textOf(await this.bulk(rest, depth)) };
      case '=':
        return withoutFormat(await this.bulk(rest, depth));
      case '*':
      case '~':
        return await this.list(rest, depth, top);
      case '%':
        return await this.map(rest, depth, top);
      case '>':
        // Nothing that berth sends asks for pushes: one that comes is not the answer.
        await this.list(rest, depth);
        return await this.value(depth, top);
      case '|':
        await this.map(rest, depth);
        return await this.value(depth, top);
      default:
        throw new ProtocolError(`a reply begins with ${JSON.stringify(line.slice(0, 1))}`);
    }
  }

  private async bulk(length: string, depth: number): Promise<Reply> {
    const size = lengthOf(length);
    if (size < 0) return NULL;
    if (size > this.budget) {
      // A value alone is worth showing in part; inside of a list it would pass for a whole one.
      throw new LimitMet(
        depth === 0 ? { kind: 'bytes', bytes: await this.bytes(Math.max(0, this.budget)) } : undefined,
      );
    }
    this.spend(size);
    const bytes = await this.bytes(size);
    const end = await this.bytes(2);
    if (end[0] !== CR || end[1] !== LF) throw new ProtocolError('a bulk string does not end where it should');
    return { kind: 'bytes', bytes };
  }

  private async list(length: string, depth: number, top?: { outer: Reply[]; maxItems: number }): Promise<Reply> {
    const size = lengthOf(length);
    if (size < 0) return NULL;
    const items = top?.outer ?? [];
    for (let i = 0; i < size; i += 1) {
      if (top !== undefined && i >= top.maxItems) throw new LimitMet();
      items.push(await this.value(depth + 1));
    }
    return { kind: 'list', items };
  }

  private async map(length: string, depth: number, top?: { maxItems: number }): Promise<Reply> {
    const size = lengthOf(length);
    if (size < 0) return NULL;
    const pairs: [Reply, Reply][] = [];
    try {
      for (let i = 0; i < size; i += 1) {
        if (top !== undefined && i >= top.maxItems) throw new LimitMet();
        pairs.push([await this.value(depth + 1), await this.value(depth + 1)]);
      }
    } catch (error) {
      throw top !== undefined && error instanceof LimitMet ? new LimitMet({ kind: 'map', pairs }) : error;
    }
    return { kind: 'map', pairs };
  }

  /** A copy: a part of a chunk would keep the whole of it in memory. */
  private async bytes(size: number): Promise<Buffer> {
    const result = Buffer.allocUnsafe(size);
    let filled = 0;
    while (filled < size) {
      if (this.at === this.chunk.length) await this.more();
      const copied = this.chunk.copy(result, filled, this.at);
      filled += copied;
      this.at += copied;
    }
    return result;
  }

  private spend(bytes: number): void {
    this.budget -= bytes;
    if (this.budget < 0) throw new LimitMet();
  }
}

/** Lines are read byte by byte as Latin-1. */
const utf8 = (line: string): string => Buffer.from(line, 'latin1').toString();

const lengthOf = (text: string): number => {
  const length = Number(text);
  if (!Number.isSafeInteger(length) || length < -1) throw new ProtocolError(`a length is ${JSON.stringify(text)}`);
  return length;
};

/** Verbatim strings say their format in three letters and a colon. */
const withoutFormat = (reply: Reply): Reply =>
  reply.kind === 'bytes' ? { kind: 'bytes', bytes: reply.bytes.subarray(4) } : reply;

/** The text of a reply that is one value; empty for others. */
export const textOf = (reply: Reply | undefined): string => {
  if (reply === undefined) return '';
  if ('text' in reply) return reply.text;
  if ('message' in reply) return reply.message;
  if ('bytes' in reply) return reply.bytes.toString();
  return reply.kind === 'integer' ? String(reply.value) : '';
};

export const itemsOf = (reply: Reply | undefined): Reply[] => (reply?.kind === 'list' ? reply.items : []);
