import { afterEach, beforeEach, expect, test } from 'bun:test';
import { type Entry, type Lab, openLab, tarGz } from './support.ts';

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.close());

const unpacked = async (entries: Entry[]): Promise<Record<string, string>> => {
  await lab.unpack(await tarGz(entries));
  return lab.tree();
};

test('files, directories and links inside the source arrive as they are', async () => {
  const tree = await unpacked([
    { name: './', type: 'directory' },
    { name: './src/', type: 'directory' },
    { name: './src/app.js', content: 'app' },
    { name: 'empty/', type: 'directory' },
    { name: 'later', type: 'symlink', linkname: 'src/later.js' },
    { name: 'src/up', type: 'symlink', linkname: '../README' },
    { name: 'dangling', type: 'symlink', linkname: 'nowhere/at/all' },
    { name: 'src/later.js', content: 'later' },
    { name: 'same', type: 'link', linkname: './src/app.js' },
    { name: 'README', content: '' },
  ]);
  expect(tree).toEqual({
    README: 'file 644 ',
    dangling: '-> nowhere/at/all',
    empty: 'dir 755',
    later: '-> src/later.js',
    same: 'file 644 app',
    src: 'dir 755',
    'src/app.js': 'file 644 app',
    'src/later.js': 'file 644 later',
    'src/up': '-> ../README',
  });
});

test('modes are reduced to executable or not: no setuid, setgid or sticky bit survives', async () => {
  const tree = await unpacked([
    { name: 'suid', content: 'x', mode: 0o6755 },
    { name: 'private', content: 'x', mode: 0o600 },
    { name: 'none', content: 'x', mode: 0 },
    { name: 'd', type: 'directory', mode: 0o3777 },
  ]);
  expect(tree).toEqual({ d: 'dir 755', none: 'file 644 x', private: 'file 644 x', suid: 'file 755 x' });
});

test('a directory that wraps everything is kept', async () => {
  expect(await unpacked([{ name: 'project/app.js', content: 'x' }])).toEqual({
    project: 'dir 755',
    'project/app.js': 'file 644 x',
  });
});

test('of two entries for one file the later one wins, and a hard link to the first keeps its content', async () => {
  const tree = await unpacked([
    { name: 'a', content: 'first' },
    { name: 'b', type: 'link', linkname: 'a' },
    { name: 'a', content: 'second' },
    { name: 'c', content: 'a file first' },
    { name: 'c', type: 'symlink', linkname: 'a' },
  ]);
  expect(tree).toEqual({ a: 'file 644 second', b: 'file 644 first', c: '-> a' });
});

test('what is always excluded is dropped again, whatever it is, and what .serviceignore lists too', async () => {
  const tree = await unpacked([
    { name: '.git/config', content: 'x' },
    { name: 'web/node_modules/x/index.js', content: 'x' },
    { name: '.venv/bin/python', type: 'symlink', linkname: '/usr/bin/python3' },
    { name: '__pycache__', type: 'directory' },
    { name: 'dist/app.js', content: 'x' },
    { name: 'secret.env', content: 'x' },
    { name: 'secret.link', type: 'symlink', linkname: 'app.js' },
    { name: '.serviceignore', content: 'dist/\nsecret\n' },
    { name: 'app.js', content: 'x' },
  ]);
  expect(Object.keys(tree)).toEqual(['.serviceignore', 'app.js']);
});

test('long names and large files come through', async () => {
  const name = `${'directory-with-a-name/'.repeat(12)}file.txt`;
  const large = Buffer.alloc(3_000_000, 'abc');
  const result = await lab.unpack(
    await tarGz([
      { name, content: 'x' },
      { name: 'large', content: large },
      { name: 'ünïcödé/文件.txt', content: 'x' },
    ]),
    { limits: { ratio: 1e9 } },
  );
  expect(await lab.read(name)).toBe('x');
  expect(await lab.read('large')).toBe(large.toString());
  expect(await lab.read('ünïcödé/文件.txt')).toBe('x');
  expect(result).toMatchObject({ files: 3, bytes: 3_000_002 });
});

test('the digest depends on paths, contents and modes, and on nothing else', async () => {
  const digestOf = async (entries: Entry[]): Promise<string> => {
    const one = await openLab();
    const { digest } = await one.unpack(await tarGz(entries));
    await one.close();
    return digest;
  };
  const plain = await digestOf([
    { name: 'a', content: '1', mtime: new Date(1e12), uid: 5 },
    { name: 'b', content: '2' },
    { name: 'l', type: 'symlink', linkname: 'a' },
  ]);
  const other = [
    [
      { name: 'a', content: '1' },
      { name: 'b', content: '3' },
      { name: 'l', type: 'symlink', linkname: 'a' },
    ],
    [
      { name: 'a', content: '1' },
      { name: 'c', content: '2' },
      { name: 'l', type: 'symlink', linkname: 'a' },
    ],
    [
      { name: 'a', content: '1', mode: 0o755 },
      { name: 'b', content: '2' },
      { name: 'l', type: 'symlink', linkname: 'a' },
    ],
    [
      { name: 'a', content: '1' },
      { name: 'b', content: '2' },
      { name: 'l', type: 'symlink', linkname: 'b' },
    ],
    [
      { name: 'a', content: '1' },
      { name: 'b', content: '2' },
    ],
  ] satisfies Entry[][];
  const same = await digestOf([
    { name: './', type: 'directory' },
    { name: 'l', type: 'symlink', linkname: 'a' },
    { name: './b', content: '2', mode: 0o600, mtime: new Date(0) },
    { name: './a', content: 'replaced' },
    { name: './a', content: '1' },
    { name: 'node_modules/x', content: 'dropped' },
  ]);
  expect(same).toBe(plain);
  const digests = await Promise.all(other.map(digestOf));
  expect(new Set([plain, ...digests]).size).toBe(6);
});

test('an abort ends the unpacking with its reason and leaves nothing', async () => {
  const stop = new AbortController();
  stop.abort(new Error('cancelled'));
  const unpacking = lab.unpack(await tarGz([{ name: 'a', content: 'x' }]), { signal: stop.signal });
  expect(await unpacking.catch((thrown: unknown) => thrown)).toEqual(new Error('cancelled'));
  expect(await Bun.file(`${lab.into}/a`).exists()).toBe(false);
});
