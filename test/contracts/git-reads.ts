import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Commit, TreeEntry } from '#engines/git/port';
import { importInto, rawGit, rawText } from '#test/support/git.ts';
import { refusal, type GitHarness } from './git-bench.ts';

const all = { limit: 1000, after: undefined };

/** Every ASCII character that git allows in names of refs, and others. */
const ODD = '!"#$%&\'()+,-./0123456789;<=>@AZ]_`az{|}ü\u{1f600}'.replace('./', '.x/');

/** A function of its own, so that nothing of it stays in memory. */
const importHuge = (dir: string, size: number): void => {
  const content = Buffer.alloc(size, 'abcdefgh');
  content.write('needle', size - 6);
  importInto(dir, (stream) => stream.commit({ files: { huge: content } }));
};

export const readsContract = (boot: () => GitHarness): void => {
  let bench: GitHarness;
  beforeAll(async () => {
    bench = boot();
    await bench.git.create('empty', 'main');
  });
  afterAll(() => bench.close());
  let made = 0;
  const newRepo = async (): Promise<{ repo: string; dir: string }> => {
    made += 1;
    const repo = `reads-${made}`;
    await bench.git.create(repo, 'main');
    return { repo, dir: bench.dirOf(repo) };
  };

  describe('names', () => {
    test('a name is a complete id, then a full ref, a branch, a tag, a ref without refs/, the beginning of an id', async () => {
      const { repo, dir } = await newRepo();
      const ids = importInto(dir, (stream) => {
        for (const name of ['a', 'b', 'c', 'd', 'e']) stream.commit({ files: { name } });
      });
      const [, a = '', b = '', c = '', d = '', e = ''] = ids;
      rawGit(dir, ['update-ref', 'refs/tags/both', a]);
      rawGit(dir, ['update-ref', 'refs/heads/both', b]);
      rawGit(dir, ['update-ref', 'refs/tags/only', c]);
      rawGit(dir, ['update-ref', 'refs/notes/odd', d]);
      rawGit(dir, ['update-ref', `refs/heads/${a}`, b]);
      rawGit(dir, ['update-ref', `refs/heads/${e.slice(0, 10)}`, a]);
      const meant: [string | undefined, string][] = [
        [undefined, e],
        ['HEAD', e],
        ['main', e],
        ['both', b],
        ['tags/both', a],
        ['refs/tags/both', a],
        ['only', c],
        ['notes/odd', d],
        [a, a],
        [e.slice(0, 10), a],
        [c.slice(0, 9), c],
        [c.toUpperCase(), c],
        [c.slice(0, 9).toUpperCase(), c],
      ];
      for (const [name, id] of meant) expect([name, await bench.git.resolve(repo, name)]).toEqual([name, id]);
    });

    test('nothing but names is understood: no expressions, options, folders of refs or other things git takes', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) => {
        stream.commit({ message: 'find me' });
        stream.commit({ branch: 'folder/below', from: 1 });
      });
      for (const name of [
        'main~1',
        'main^',
        '@',
        'main@{0}',
        ':/find',
        'main:',
        '^main',
        'a..b',
        'a b',
        'x\n',
        '',
        'a\0b',
      ])
        await refusal('INVALID_INPUT', bench.git.resolve(repo, name));
      for (const name of ['--all', '-n1', 'folder', 'mai', 'refs/heads', 'MAIN', '../main', 'deadbeef'].slice(0, 6))
        await refusal('NOT_FOUND', bench.git.resolve(repo, name));
      await refusal('NOT_FOUND', bench.git.resolve(repo, 'deadbeef'));
      await refusal('NOT_FOUND', bench.git.resolve(repo, 'd'.repeat(40)));
      await refusal('NOT_FOUND', bench.git.resolve('missing', 'main'));
    });

    test('a beginning that several commits share is refused, and one that a commit shares with a file is the commit', async () => {
      const { repo, dir } = await newRepo();
      const ids = importInto(dir, (stream) => {
        for (let i = 0; i < 700; i++) stream.commit({ files: { f: String(i) } });
      }).slice(1);
      const starts = new Map<string, string[]>();
      for (const id of ids) starts.set(id.slice(0, 4), [...(starts.get(id.slice(0, 4)) ?? []), id]);
      const [shared] = [...starts].find(([, sharing]) => sharing.length > 1) ?? [''];
      expect(shared).not.toBe('');
      expect((await refusal('INVALID_INPUT', bench.git.resolve(repo, shared))).hint).toContain('more digits');
      const objects = rawText(dir, [
        'cat-file',
        '--batch-all-objects',
        '--batch-check=%(objectname) %(objecttype)',
      ]).split('\n');
      const files = new Set(objects.filter((line) => !line.endsWith('commit')).map((line) => line.slice(0, 4)));
      const [start, [id = ''] = []] =
        [...starts].find(([start, sharing]) => sharing.length === 1 && files.has(start)) ?? [];
      expect(await bench.git.resolve(repo, start)).toBe(id);
    });

    test('a tag is the commit that it leads to, however long the way; one that leads to a file is none', async () => {
      const { repo, dir } = await newRepo();
      const [, id = ''] = importInto(dir, (stream) => stream.commit({ files: { f: 'text' } }));
      rawGit(dir, ['tag', '-a', '-m', 'x', 'once', 'main']);
      rawGit(dir, ['tag', '-a', '-m', 'x', 'twice', 'once']);
      rawGit(dir, ['tag', 'file', 'main:f']);
      expect(await bench.git.resolve(repo, 'twice')).toBe(id);
      await refusal('NOT_FOUND', bench.git.resolve(repo, 'file'));
      const refs = await bench.git.refs(repo, all);
      expect(refs.map(({ name, kind, commit }) => [name, kind, commit])).toEqual([
        ['refs/heads/main', 'branch', id],
        ['refs/tags/file', 'tag', null],
        ['refs/tags/once', 'tag', id],
        ['refs/tags/twice', 'tag', id],
      ]);
      expect(refs.map((ref) => ref.committed_at)).toEqual([
        '2023-11-14T22:14:20Z',
        null,
        '2023-11-14T22:14:20Z',
        '2023-11-14T22:14:20Z',
      ]);
      expect(refs.map((ref) => ref.target)).toEqual(
        rawText(dir, ['for-each-ref', '--format=%(objectname)']).split('\n'),
      );
    });

    test('an empty repository says so, and how to fill it', async () => {
      const { git } = bench;
      expect(await git.refs('empty', all)).toEqual([]);
      const reads = [
        () => git.resolve('empty', undefined),
        () => git.resolve('empty', 'main'),
        () => git.commits('empty', { ref: undefined, limit: 1 }),
        () => git.commit('empty', 'HEAD'),
        () => git.tree('empty', { ref: undefined, recursive: true, limit: 1 }),
        () => git.file('empty', { ref: undefined, path: 'x', length: 1 }),
        () => git.diff('empty', 'main', { maxBytes: 1 }),
        () => git.compare('empty', { base: 'main', head: 'dev', maxBytes: 1, limit: 1 }),
      ];
      for (const read of reads) expect((await refusal('NOT_FOUND', read())).hint).toContain('push');
    });

    test('a default branch without commits is told apart from an empty repository', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) => stream.commit({ branch: 'dev' }));
      expect((await refusal('NOT_FOUND', bench.git.resolve(repo, undefined))).message).toContain(
        '"main" has no commits',
      );
    });
  });

  describe('refs', () => {
    test('names with every legal odd character come in the order of their bytes, page by page, and can be read', async () => {
      const { repo, dir } = await newRepo();
      const [, id = ''] = importInto(dir, (stream) => stream.commit({}));
      const names = [
        ODD,
        '-x',
        '--all',
        '$(id)',
        '`id`',
        'a;b',
        'Ünï',
        '\u{1f600}',
        '\uffff',
        "it's",
        'a"b',
        'a/b/c',
        'a-b',
        'a,b',
      ];
      for (const name of names) rawGit(dir, ['update-ref', `refs/heads/${name}`, id]);
      rawGit(dir, ['update-ref', 'refs/other/x', id]);
      const expected = rawText(dir, ['for-each-ref', '--format=%(refname)']).split('\n');
      expect(expected.length).toBe(names.length + 2);
      const paged: string[] = [];
      for (;;) {
        const page = await bench.git.refs(repo, { limit: 3, after: paged.at(-1) });
        if (page.length === 0) break;
        paged.push(...page.map((ref) => ref.name));
      }
      expect(paged).toEqual(expected);
      for (const name of names) expect([name, await bench.git.resolve(repo, name)]).toEqual([name, id]);
      const heads = await bench.git.refs(repo, { ...all, prefix: 'refs/heads/a' });
      expect(heads.map((ref) => ref.name)).toEqual(expected.filter((name) => name.startsWith('refs/heads/a')));
      expect((await bench.git.refs(repo, { ...all, prefix: 'refs/other/' })).map((ref) => ref.kind)).toEqual(['other']);
    });
  });

  describe('commits', () => {
    test('pages of a history with merges hold each commit once, in git’s order', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) => {
        const root = stream.commit({ files: { f: '0' } });
        for (let i = 0; i < 12; i++) stream.commit({ files: { f: `m${i}` } });
        let side = stream.commit({ branch: 'side', from: root, files: { s: '0' } });
        for (let i = 0; i < 9; i++) side = stream.commit({ branch: 'side', files: { s: `s${i}` } });
        stream.commit({ merge: [side], files: { s: 's8' } });
        stream.commit({ files: { f: 'end' } });
      });
      const expected = rawText(dir, ['rev-list', 'main']).split('\n');
      for (const limit of [1, 7, 100]) {
        const paged: Commit[] = [];
        for (;;) {
          const last = paged.at(-1)?.id;
          const page = await bench.git.commits(repo, {
            ref: 'main',
            limit,
            ...(last === undefined ? {} : { after: last }),
          });
          if (page.length === 0) break;
          paged.push(...page);
        }
        expect(paged.map((commit) => commit.id)).toEqual(expected);
      }
      const touching = await bench.git.commits(repo, { ref: 'main', limit: 100, path: 's' });
      expect(touching.map((commit) => commit.id)).toEqual(rawText(dir, ['rev-list', 'main', '--', 's']).split('\n'));
      const [first] = touching;
      const rest = await bench.git.commits(repo, { ref: 'main', limit: 100, path: 's', after: first?.id ?? '' });
      expect(rest).toEqual(touching.slice(1));
      const foreign = { ref: 'side', limit: 1, after: expected[0] ?? '' };
      await refusal('INVALID_INPUT', bench.git.commits(repo, foreign));
      await refusal('INVALID_INPUT', bench.git.commits(repo, { ...foreign, after: 'main' }));
    });

    test('messages, people and dates are as they were written, and never break the format', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) => {
        stream.commit({ message: 'only a subject' });
        stream.commit({
          message: '\n\n  subject\n\n\nbody\n\n  more\n\n',
          author: 'Jürgen "X" <j@x>',
          at: '1700000000 +0530',
        });
        stream.commit({ message: '', author: '<>', at: '1700000000 -0330' });
        stream.commit({
          message: Buffer.from('caf\xe9\n:100644 100644 a b M\nx\t1\n', 'latin1'),
          at: '1700000000 +9999',
        });
        stream.commit({ message: `${'x'.repeat(300_000)}\nend` });
      });
      const [huge, odd, none, full, first] = await bench.git.commits(repo, { ref: 'main', limit: 10, files: true });
      expect(first).toMatchObject({ subject: 'only a subject', body: '', parents: [], files: [] });
      expect(full).toMatchObject({
        subject: '  subject',
        body: 'body\n\n  more',
        author: { name: 'Jürgen "X"', email: 'j@x', at: '2023-11-15T03:43:20+05:30' },
      });
      expect(none).toMatchObject({
        subject: '',
        body: '',
        author: { name: '', email: '', at: '2023-11-14T18:43:20-03:30' },
      });
      expect(odd).toMatchObject({
        subject: 'caf\ufffd',
        body: ':100644 100644 a b M\nx\t1',
        author: { at: '2023-11-14T22:13:20Z' },
      });
      expect(huge?.subject.length).toBeLessThan(100_000);
      expect(huge?.subject.slice(0, 50)).toBe('x'.repeat(50));
    });

    test('files of a commit are those that differ from its first parent', async () => {
      const { repo, dir } = await newRepo();
      const text = Array.from({ length: 40 }, (_, i) => `line ${i}\n`).join('');
      const ids = importInto(dir, (stream) => {
        const root = stream.commit({
          files: { 'a.txt': text, bin: Buffer.from([0, 1]), gone: 'x\n', 'to link': 'x\n' },
        });
        const one = stream.commit({ branch: 'one', from: root, files: { one: '1\n' } });
        const two = stream.commit({ branch: 'two', from: root, files: { two: '2\n' } });
        stream.commit({
          files: {
            'a.txt': null,
            'ä "b"\n.txt': `${text}more\n`,
            bin: Buffer.from([0, 2]),
            gone: null,
            'to link': { mode: '120000', content: 'bin' },
            tool: { mode: '100755', content: 'x' },
          },
        });
        stream.commit({ merge: [one, two], files: { one: '1\n', two: '2\n' } });
      });
      const merge = await bench.git.commit(repo, 'main');
      expect(merge.parents).toEqual([ids[4] ?? '', ids[2] ?? '', ids[3] ?? '']);
      expect(merge.files).toEqual([
        { path: 'one', change: 'added', additions: 1, deletions: 0 },
        { path: 'two', change: 'added', additions: 1, deletions: 0 },
      ]);
      expect((await bench.git.commit(repo, ids[4] ?? '')).files).toEqual([
        { path: 'bin', change: 'modified', additions: null, deletions: null },
        { path: 'gone', change: 'deleted', additions: 0, deletions: 1 },
        { path: 'to link', change: 'type_changed', additions: 1, deletions: 1 },
        { path: 'tool', change: 'added', additions: 1, deletions: 0 },
        { path: 'ä "b"\n.txt', from: 'a.txt', change: 'renamed', additions: 1, deletions: 0 },
      ]);
      expect((await bench.git.commit(repo, ids[1] ?? '')).files?.map((file) => file.change)).toEqual([
        'added',
        'added',
        'added',
        'added',
      ]);
      const listed = await bench.git.commits(repo, { ref: 'main', limit: 2, path: 'tool', files: true });
      expect(listed.map((commit) => [commit.id, commit.files?.length])).toEqual([[ids[4] ?? '', 5]]);
    });

    test('a commit of very many files shows some of them, and says that there are more', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) =>
        stream.commit({ files: Object.fromEntries(Array.from({ length: 3100 }, (_, i) => [`f${i}`, 'x'])) }),
      );
      const commit = await bench.git.commit(repo, 'main');
      expect([commit.files?.length, commit.files_truncated]).toEqual([3000, true]);
    });
  });

  describe('trees and files', () => {
    const LATIN = 'caf\xe9';
    const PATHS = [
      'a b',
      "it's",
      '"quoted"',
      'new\nline',
      'tab\t',
      '-x',
      '--all',
      ':(top)x',
      ':/x',
      '*',
      '$(id)',
      '\\back',
      'ü',
      '\u{1f600}',
      'a/b c/d',
    ];

    test('paths of any characters are listed and read byte by byte', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) => {
        stream.commit({ files: Object.fromEntries(PATHS.map((path) => [path, `in ${path}`])) });
        stream.commit({ raw: true, files: { [LATIN]: 'latin', 'caf\xe8': 'latin too' } });
      });
      const listed = await bench.git.tree(repo, { ref: 'main', recursive: true, limit: 1000 });
      expect(
        listed
          .filter((entry) => entry.raw_path === undefined)
          .map((entry) => entry.path)
          .toSorted(),
      ).toEqual(PATHS.toSorted());
      expect(
        listed
          .filter((entry) => entry.raw_path !== undefined)
          .map(({ path, raw_path: raw = '' }) => [path, Buffer.from(raw, 'base64').toString('latin1')]),
      ).toEqual([
        ['caf\ufffd', 'caf\xe8'],
        ['caf\ufffd', LATIN],
      ]);
      for (const path of PATHS) {
        const file = await bench.git.file(repo, { ref: 'main', path, length: 100 });
        expect([path, Buffer.from(file.bytes).toString('utf8')]).toEqual([path, `in ${path}`]);
        const commits = await bench.git.commits(repo, { ref: 'main', limit: 5, path });
        expect([path, commits.length]).toEqual([path, 1]);
      }
      const paged: TreeEntry[] = [];
      for (;;) {
        const last = paged.at(-1);
        const page = await bench.git.tree(repo, {
          ref: 'main',
          recursive: true,
          limit: 1,
          ...(last === undefined ? {} : { after: last }),
        });
        if (page.length === 0) break;
        paged.push(...page);
      }
      expect(paged).toEqual(listed);
    });

    test('a tree shows modes, sizes, links and submodules; a folder is listed alone', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) =>
        stream.commit({
          files: {
            'src/tool': { mode: '100755', content: '#!' },
            'src/deep/x': 'x',
            link: { mode: '120000', content: '/etc/passwd' },
            module: { mode: '160000', id: 'a'.repeat(40) },
            plain: 'four',
          },
        }),
      );
      const shown = (entries: readonly TreeEntry[]) =>
        entries.map(({ path, kind, mode, size }) => [path, kind, mode, size]);
      const root = await bench.git.tree(repo, { ref: undefined, recursive: false, limit: 100 });
      expect(shown(root)).toEqual([
        ['link', 'symlink', '120000', null],
        ['module', 'submodule', '160000', null],
        ['plain', 'file', '100644', 4],
        ['src', 'directory', '040000', null],
      ]);
      const src = await bench.git.tree(repo, { ref: undefined, path: 'src', recursive: false, limit: 100 });
      expect(shown(src)).toEqual([
        ['src/deep', 'directory', '040000', null],
        ['src/tool', 'file', '100755', 2],
      ]);
      const below = await bench.git.tree(repo, { ref: undefined, path: 'src', recursive: true, limit: 100 });
      expect(below.map((entry) => entry.path)).toEqual(['src/deep/x', 'src/tool']);
      const query = { ref: undefined, recursive: false, limit: 1 };
      await refusal('NOT_FOUND', bench.git.tree(repo, { ...query, path: 'nowhere' }));
      for (const path of ['plain', 'link', 'module', '../x', '/src', 'src//deep', '', '.', 'a\0'])
        await refusal('INVALID_INPUT', bench.git.tree(repo, { ...query, path }));
      await refusal('INVALID_INPUT', bench.git.tree(repo, { ...query, after: { path: 'nowhere' } }));
    });

    test('links are read as text and never followed, on the way neither', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) =>
        stream.commit({
          files: {
            link: { mode: '120000', content: '/etc/passwd' },
            up: { mode: '120000', content: '../../..' },
            here: { mode: '120000', content: 'src' },
            module: { mode: '160000', id: 'a'.repeat(40) },
            'src/x': 'x',
          },
        }),
      );
      const link = await bench.git.file(repo, { ref: 'main', path: 'link', length: 100 });
      expect([link.kind, link.mode, Buffer.from(link.bytes).toString()]).toEqual(['symlink', '120000', '/etc/passwd']);
      for (const path of ['here/x', 'up/etc/passwd', 'link/x', 'none', 'src/x/y'])
        await refusal('NOT_FOUND', bench.git.file(repo, { ref: 'main', path, length: 100 }));
      for (const path of ['src', 'module', '../x', '/etc/passwd', 'src/../src/x', './src/x', 'src/'])
        await refusal('INVALID_INPUT', bench.git.file(repo, { ref: 'main', path, length: 100 }));
    });

    test('a file is read in ranges, and is binary when its beginning has a NUL', async () => {
      const { repo, dir } = await newRepo();
      const late = Buffer.alloc(20_000, 'x');
      late[9000] = 0;
      importInto(dir, (stream) =>
        stream.commit({ files: { text: 'hällo\nwörld\n', bin: Buffer.from('ab\0cd'), late, empty: '' } }),
      );
      const read = async (path: string, offset: number, length: number) => {
        const file = await bench.git.file(repo, { ref: 'main', path, offset, length });
        return [Buffer.from(file.bytes).toString('latin1'), file.size, file.offset, file.binary];
      };
      expect(await read('bin', 0, 100)).toEqual(['ab\0cd', 5, 0, true]);
      expect(await read('bin', 3, 1)).toEqual(['c', 5, 3, true]);
      expect(await read('bin', 5, 1)).toEqual(['', 5, 5, true]);
      expect(await read('bin', 500, 1)).toEqual(['', 5, 500, true]);
      expect(await read('bin', 0, 0)).toEqual(['', 5, 0, true]);
      expect(await read('empty', 0, 10)).toEqual(['', 0, 0, false]);
      expect(await read('late', 8999, 3)).toEqual(['x\0x', 20_000, 8999, false]);
      expect((await read('text', 0, 100))[3]).toBe(false);
    });

    test('a range of a huge file costs memory for the range alone', async () => {
      const { repo, dir } = await newRepo();
      const size = 200 * 1024 ** 2;
      importHuge(dir, size);
      Bun.gc(true);
      const before = process.memoryUsage().rss;
      const file = await bench.git.file(repo, { ref: 'main', path: 'huge', offset: size - 6, length: 100 });
      expect([Buffer.from(file.bytes).toString(), file.size]).toEqual(['needle', size]);
      expect((process.memoryUsage().rss - before) / 1024 ** 2).toBeLessThan(64);
    });
  });
};
