import { afterEach, beforeEach, expect, test } from 'bun:test';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { CliFailure } from '#cli/failure';
import { requireFits } from '#cli/pack/limit';
import { packedSize, packSource } from '#cli/pack/pack';
import { largestFolders, walkSource } from '#cli/pack/walk';
import { Home } from './support/cli.ts';

let home: Home;
beforeEach(() => {
  home = new Home();
});
afterEach(() => home.remove());

interface Unpacked {
  type: string;
  mode: number;
  uid: number;
  mtime: number;
  content: string;
  linkname: string | null;
}

const unpack = async (archive: Uint8Array): Promise<Record<string, Unpacked>> => {
  const tar = extract();
  Readable.from([archive]).pipe(createGunzip()).pipe(tar);
  const found: Record<string, Unpacked> = {};
  for await (const entry of tar) {
    const { name, type, mode, uid, mtime, linkname } = entry.header;
    const chunks: Uint8Array[] = [];
    for await (const chunk of entry) chunks.push(chunk as Uint8Array);
    found[name] = { type, mode, uid, mtime: mtime.getTime(), content: Buffer.concat(chunks).toString(), linkname };
  }
  return found;
};

const packed = async (root: string): Promise<Uint8Array<ArrayBuffer>> => {
  const tree = await walkSource(root);
  return new Uint8Array(await new Response(packSource(tree, () => undefined)).arrayBuffer());
};

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path);
  } catch {
    // The descriptor of the listing itself is closed by now.
    return '';
  }
};

const rejection = async (work: Promise<unknown>): Promise<CliFailure> => {
  const thrown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (thrown instanceof CliFailure) return thrown;
  throw new Error(`no CliFailure but: ${String(thrown)}`);
};

test('files, directories, modes and links arrive; owners and times do not', async () => {
  home.write({ 'src/app/run.sh': '#!/bin/sh\n', 'src/index.html': 'hello', 'src/empty.txt': '' });
  chmodSync(home.path('src/app/run.sh'), 0o4755);
  symlinkSync('../index.html', home.path('src/app/link'));
  mkdirSync(home.path('src/hollow'));
  const found = await unpack(await packed(home.path('src')));
  expect(Object.keys(found)).toEqual(['app/', 'app/link', 'app/run.sh', 'empty.txt', 'hollow/', 'index.html']);
  expect(found['app/run.sh']).toEqual({
    type: 'file',
    mode: 0o755,
    uid: 0,
    mtime: 0,
    content: '#!/bin/sh\n',
    linkname: null,
  });
  expect(found['app/link']).toMatchObject({ type: 'symlink', linkname: '../index.html' });
  expect(found['empty.txt']).toMatchObject({ type: 'file', content: '' });
});

test('the same content gives the same bytes, whenever it was written', async () => {
  home.write({ 'src/b.txt': 'b', 'src/a.txt': 'a', 'src/ü/z.txt': 'z' });
  const before = await packed(home.path('src'));
  utimesSync(home.path('src/a.txt'), 1, 1);
  const after = await packed(home.path('src'));
  expect(Buffer.compare(before, after)).toBe(0);
  expect(before.length).toBeGreaterThan(50);
});

test('what never belongs to a source stays out, at any depth, and so does what .serviceignore lists', async () => {
  home.write({
    'src/keep.js': '',
    'src/.git/HEAD': '',
    'src/a/node_modules/x/index.js': '',
    'src/.service/config.json': '{}',
    'src/lib/__pycache__/m.pyc': '',
    'src/.venv/bin/python': '',
    'src/dist/out.js': '',
    'src/distant.js': '',
    'src/data/big.bin': '',
    'src/.serviceignore': '# built\ndist/\ndata\n',
  });
  const tree = await walkSource(home.path('src'));
  expect(tree.entries.filter(({ type }) => type === 'file').map(({ path }) => path)).toEqual([
    '.serviceignore',
    'distant.js',
    'keep.js',
  ]);
});

test('excluded directories are not even read', async () => {
  home.write({ 'src/app.js': '', 'src/secret/x': '', 'src/.serviceignore': 'secret/\n' });
  symlinkSync('/etc/passwd', home.path('src/secret/out'));
  const tree = await walkSource(home.path('src'));
  expect(tree.entries.map(({ path }) => path)).toEqual(['.serviceignore', 'app.js']);
});

test.each([
  ['/etc/passwd', 'src/link'],
  ['../outside', 'src/link'],
  ['../../outside', 'src/deep/link'],
  ['a/../../outside', 'src/link'],
])('a link to %s is refused by name, never followed', async (target, path) => {
  home.write({ 'src/deep/app.js': '', outside: 'secret' });
  symlinkSync(target, home.path(path));
  const failure = await rejection(walkSource(home.path('src')));
  expect(failure.body.message).toBe(`the link ${path.slice(4)} leaves the source: it points to ${target}`);
  expect(failure.body.hint).toContain('.serviceignore');
});

test('a link to a directory is not walked into, and one in a circle is no endless walk', async () => {
  home.write({ 'src/real/file': 'x' });
  symlinkSync('real', home.path('src/alias'));
  symlinkSync('.', home.path('src/circle'));
  const tree = await walkSource(home.path('src'));
  expect(tree.entries.map(({ path, type }) => `${type} ${path}`)).toEqual([
    'symlink alias',
    'symlink circle',
    'directory real',
    'file real/file',
  ]);
});

