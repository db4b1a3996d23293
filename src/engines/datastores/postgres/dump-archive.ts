import type { Bytes } from '../port.ts';
import { notAnArchive, type Reader, Window } from './archive-window.ts';
import { ownGrants } from './grants.ts';

/** What an owner may restore of an archive that was made elsewhere or earlier. */
export interface ArchiveFilter {
  /** Roles that the server has; grants to others are blanked. */
  roles: ReadonlySet<string>;
  /** The role that restores: only its own default privileges can be set. */
  owner: string;
  /** An archive of at most so many entries is restored in one transaction, and its rows are loaded frozen. */
  frozenUpTo: number;
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
const GRANTS = new Set(['ACL', 'DEFAULT ACL']);
const COPY_END = ' FROM stdin;\n';
const FROZEN_COPY_END = ' FROM stdin WITH (FREEZE);\n';

/**
 * Passes a custom-format archive of pg_dump on as it is, but for two things. Grants that only this server cannot take: to roles
 * that are gone (passwords were rotated, or the archive is another datastore's), of roles that the owner is not; left in,
 * they would fail the restore at its very end. And rows are loaded frozen: who reads them first, which is berth that counts
 * them, would else write every page once more to remember that they are committed.
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
    if (head.entries <= filter.frozenUpTo) freeze(window, found, head);
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

/** COPY can do so for a table that its own transaction has made. */
const freeze = (window: Window, { kind, definition, copy }: Entry, { intSize }: Head): void => {
  // What is loaded through the root of its partitions has a comment in place of a definition, and cannot be frozen.
  if (kind !== 'TABLE DATA' || copy === undefined || (definition?.length ?? 0) > 0) return;
  const statement = copy.statement.toString('latin1');
  if (!statement.endsWith(COPY_END)) return;
  const text = Buffer.from(statement.slice(0, -COPY_END.length) + FROZEN_COPY_END, 'latin1');
  window.replace(copy, Buffer.concat([encodeInt(text.length, intSize), text]));
};

const encodeInt = (value: number, intSize: number): Buffer => {
  const bytes = Buffer.alloc(1 + intSize);
  bytes.writeUInt32LE(value, 1);
  return bytes;
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
  /** What loads its rows, and where in the window that string is with its length. */
  copy: { statement: Buffer; from: number; to: number } | undefined;
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
  reader.string(); // drop
  const from = reader.at;
  const statement = reader.string();
  const copy = statement === undefined ? undefined : { statement, from, to: reader.at };
  reader.strings(3); // namespace, tablespace, access method
  if (minor >= 16) reader.int(); // kind of relation
  reader.strings(2); // owner, with oids
  while (reader.string() !== undefined); // what it depends on
  reader.bytes(1 + offsetSize); // state and place of its data
  return { kind, definition, copy };
};
