import { expect, test } from 'bun:test';
import { openArchive } from '#engines/datastores/postgres/dump-archive';
import { checkSeal, createSeal } from '#engines/datastores/postgres/seal';
import { collect, failureOf, inChunks } from './bytes.ts';

const filter = { roles: new Set(['app']), owner: 'app', frozenUpTo: 0 };

const int = (value: number): Buffer => {
  const bytes = Buffer.alloc(5);
  bytes[0] = value < 0 ? 1 : 0;
  bytes.writeUInt32LE(Math.abs(value), 1);
  return bytes;
};
const string = (text: string | null): Buffer =>
  text === null ? int(-1) : Buffer.concat([int(Buffer.byteLength(text)), Buffer.from(text)]);

/** A table of contents as pg_dump of PostgreSQL 16 and later (format 1.16) or of 13 and 14 (1.14) writes it. */
const archive = (
  entries: { kind: string; definition: string | null; copy?: string }[],
  minor = 16,
  count = entries.length,
): Buffer =>
  Buffer.concat([
    Buffer.from('PGDMP'),
    Buffer.from([1, minor, 0, 4, 8, 1]),
    minor >= 15 ? Buffer.from([3]) : int(-1),
    ...[1, 2, 3, 4, 5, 6, 0].map(int),
    ...['app', '17.6', '17.6'].map(string),
    int(count),
    ...entries.map(({ kind, definition, copy }, index) =>
      Buffer.concat([
        int(index + 1),
        int(0),
        ...['0', '0', `tag ${index}`, kind].map(string),
        int(2),
        string(definition),
        ...['DROP …', copy ?? null, 'public', null, null].map(string),
        ...(minor >= 16 ? [int(0)] : []),
        ...['app', 'false', '12', '13', null].map(string),
        Buffer.alloc(9, 1),
      ]),
    ),
    Buffer.from('and then the rows'),
  ]);

const open = (bytes: Buffer, chunk: number) => openArchive(inChunks(bytes, chunk), filter);

const ENTRIES = [
  { kind: 'TABLE', definition: 'CREATE TABLE ähnlich (); -- GRANT ALL ON TABLE t TO gone;' },
  { kind: 'ACL', definition: 'GRANT ALL ON TABLE t TO app;\nGRANT ALL ON TABLE t TO gone;\n' },
  { kind: 'DATABASE PROPERTIES', definition: "ALTER DATABASE app SET work_mem TO '1MB';" },
  { kind: 'COMMENT', definition: null },
];

for (const minor of [14, 15, 16]) {
  test(`of format 1.${minor}, only grants to roles that are gone are blanked, however the bytes are cut`, async () => {
    const original = archive(ENTRIES, minor);
    const expected = Buffer.from(
      original
        .toString('latin1')
        .replace('app;\nGRANT ALL ON TABLE t TO gone;\n', (text) => `app;${' '.repeat(text.length - 5)}\n`),
      'latin1',
    );
    for (const chunk of [1, 7, 100, 65_536]) {
      const { bytes, entries, properties } = await open(original, chunk);
      expect(entries).toBe(4);
      expect((await collect(bytes)).equals(expected)).toBe(true);
      expect(properties).toEqual(["ALTER DATABASE app SET work_mem TO '1MB';"]);
    }
  });
}

test('rows of few enough entries are loaded frozen, but for those that go through the root of their partitions', async () => {
  const entries = (end: string) => [
    { kind: 'TABLE DATA', definition: null, copy: `COPY public."größe" (id, " FROM stdin;") FROM stdin${end};\n` },
    { kind: 'TABLE DATA', definition: '', copy: `COPY public.t (id) FROM stdin${end};\n` },
    { kind: 'TABLE DATA', definition: '-- load via partition root public.p', copy: 'COPY public.p (id) FROM stdin;\n' },
    { kind: 'TABLE DATA', definition: null },
    { kind: 'SOMETHING ELSE', definition: null, copy: 'COPY public.t (id) FROM stdin;\n' },
  ];
  const original = archive(entries(''));
  for (const chunk of [1, 7, 65_536]) {
    const frozen = await openArchive(inChunks(original, chunk), { ...filter, frozenUpTo: 5 });
    expect((await collect(frozen.bytes)).equals(archive(entries(' WITH (FREEZE)')))).toBe(true);
    const plain = await openArchive(inChunks(original, chunk), { ...filter, frozenUpTo: 4 });
    expect((await collect(plain.bytes)).equals(original)).toBe(true);
  }
});

test('one that is cut off in its table of contents is passed on to pg_restore as it is', async () => {
  const original = archive(ENTRIES).subarray(0, 300);
  expect((await collect((await open(original, 64)).bytes)).length).toBe(300);
  const more = archive(ENTRIES, 16, 1_000_000);
  expect((await collect((await open(more, 64)).bytes)).length).toBe(more.length);
});

test('made-up lengths are refused without taking the memory for them', async () => {
  const original = archive([{ kind: 'ACL', definition: 'x'.repeat(50) }]);
  const length = original.indexOf('x'.repeat(50)) - 4;
  original.writeUInt32LE(0xff_ff_ff_ff, length);
  const { bytes } = await open(original, 4096);
  expect((await failureOf(collect(bytes))).message).toContain('its table of contents is damaged');
});

test('other formats and versions are refused in words', async () => {
  const odd = (at: number, value: number): Buffer => {
    const bytes = archive(ENTRIES);
    bytes[at] = value;
    return bytes;
  };
  expect((await failureOf(open(odd(6, 17), 99))).message).toContain('its format is 1.17');
  expect((await failureOf(open(odd(10, 3), 99))).message).toContain('another of the formats');
  expect((await failureOf(open(odd(8, 200), 99))).message).toContain('its header is damaged');
  expect((await failureOf(open(Buffer.from('PGDM'), 99))).message).toContain('it ends within its header');
});

test('a seal is taken off, and fails after the last byte when a single bit differs', async () => {
  const content = archive(ENTRIES);
  const seal = createSeal();
  for await (const chunk of inChunks(content, 33)) seal.add(chunk);
  const sealed = Buffer.concat([content, seal.bytes()]);
  for (const chunk of [1, 20, 21, 22, 65_536]) {
    expect((await collect(checkSeal(inChunks(sealed, chunk)))).equals(content)).toBe(true);
  }
  for (let at = 0; at < content.length; at += 17) {
    const damaged = Buffer.from(sealed);
    damaged[at] = (damaged[at] ?? 0) ^ 4;
    expect((await failureOf(collect(checkSeal(inChunks(damaged, 50))))).message).toContain('damaged');
  }
  expect((await collect(checkSeal(inChunks(content, 50)))).equals(content)).toBe(true);
  expect(await collect(checkSeal(inChunks(Buffer.alloc(0))))).toHaveLength(0);
});
