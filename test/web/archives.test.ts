import { BlobWriter, TextReader, ZipWriter } from '@zip.js/zip.js/lib/zip-core-native.js';
import { describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import { pack, type Header } from 'tar-stream';
import { asApiError } from '../../web/api.ts';
import { archiveOf } from '../../web/start/archive.ts';
import { planOf } from '../../web/start/archive-plan.ts';
import { packFiles } from '../../web/start/pack.ts';
import type { Source } from '../../web/start/source.ts';

interface Entry {
  name: string;
  text?: string;
  /** Of a symbolic link. */
  link?: string;
  hard?: string;
  mode?: number;
  password?: string;
}

const tarOf = async (name: string, entries: readonly Entry[]): Promise<File> => {
  const tar = pack();
  for (const { name: path, text = '', link, hard, mode = 0o644 } of entries) {
    const header: Partial<Header> & { name: string } = { name: path, mode };
    if (link !== undefined) tar.entry({ ...header, type: 'symlink', linkname: link });
    else if (hard !== undefined) tar.entry({ ...header, type: 'link', linkname: hard });
    else if (path.endsWith('/')) tar.entry({ ...header, type: 'directory' });
    else tar.entry(header, text);
  }
  tar.finalize();
  const bytes = await new Response(tar as never).bytes();
  return new File([name.endsWith('z') ? gzipSync(bytes) : bytes], name);
};

const zipOf = async (name: string, entries: readonly Entry[]): Promise<File> => {
  const zip = new ZipWriter(new BlobWriter(), { useWebWorkers: false });
  for (const { name: path, text = '', link, mode = 0o644, password } of entries) {
    const unixMode = link === undefined ? 0o100_000 | mode : 0o120_777;
    if (path.endsWith('/')) await zip.add(path, undefined, { directory: true });
    else
      await zip.add(path, new TextReader(link ?? text), {
        msDosCompatible: false,
        externalFileAttributes: unixMode * 0x1_00_00,
        versionMadeBy: 0x0314,
        ...(password !== undefined && { password }),
      });
  }
  return new File([await zip.close()], name);
};

const made = (name: string, entries: readonly Entry[]): Promise<File> =>
  name.endsWith('.zip') ? zipOf(name, entries) : tarOf(name, entries);

const read = async (name: string, entries: readonly Entry[]): Promise<Source> => {
  const source = await archiveOf(await made(name, entries));
  if (source === undefined) throw new Error(`${name} is no archive`);
  return source;
};

/** What the archive that goes up holds, as tar lists it. */
const packed = async (source: Source): Promise<string[]> => {
  if ('archive' in source) throw new Error('goes up as it is');
  const { signal } = new AbortController();
  const archive = await packFiles(source.read(signal), () => undefined, signal);
  const child = Bun.spawn(['tar', '-tvzf', '-'], { stdin: archive, stdout: 'pipe' });
  const lines = (await new Response(child.stdout).text()).trim().split('\n');
  return lines.map((line) => `${line.slice(0, 10)} ${line.replace(/^\S+\s+\S+\s+(\d+)\s+\S+\s+\S+ /, '$1 ')}`);
};

const refusal = async (
  source: Promise<Source> | (() => Promise<Source>),
): Promise<{ message: string; hint: string }> => {
  try {
    await (typeof source === 'function' ? source() : source);
  } catch (thrown) {
    const { message, hint, code } = asApiError(thrown);
    expect(code).toBe('INVALID_INPUT');
    return { message, hint };
  }
  throw new Error('it was taken');
};

const APP: Entry[] = [
  { name: 'shop-main/' },
  { name: 'shop-main/index.html', text: '<h1>hello</h1>' },
  { name: 'shop-main/bin/run', text: 'echo hello', mode: 0o755 },
  { name: 'shop-main/latest', link: 'bin/run' },
  { name: 'shop-main/.serviceignore', text: 'secret\n' },
  { name: 'shop-main/secret/key.txt', text: 'not to be uploaded' },
  { name: 'shop-main/node_modules/left/index.js', text: 'not to be uploaded either' },
  { name: 'shop-main/node_modules/.bin/left', link: '/elsewhere' },
];

describe.each(['shop.zip', 'shop.tar', 'shop.tar.gz', 'shop.tgz'])('%s', (name) => {
  test('its one folder is what is meant, and the ignore rules and modes hold as for a folder', async () => {
    const source = await read(name, APP);
    expect(source).toMatchObject({ name: 'shop', files: 4, left: 3, bytes: 14 + 10 + 7 });
    expect((await packed(source)).sort()).toEqual([
      '-rw-r--r-- 14 index.html',
      '-rw-r--r-- 7 .serviceignore',
      '-rwxr-xr-x 10 bin/run',
      'lrwxrwxrwx 0 latest -> bin/run',
    ]);
  });

  test.each([
    ['../../etc/passwd', 'leads out of the folder'],
    ['a/../../b', 'leads out of the folder'],
    ['/etc/passwd', 'has an absolute path'],
    ['C:\\windows\\win.ini', 'has an absolute path'],
  ])('the entry %p is refused', async (path, why) => {
    const { message } = await refusal(read(name, [{ name: 'index.html' }, { name: path, text: 'x' }]));
    expect(message).toContain(why);
  });

  test('a link that leaves the folder is refused before anything goes up', async () => {
    for (const link of ['/etc/passwd', '../x', 'a/../../x']) {
      const { message, hint } = await refusal(read(name, [{ name: 'app/index.html' }, { name: 'app/l', link }]));
      expect(message).toBe(`the archive’s entry "app/l" links to "${link}", which lies outside of the folder`);
      expect(hint).toContain('replace the link');
    }
  });

  test('nothing to deploy in it is said as such', async () => {
    const { message } = await refusal(read(name, [{ name: 'node_modules/a.js', text: 'x' }]));
    expect(message).toContain('nothing is left to deploy');
  });

  test('what is damaged is refused by name', async () => {
    const whole = await made(name, [{ name: 'index.html', text: 'x'.repeat(5000) }]);
    for (const broken of [
      new File([whole.slice(0, whole.size / 2)], name),
      new File(['this is no archive at all'.repeat(100)], name),
      new File([], name),
    ]) {
      const { message, hint } = await refusal(
        async () => (await archiveOf(broken)) ?? Promise.reject(new Error('none')),
      );
      expect(message).toStartWith(`${name} cannot be read as what its name says`);
      expect(hint).toContain('pack it again');
    }
  });
});

test('a gzipped tar without a folder around it goes up as it is', async () => {
  const source = await read('site.tar.gz', [
    { name: './index.html', text: 'x' },
    { name: './css/a.css', text: 'y' },
  ]);
  expect(source).toMatchObject({ name: 'site', archive: { name: 'site.tar.gz' } });
});

test('an archive of two folders, or of one that is always ignored, keeps its paths', async () => {
  expect(
    await packed(
      await read('a.zip', [
        { name: 'a/x', text: '1' },
        { name: 'b/y', text: '2' },
      ]),
    ),
  ).toEqual(['-rw-r--r-- 1 a/x', '-rw-r--r-- 1 b/y']);
  const litter = [{ name: 'a/x', text: '1' }, { name: '__MACOSX/a/._x', text: '2' }, { name: '.DS_Store' }];
  const source = await read('a.zip', litter);
  expect(source).toMatchObject({ left: 0 });
  expect(await packed(source)).toEqual(['-rw-r--r-- 1 x']);
});

test('an encrypted zip is refused, and says what would help', async () => {
  const { message, hint } = await refusal(read('s.zip', [{ name: 'index.html', text: 'x', password: 'p' }]));
  expect(message).toBe('s.zip is encrypted');
  expect(hint).toContain('without a password');
});

test('a hard link is refused where it would go up', async () => {
  const { message } = await refusal(
    read('h.tar', [
      { name: 'index.html', text: 'x' },
      { name: 'same.html', hard: 'index.html' },
    ]),
  );
  expect(message).toContain('"same.html" is neither a file, a folder nor a symbolic link');
});

test('content that does not match its checksum is told while it is packed', async () => {
  const zip = await zipOf('c.zip', [{ name: 'index.html', text: 'hello hello hello' }]);
  const bytes = new Uint8Array(await zip.arrayBuffer());
  // The first byte of the content, behind the head of 30 bytes and the name.
  const extra = (bytes[28] ?? 0) + 256 * (bytes[29] ?? 0);
  const at = 30 + 'index.html'.length + extra;
  bytes[at + 2] = (bytes[at + 2] ?? 0) ^ 0xff;
  const source = await archiveOf(new File([bytes], 'c.zip'));
  if (source === undefined) throw new Error('no archive');
  const { message } = await refusal(packed(source).then(() => source));
  expect(message).toStartWith('the browser could not read the source');
});

test('what would unpack to too much is refused by what its directory says', async () => {
  const { message } = await refusal(async () => {
    const { createListing } = await import('../../web/start/archive-plan.ts');
    const listing = createListing('big.zip');
    for (let index = 0; index < 5; index += 1) listing.add({ name: `f${index}`, kind: 'file', bytes: 2 ** 30 });
    throw new Error('it was taken');
  });
  expect(message).toBe('big.zip unpacks to more than 4 GB');
});

test('other kinds of archives are refused with those that will do', async () => {
  for (const name of ['a.7z', 'a.rar', 'a.tar.xz', 'a.tbz2', 'a.tar.zst']) {
    const { message, hint } = await refusal(async () => (await archiveOf(new File(['x'], name))) as Source);
    expect(message).toBe(`${name} is an archive of another kind`);
    expect(hint).toContain('.zip or .tar.gz');
  }
  expect(archiveOf(new File(['x'], 'index.html'))).toBeUndefined();
});

test('the ignore file counts only where the source begins', () => {
  const file = (name: string) => ({ name, kind: 'file' as const, bytes: 1 });
  const entries = [file('app/a'), file('app/b'), file('app/sub/.serviceignore'), file('app/.serviceignore')];
  const plan = planOf(entries, new Map([['app/.serviceignore', 'b\n']]));
  expect(entries.map(({ name }) => plan.keep(name))).toEqual(['a', undefined, 'sub/.serviceignore', '.serviceignore']);
});