test('a pipe is left out and named', async () => {
  home.write({ 'src/app.js': '' });
  expect(Bun.spawnSync(['mkfifo', home.path('src/pipe')]).exitCode).toBe(0);
  const tree = await walkSource(home.path('src'));
  expect(tree.skipped).toEqual(['pipe']);
  expect(tree.files).toBe(1);
});

test('a missing directory, and a file in its place, have a clear word', async () => {
  home.write({ file: '' });
  expect((await rejection(walkSource(home.path('nowhere')))).body.message).toBe(
    `there is no directory ${home.path('nowhere')}`,
  );
  expect((await rejection(walkSource(home.path('file')))).body.message).toBe(`${home.path('file')} is no directory`);
});

test('long and odd names survive', async () => {
  const long = `${'d'.repeat(120)}/${'f'.repeat(200)}`;
  home.write({ [`src/${long}`]: 'deep', 'src/-rf *; $(x) "q".txt': 'odd', 'src/new\nline': 'n' });
  const found = await unpack(await packed(home.path('src')));
  expect(found[long]?.content).toBe('deep');
  expect(found['-rf *; $(x) "q".txt']?.content).toBe('odd');
  expect(found['new\nline']?.content).toBe('n');
});

test('a file that shrinks while it is packed fails the upload instead of sending rubbish', async () => {
  home.write({ 'src/log': 'x'.repeat(1_000_000) });
  const tree = await walkSource(home.path('src'));
  truncateSync(home.path('src/log'), 10);
  const failure = await rejection(new Response(packSource(tree, () => undefined)).arrayBuffer());
  expect(failure.body.message).toBe('log changed while it was packed');
});

test('a file that becomes a link while it is packed is not followed', async () => {
  home.write({ 'src/a': 'aa', outside: 'secret' });
  const tree = await walkSource(home.path('src'));
  expect(Bun.spawnSync(['ln', '-sf', home.path('outside'), home.path('src/a')]).exitCode).toBe(0);
  const thrown = await new Response(packSource(tree, () => undefined)).arrayBuffer().then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(thrown).toMatchObject({ code: 'ELOOP' });
});

test('bytes are reported as they go in, and large files are whole', async () => {
  const content = Buffer.alloc(3_000_001, 'abc');
  mkdirSync(home.path('src'));
  writeFileSync(home.path('src/big'), content);
  const tree = await walkSource(home.path('src'));
  let reported = 0;
  const archive = new Uint8Array(await new Response(packSource(tree, (more) => (reported += more))).arrayBuffer());
  expect(reported).toBe(content.length);
  const big = (await unpack(archive))['big']?.content ?? '';
  expect(createHash('sha256').update(big).digest('hex')).toBe(createHash('sha256').update(content).digest('hex'));
});

test('the trial stops counting above the limit', async () => {
  mkdirSync(home.path('src'));
  writeFileSync(home.path('src/noise'), crypto.getRandomValues(new Uint8Array(65_536)));
  for (let i = 0; i < 40; i += 1)
    writeFileSync(home.path(`src/noise${i}`), crypto.getRandomValues(new Uint8Array(65_536)));
  const tree = await walkSource(home.path('src'));
  const size = await packedSize(tree, 100_000);
  expect(size).toBeGreaterThan(100_000);
  expect(size).toBeLessThan(1_000_000);
});

test('an archive that nobody reads to its end lets go of the files', async () => {
  mkdirSync(home.path('src'));
  const noise = crypto.getRandomValues(new Uint8Array(65_536));
  for (let i = 0; i < 128; i += 1) writeFileSync(home.path('src/big'), noise, { flag: 'a' });
  const reader = packSource(await walkSource(home.path('src')), () => undefined).getReader();
  await reader.read();
  const open = (): string[] =>
    readdirSync('/proc/self/fd')
      .map((fd) => linkOf(`/proc/self/fd/${fd}`))
      .filter((path) => path.startsWith(home.dir));
  expect(open()).toHaveLength(1);
  await reader.cancel();
  for (let turns = 0; turns < 1000 && open().length > 0; turns += 1) await new Promise(setImmediate);
  expect(open()).toEqual([]);
});

test('the heaviest folders are named first', async () => {
  home.write({
    'src/data/raw/a': 'x'.repeat(500),
    'src/data/raw/deep/b': 'x'.repeat(500),
    'src/media/c': 'x'.repeat(300),
    'src/top': 'x'.repeat(10),
  });
  expect(largestFolders(await walkSource(home.path('src')), 2)).toEqual([
    { path: 'data/raw/', bytes: 1000 },
    { path: 'media/', bytes: 300 },
  ]);
});

test('a source is packed on trial only when it is above the limit, and refused with its largest folders when it stays so', async () => {
  const files = { 'data/noise.bin': 50_000, 'text.txt': 10 };
  mkdirSync(home.path('data'));
  for (const [name, size] of Object.entries(files))
    writeFileSync(home.path(name), crypto.getRandomValues(new Uint8Array(size)));
  const tree = await walkSource(home.path('.'));
  const notes: string[] = [];
  const note = (said: string): number => notes.push(said);
  await requireFits(tree, note);
  expect(notes).toEqual([]);
  const refusal = await requireFits(tree, note, 20_000).catch((thrown: unknown) => thrown);
  expect(refusal).toBeInstanceOf(CliFailure);
  expect((refusal as CliFailure).body).toMatchObject({ code: 'SOURCE_TOO_LARGE', retryable: false });
  expect((refusal as CliFailure).message).toContain('largest: data');
  expect(notes).toHaveLength(1);
});
