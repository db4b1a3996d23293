import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile, chmod } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { extract } from 'tar-stream';
import { type ContextOptions, packContext, sourceTime } from '#engines/source/context';
import { createDockerignore, readDockerignore } from '#engines/source/dockerignore';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'berth-context-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const put = async (path: string, content: string, mode = 0o644): Promise<void> => {
  await mkdir(dirname(join(dir, path)), { recursive: true });
  await writeFile(join(dir, path), content, { mode });
  await chmod(join(dir, path), mode);
};

const collect = async (stream: Readable): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
};

const entriesOf = async (options: ContextOptions): Promise<string[]> => {
  const found: string[] = [];
  const reader = extract();
  Readable.from([await collect(packContext(options))]).pipe(reader);
  for await (const entry of reader) {
    const { name, type, linkname, mode, uid, gid } = entry.header;
    let content = '';
    for await (const chunk of entry) content += String(chunk);
    expect([uid, gid]).toEqual([0, 0]);
    found.push(
      `${name} ${type} ${mode.toString(8)}${type === 'symlink' ? ` -> ${linkname}` : ''}${content === '' ? '' : ` ${content}`}`,
    );
  }
  return found;
};

test('a context is the files in order, with links kept and nothing followed', async () => {
  await put('b.txt', 'b');
  await put('a/run.sh', 'run', 0o700);
  await mkdir(join(dir, 'empty'));
  await symlink('/etc/passwd', join(dir, 'outside'));
  await symlink('a', join(dir, 'inside'));
  expect(await entriesOf({ layers: [{ dir, prefix: '' }], files: [] })).toEqual([
    'a directory 755',
    'a/run.sh file 755 run',
    'b.txt file 644 b',
    'empty directory 755',
    'inside symlink 777 -> a',
    'outside symlink 777 -> /etc/passwd',
  ]);
});

test('layers go below their prefix, a later one wins, and files from memory win over all', async () => {
  await put('app.js', 'from disk');
  await put('Dockerfile', 'FROM stranger');
  const files = [
    { path: 'source/Dockerfile', content: 'FROM ours' },
    { path: 'berth/entry/run', content: Buffer.from('run'), mode: 0o755 },
  ];
  expect(await entriesOf({ layers: [{ dir, prefix: 'source' }], files })).toEqual([
    'berth directory 755',
    'berth/entry directory 755',
    'berth/entry/run file 755 run',
    'source directory 755',
    'source/Dockerfile file 644 FROM ours',
    'source/app.js file 644 from disk',
  ]);
});

test('the same content gives the same bytes, whatever its times', async () => {
  const digest = async (mtime?: Date): Promise<string> => {
    const options = { layers: [{ dir, prefix: '' }], files: [], ...(mtime === undefined ? {} : { mtime }) };
    return createHash('sha256')
      .update(await collect(packContext(options)))
      .digest('hex');
  };
  for (let index = 0; index < 30; index += 1) await put(`d${index % 4}/f${index}`, `content ${index}`);
  const before = await digest();
  for (let index = 29; index >= 0; index -= 1) {
    await rm(join(dir, `d${index % 4}/f${index}`));
    await put(`d${index % 4}/f${index}`, `content ${index}`);
    await utimes(join(dir, `d${index % 4}/f${index}`), index, index);
  }
  expect(await digest()).toBe(before);
  expect(await digest(sourceTime('ab'.repeat(32)))).not.toBe(before);
});

test('a source has a time of its own between 2000 and 2019, so that ETags made of times change with it', () => {
  const [one, other] = [sourceTime('00'.repeat(32)), sourceTime('ff'.repeat(32))];
  expect(one.toISOString()).toBe('2000-01-01T00:00:00.000Z');
  expect(other.getTime()).not.toBe(one.getTime());
  expect(other.getUTCFullYear()).toBeLessThan(2020);
  expect(sourceTime('ff'.repeat(32))).toEqual(other);
});

test('a file larger than memory likes is streamed', async () => {
  await put('large', 'x'.repeat(5_000_000));
  const stream = packContext({ layers: [{ dir, prefix: '' }], files: [] });
  expect((await collect(stream)).byteLength).toBeGreaterThan(5_000_000);
});

test('a directory that vanishes is an error of the stream, not silence', async () => {
  const stream = packContext({ layers: [{ dir: join(dir, 'missing'), prefix: '' }], files: [] });
  expect(await collect(stream).catch((thrown: unknown) => thrown)).toMatchObject({ code: 'ENOENT' });
});

describe('.dockerignore', () => {
  const kept = async (dockerignore: string): Promise<string[]> => {
    for (const path of ['a.log', 'src/a.js', 'src/b.log', 'keep/x', 'keep/y', 'README.md', '.env'])
      await put(path, 'x');
    const ignore = createDockerignore(dockerignore);
    const entries = await entriesOf({ layers: [{ dir, prefix: '', ignore }], files: [] });
    return entries.filter((entry) => entry.includes(' file ')).map((entry) => entry.split(' ')[0] ?? '');
  };
  const all = ['.env', 'README.md', 'a.log', 'keep/x', 'keep/y', 'src/a.js', 'src/b.log'];
  const cases: [string, string, string[]][] = [
    ['nothing', '', all],
    ['a pattern at the root only', '*.log', all.filter((path) => path !== 'a.log')],
    ['a pattern at any depth', '**/*.log', all.filter((path) => !path.endsWith('.log'))],
    ['a directory', 'src', all.filter((path) => !path.startsWith('src/'))],
    ['a directory with an exception', 'keep\n!keep/x', all.filter((path) => path !== 'keep/y')],
    ['everything but', '*\n!src', ['src/a.js', 'src/b.log']],
    ['a later rule over an earlier one', '*.md\n!README.md', all],
    ['comments', '# README.md\n.env', all.filter((path) => path !== '.env')],
  ];
  test.each(cases)('excludes %s', async (_what, text, expected) => expect(await kept(text)).toEqual(expected));

  test('of the Dockerfile itself wins over the general one', async () => {
    await put('.dockerignore', 'general');
    await put('build/prod.Dockerfile.dockerignore', 'special');
    expect((await readDockerignore(dir, 'Dockerfile'))?.ignores('general')).toBe(true);
    const special = await readDockerignore(dir, 'build/prod.Dockerfile');
    expect([special?.ignores('general'), special?.ignores('special')]).toEqual([false, true]);
  });

  test('may be missing', async () => expect(await readDockerignore(dir, 'Dockerfile')).toBeUndefined());
});
