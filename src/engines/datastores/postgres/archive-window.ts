import { invalidInput } from '#kernel/errors';

/** No entry of a table of contents is near it; a made-up length is noticed by it. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;

/** Thrown by a reader that needs bytes which are not there yet. */
class Short extends Error {
  readonly missing: number;

  constructor(missing: number) {
    super('the bytes end here');
    this.missing = missing;
  }
}

/** Reads what tables of contents are made of. */
export class Reader {
  intSize = 4;
  at: number;
  readonly #buffer: Buffer;

  constructor(buffer: Buffer, at: number) {
    this.#buffer = buffer;
    this.at = at;
  }

  bytes(length: number): Buffer {
    if (length > MAX_ENTRY_BYTES) throw notAnArchive('its table of contents is damaged');
    const missing = this.at + length - this.#buffer.length;
    if (missing > 0) throw new Short(missing);
    this.at += length;
    return this.#buffer.subarray(this.at - length, this.at);
  }

  /** A byte for the sign, then the lowest byte first. */
  int(): number {
    const [sign = 0, ...digits] = this.bytes(1 + this.intSize);
    const value = digits.reduceRight((sum, digit) => sum * 256 + digit, 0);
    return sign === 0 ? value : -value;
  }

  /** Undefined for a length of -1, which stands for no string. */
  string(): Buffer | undefined {
    const length = this.int();
    return length < 0 ? undefined : this.bytes(length);
  }

  ints(count: number): void {
    for (let field = 0; field < count; field += 1) this.int();
  }

  strings(count: number): void {
    for (let field = 0; field < count; field += 1) this.string();
  }
}

/** The bytes of an archive that were read and not yet passed on. */
export class Window {
  #buffer = Buffer.alloc(0);
  /** Up to here they have been looked at. */
  #ready = 0;
  readonly #pull: () => Promise<Uint8Array | undefined>;

  constructor(pull: () => Promise<Uint8Array | undefined>) {
    this.#pull = pull;
  }

  get readyBytes(): number {
    return this.#ready;
  }

  /** Reads one thing whole, with as many more chunks as it takes; undefined when the bytes end before. */
  async take<T>(read: (reader: Reader) => T): Promise<T | undefined> {
    for (;;) {
      const reader = new Reader(this.#buffer, this.#ready);
      try {
        const value = read(reader);
        this.#ready = reader.at;
        return value;
      } catch (thrown) {
        if (!(thrown instanceof Short)) throw thrown;
        if (!(await this.#grow(thrown.missing))) return undefined;
      }
    }
  }

  /** Of what has been looked at. */
  replace({ from, to }: { from: number; to: number }, bytes: Uint8Array): void {
    this.#buffer = Buffer.concat([this.#buffer.subarray(0, from), bytes, this.#buffer.subarray(to)]);
    this.#ready += bytes.length - (to - from);
  }

  flush(): Uint8Array {
    const out = this.#buffer.subarray(0, this.#ready);
    this.#buffer = this.#buffer.subarray(this.#ready);
    this.#ready = 0;
    return out;
  }

  flushAll(): Uint8Array {
    this.#ready = this.#buffer.length;
    return this.flush();
  }

  /** By at least so many bytes; false when there are none left. */
  async #grow(bytes: number): Promise<boolean> {
    const chunks: Uint8Array[] = [this.#buffer];
    let missing = bytes;
    while (missing > 0) {
      const chunk = await this.#pull();
      if (chunk === undefined) break;
      chunks.push(chunk);
      missing -= chunk.byteLength;
    }
    this.#buffer = Buffer.concat(chunks);
    if (this.#buffer.length - this.#ready > 2 * MAX_ENTRY_BYTES) throw notAnArchive('its table of contents is damaged');
    return missing <= 0;
  }
}

export const notAnArchive = (why: string) =>
  invalidInput(`this is no backup of Postgres that can be restored: ${why}`, 'take another backup');
