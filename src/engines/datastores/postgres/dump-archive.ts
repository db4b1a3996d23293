import { invalidInput } from '#kernel/errors';
import type { Bytes } from '../port.ts';
import { ownGrants } from './grants.ts';

/** What an owner may restore of an archive that was made elsewhere or earlier. */
export interface ArchiveFilter {
  /** Roles that the server has; grants to others are blanked. */
  roles: ReadonlySet<string>;
  /** The role that restores: only its own default privileges can be set. */
  owner: string;
}

export interface Archive {
  bytes: Bytes;
  /** Objects and parts of them: tables, their rows, indexes, comments … */
  entries: number;
  /** `ALTER DATABASE … SET` of the database that was dumped; complete when the bytes are read. pg_restore skips them. */
  properties: string[];
}

const MAGIC = Buffer.from('PGDMP');
/** Versions of the format that PostgreSQL 12 to 18 write. */
const OLDEST = 14;
const NEWEST = 16;
const CUSTOM = 1;
const OUTPUT_BYTES = 65_536;
/** No entry of a table of contents is near it; a made-up length is noticed by it. */
const MAX_ENTRY_BYTES = 64 * 1024 * 1024;
const GRANTS = new Set(['ACL', 'DEFAULT ACL']);

/**
 * Passes a custom-format archive of pg_dump on, byte for byte, but for grants that only this server cannot take: to roles
 * that are gone (passwords were rotated, or the archive is another datastore's), of roles that the owner is not. Left in,
 * they would fail the restore at its very end. Blanked statements keep their length, so nothing else of the archive moves.
 * Layout: ReadHead, ReadToc and _ReadExtraToc of src/bin/pg_dump/pg_backup_archiver.c and pg_backup_custom.c.
 */
export const openArchive = async (source: AsyncIterator<Uint8Array>, filter: ArchiveFilter): Promise<Archive> => {
  let ended = false;
  const pull = async (): Promise<Uint8Array | undefined> => {
    if (ended) return undefined;
    const { done, value } = await source.next();
    ended = done === true;
    return done === true ? undefined : value;
  };
  const window = new Window(pull);
  const head = await window.take(readHead);
  if (head === undefined) throw notAnArchive('it ends within its header');
  const properties: string[] = [];
  return { bytes: filtered({ window, head, pull }, filter, properties), entries: head.entries, properties };
};

async function* filtered(
  { window, head, pull }: { window: Window; head: Head; pull: () => Promise<Uint8Array | undefined> },
  filter: ArchiveFilter,
  properties: string[],
): AsyncGenerator<Uint8Array> {
  for (let entry = 0; entry < head.entries; entry += 1) {
    const found = await window.take((reader) => readEntry(reader, head));
    // Cut off: what is left is passed on, for pg_restore to say so.
    if (found === undefined) break;
    edit(found, filter, properties);
    if (window.readyBytes >= OUTPUT_BYTES) yield window.flush();
  }
  yield window.flushAll();
  for (let chunk = await pull(); chunk !== undefined; chunk = await pull()) yield chunk;
}

const edit = ({ kind, definition }: Entry, filter: ArchiveFilter, properties: string[]): void => {
  if (definition === undefined) return;
  // One byte is one character, so that places in the text are places in the bytes.
  if (GRANTS.has(kind)) definition.write(ownGrants(definition.toString('latin1'), filter), 'latin1');
  if (kind === 'DATABASE PROPERTIES') properties.push(definition.toString('utf8'));
};

interface Head {
  entries: number;
  intSize: number;
  offsetSize: number;
  minor: number;
}

interface Entry {
  kind: string;
  /** The bytes themselves. */
  definition: Buffer | undefined;
}

const readHead = (reader: Reader): Head => {
  if (!reader.bytes(MAGIC.length).equals(MAGIC)) throw notAnArchive('its first bytes are not those of pg_dump');
  const [major = 0, minor = 0, , intSize = 0, offsetSize = 0, kind] = reader.bytes(6);
  if (major !== 1 || minor < OLDEST || minor > NEWEST) throw notAnArchive(`its format is ${major}.${minor}`);
  if (kind !== CUSTOM) throw notAnArchive('it is of another of the formats of pg_dump');
  if (intSize < 4 || intSize > 8 || offsetSize < 4 || offsetSize > 8) throw notAnArchive('its header is damaged');
  reader.intSize = intSize;
  if (minor >= 15) reader.bytes(1);
  else reader.int();
  reader.ints(7); // time of creation
  reader.strings(3); // name of the database, versions of the server and of pg_dump
  return { entries: reader.int(), intSize, offsetSize, minor };
};

const readEntry = (reader: Reader, { intSize, offsetSize, minor }: Head): Entry => {
  reader.intSize = intSize;
  reader.ints(2); // id in the dump, whether it has data
  reader.strings(3); // oid of its catalogue, its own, tag
  const kind = reader.string()?.toString('latin1') ?? '';
  reader.int(); // section
  const definition = reader.string();
  reader.strings(5); // drop, copy, namespace, tablespace, access method
  if (minor >= 16) reader.int(); // kind of relation
  reader.strings(2); // owner, with oids
  while (reader.string() !== undefined); // what it depends on
  reader.bytes(1 + offsetSize); // state and place of its data
  return { kind, definition };
};

/** Thrown by a reader that needs bytes which are not there yet. */
class Short extends Error {
  readonly missing: number;

  constructor(missing: number) {
    super('the bytes end here');
    this.missing = missing;
  }
}

class Reader {
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

/** The bytes that were read and not yet passed on. */
class Window {
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

const notAnArchive = (why: string) =>
  invalidInput(`this is no backup of Postgres that can be restored: ${why}`, 'take another backup');
