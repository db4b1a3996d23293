import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { importInto, rawGit, rawText } from '#test/support/git.ts';
import { refusal, type GitHarness } from './git-bench.ts';

const never = new AbortController().signal;

const entriesOf = async (tar: Readable): Promise<Map<string, string>> => {
  const found = new Map<string, string>();
  const unpack = extract();
  tar.on('error', (error) => unpack.destroy(error));
  for await (const entry of tar.pipe(unpack)) {
    const { name, type, mode, linkname } = entry.header;
    const text = (await buffer(entry)).toString('utf8');
    found.set(name, type === 'file' ? `${(mode & 0o777).toString(8)} ${text}` : `${type} ${linkname ?? ''}`.trim());
  }
  return found;
};

export const archiveContract = (boot: () => GitHarness): void => {
  let bench: GitHarness;
  beforeAll(() => {
    bench = boot();
  });
  afterAll(() => bench.close());
  let made = 0;
  const newRepo = async (): Promise<{ repo: string; dir: string }> => {
    made += 1;
    const repo = `archives-${made}`;
    await bench.git.create(repo, 'main');
    return { repo, dir: bench.dirOf(repo) };
  };

  describe('an archive', () => {
    const files = {
      'app/run': { mode: '100755', content: 'run' },
      'app/x y': 'x',
      'app/link': { mode: '120000', content: '/etc/passwd' },
      'app/notes': 'n',
      'app/.gitattributes': 'notes export-ignore\n',
      module: { mode: '160000', id: 'a'.repeat(40) },
      top: 'top',
    };

    test('has the files of a commit, links as links, below a folder when asked', async () => {
      const { repo, dir } = await newRepo();
      const [, commit = ''] = importInto(dir, (stream) => stream.commit({ files }));
      const below = await entriesOf(await bench.git.archive(repo, { commit, root: 'app', gzip: false, signal: never }));
      expect([...below]).toEqual([
        ['.gitattributes', '644 notes export-ignore\n'],
        ['link', 'symlink /etc/passwd'],
        ['run', '755 run'],
        ['x y', '644 x'],
      ]);
      const gzipped = await buffer(
        await bench.git.archive(repo, { commit, gzip: true, prefix: 'shop-1/', signal: never }),
      );
      const plain = await buffer(
        await bench.git.archive(repo, { commit, gzip: false, prefix: 'shop-1/', signal: never }),
      );
      expect(gunzipSync(gzipped).equals(plain)).toBe(true);
      expect(plain.includes('shop-1/app/run')).toBe(true);
      for (const root of ['top', 'app/link', '../app', '/app', 'app/'])
        await refusal('INVALID_INPUT', bench.git.archive(repo, { commit, root, gzip: false, signal: never }));
      await refusal('NOT_FOUND', bench.git.archive(repo, { commit, root: 'none', gzip: false, signal: never }));
      for (const prefix of ['x', '../x/', '/x/', '-x'])
        await refusal('INVALID_INPUT', bench.git.archive(repo, { commit, prefix, gzip: false, signal: never }));
      await refusal('NOT_FOUND', bench.git.archive(repo, { commit: 'a'.repeat(40), gzip: false, signal: never }));
    });

    test('one that breaks off, or is not wanted any more, ends with an error and never looks whole', async () => {
      const { repo, dir } = await newRepo();
      const big = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)));
      const [, commit = ''] = importInto(dir, (stream) =>
        stream.commit({
          files: Object.fromEntries(
            Array.from({ length: 100 }, (_, i) => [`f${i}`, Buffer.concat([big, Buffer.from([i])])]),
          ),
        }),
      );
      const given = new AbortController();
      const tar = await bench.git.archive(repo, { commit, gzip: false, signal: given.signal });
      tar.once('data', () => given.abort(new Error('gone')));
      expect(
        await buffer(tar).then(
          () => 'whole',
          (error: Error) => error.message,
        ),
      ).toBe('gone');
      const unread = await bench.git.archive(repo, { commit, gzip: false, signal: never });
      unread.destroy();
      // As a disk may lose a part of a file.
      const lost = rawText(dir, ['rev-parse', 'main:f50']);
      const loose = join(dir, 'objects', lost.slice(0, 2), lost.slice(2));
      const pack = readdirSync(join(dir, 'objects/pack')).find((name) => name.endsWith('.pack'));
      const packed = readFileSync(join(dir, 'objects/pack', pack ?? ''));
      rmSync(join(dir, 'objects/pack'), { recursive: true });
      rawGit(dir, ['unpack-objects', '-q'], packed);
      rmSync(loose);
      const broken = await bench.git.archive(repo, { commit, gzip: false, signal: never });
      expect(
        await buffer(broken).then(
          () => 'whole',
          (error: Error) => error.name,
        ),
      ).toBe('GitFailure');
    });
  });
};
