import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import type { CommitAction, CommitRequest } from '#engines/git/port';
import { fsck, importInto, rawGit, rawText } from '#test/support/git.ts';
import { refusal, type GitHarness } from './git-bench.ts';

const AT = Date.parse('2026-03-04T05:06:07.890Z');

const write = (path: string, content: string | Uint8Array, executable?: boolean): CommitAction => ({
  action: 'write',
  path,
  content: Buffer.from(content),
  ...(executable === undefined ? {} : { executable }),
});
const commitOf = (actions: CommitAction[], more: Partial<CommitRequest> = {}): CommitRequest => ({
  branch: 'main',
  message: 'Change files',
  author: { name: 'ci', email: 'ci@berth.local' },
  at: AT,
  actions,
  ...more,
});

export const commitsContract = (boot: () => GitHarness): void => {
  let bench: GitHarness;
  beforeAll(() => {
    bench = boot();
  });
  afterAll(() => bench.close());
  let made = 0;
  const newRepo = async (branch = 'main'): Promise<{ repo: string; dir: string }> => {
    made += 1;
    const repo = `commits-${made}`;
    await bench.git.create(repo, branch);
    return { repo, dir: bench.dirOf(repo) };
  };
  const treeOf = (dir: string, ref = 'main'): string[] =>
    rawGit(dir, ['ls-tree', '-r', '-z', ref])
      .toString('utf8')
      .split('\0')
      .slice(0, -1)
      .map((line) => line.replace(/^(\d+) .*?\t/, '$1 '));

  describe('an API commit', () => {
    test('makes the first branch of an empty repository, which becomes its default one', async () => {
      const { repo, dir } = await newRepo();
      const made = await bench.git.writeCommit(repo, commitOf([write('a/b.txt', 'hello\n')], { branch: 'trunk' }));
      expect(made).toEqual({ id: rawText(dir, ['rev-parse', 'trunk']), before: null, firstBranch: true });
      expect(rawText(dir, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/trunk');
      expect(rawText(dir, ['cat-file', 'commit', 'trunk']).split('\n').slice(1)).toEqual([
        'author ci <ci@berth.local> 1772600767 +0000',
        'committer ci <ci@berth.local> 1772600767 +0000',
        '',
        'Change files',
      ]);
      expect(rawText(dir, ['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/trunk');
      expect(fsck(dir)).toBe('');
    });

    test('writes, deletes, moves and makes executable in one commit on top of the branch', async () => {
      const { repo, dir } = await newRepo();
      const [, base = ''] = importInto(dir, (stream) =>
        stream.commit({
          files: {
            keep: 'keep',
            edit: 'old',
            tool: { mode: '100755', content: 'old' },
            'old/name': 'moved',
            'folder/x': 'x',
            'folder/y': 'y',
            gone: 'gone',
            run: 'run',
            link: { mode: '120000', content: 'keep' },
            one: '1',
            two: '2',
          },
        }),
      );
      const made = await bench.git.writeCommit(
        repo,
        commitOf(
          [
            write('edit', 'new'),
            write('tool', 'new'),
            { action: 'move', from: 'old/name', path: 'new/name' },
            { action: 'move', from: 'folder', path: 'elsewhere/folder' },
            { action: 'delete', path: 'gone' },
            { action: 'mode', path: 'run', executable: true },
            write('link', 'a file now'),
            write('fresh', Buffer.from([0, 255, 10]), true),
            { action: 'move', from: 'one', path: 'two' },
            { action: 'move', from: 'two', path: 'one' },
          ],
          { expectedHead: base },
        ),
      );
      expect(made).toEqual({ id: rawText(dir, ['rev-parse', 'main']), before: base, firstBranch: false });
      expect(treeOf(dir)).toEqual([
        '100644 edit',
        '100644 elsewhere/folder/x',
        '100644 elsewhere/folder/y',
        '100755 fresh',
        '100644 keep',
        '100644 link',
        '100644 new/name',
        '100644 one',
        '100755 run',
        '100755 tool',
        '100644 two',
      ]);
      const shown = (path: string): string => rawGit(dir, ['cat-file', 'blob', `main:${path}`]).toString('latin1');
      expect(['edit', 'tool', 'fresh', 'one', 'two', 'link', 'new/name'].map(shown)).toEqual([
        'new',
        'new',
        '\0\xff\n',
        '2',
        '1',
        'a file now',
        'moved',
      ]);
      expect(rawText(dir, ['rev-list', '--count', 'main'])).toBe('2');
      expect(fsck(dir)).toBe('');
    });

    test('a moved file may be written to and made executable in the same commit', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) => stream.commit({ files: { a: 'old', b: { mode: '100755', content: 'old' } } }));
      await bench.git.writeCommit(
        repo,
        commitOf([
          { action: 'move', from: 'a', path: 'c' },
          { action: 'mode', path: 'c', executable: true },
          { action: 'move', from: 'b', path: 'd' },
          write('d', 'new'),
        ]),
      );
      expect(treeOf(dir)).toEqual(['100755 c', '100755 d']);
      expect(rawText(dir, ['cat-file', 'blob', 'main:d'])).toBe('new');
    });

    test('paths of any characters arrive byte by byte', async () => {
      const { repo, dir } = await newRepo();
      const paths = [
        '"q"',
        '$(id)',
        '*',
        '--all',
        '-x',
        ':(top)x',
        "it's",
        'new\nline',
        'ta\tb',
        '\\back\\n',
        'ü',
        '\u{1f600}',
        'a b/c d',
        '.gitx',
        'x.git',
        '...',
        'D gone',
      ];
      await bench.git.writeCommit(repo, commitOf(paths.map((path) => write(path, path))));
      expect(
        treeOf(dir)
          .map((line) => line.slice(7))
          .toSorted(),
      ).toEqual(paths.toSorted());
      const half = paths.filter((_, index) => index % 2 === 0);
      await bench.git.writeCommit(repo, commitOf(half.map((path) => ({ action: 'delete', path }))));
      expect(
        treeOf(dir)
          .map((line) => line.slice(7))
          .toSorted(),
      ).toEqual(paths.filter((path) => !half.includes(path)).toSorted());
      expect(fsck(dir)).toBe('');
    });

    test('what would change nothing makes no commit', async () => {
      const { repo, dir } = await newRepo();
      const [, base = ''] = importInto(dir, (stream) =>
        stream.commit({ files: { a: 'a', 'x/b': { mode: '100755', content: 'b' } } }),
      );
      const idle: CommitAction[][] = [
        [write('a', 'a'), write('x/b', 'b')],
        [{ action: 'mode', path: 'x/b', executable: true }],
        [{ action: 'delete', path: 'x' }, write('x/b', 'b', true)],
      ];
      for (const actions of idle) expect(await bench.git.writeCommit(repo, commitOf(actions))).toBeUndefined();
      expect(rawText(dir, ['rev-parse', 'main'])).toBe(base);
      expect(rawText(dir, ['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/main');
      const emptied = await bench.git.writeCommit(
        repo,
        commitOf([
          { action: 'delete', path: 'x' },
          { action: 'delete', path: 'a' },
        ]),
      );
      expect(treeOf(dir)).toEqual([]);
      expect(emptied?.before).toBe(base);
      expect(await bench.git.tree(repo, { ref: 'main', recursive: false, limit: 5 })).toEqual([]);
      await bench.git.writeCommit(repo, commitOf([write('again', 'x')]));
      expect(treeOf(dir)).toEqual(['100644 again']);
      expect(fsck(dir)).toBe('');
    });

    test('actions that do not fit what is there are refused by the path, and leave nothing', async () => {
      const { repo, dir } = await newRepo();
      const [, base = ''] = importInto(dir, (stream) =>
        stream.commit({ files: { file: 'x', 'folder/x': 'x', link: { mode: '120000', content: 'folder' } } }),
      );
      const wrong: [string, CommitAction[]][] = [
        ['missing', [{ action: 'delete', path: 'missing' }]],
        ['folder/none', [{ action: 'delete', path: 'folder/none' }]],
        ['missing', [{ action: 'move', from: 'missing', path: 'x' }]],
        ['missing', [{ action: 'mode', path: 'missing', executable: true }]],
        ['folder', [{ action: 'mode', path: 'folder', executable: true }]],
        ['link', [{ action: 'mode', path: 'link', executable: true }]],
        ['file', [write('file/below', 'x')]],
        ['link', [write('link/x', 'x')]],
        ['folder', [write('folder', 'x')]],
        ['new', [write('new', 'x'), write('new/x', 'x')]],
        ['file', [{ action: 'move', from: 'folder', path: 'file' }]],
        ['file', [{ action: 'move', from: 'file', path: 'file' }]],
        ['folder', [{ action: 'move', from: 'folder', path: 'folder/sub' }]],
        [
          'folder/x',
          [
            { action: 'delete', path: 'folder' },
            { action: 'delete', path: 'folder/x' },
          ],
        ],
        ['file', [write('file', 'a'), write('file', 'b')]],
        [
          'file',
          [
            { action: 'delete', path: 'file' },
            { action: 'move', from: 'file', path: 'y' },
          ],
        ],
        ['moved', [{ action: 'move', from: 'folder', path: 'moved' }, write('moved/z', 'z')]],
      ];
      for (const [path, actions] of wrong) {
        const error = await refusal('INVALID_INPUT', bench.git.writeCommit(repo, commitOf(actions)));
        expect(error.message).toContain(JSON.stringify(path));
      }
      await refusal('INVALID_INPUT', bench.git.writeCommit(repo, commitOf([])));
      expect(rawText(dir, ['rev-parse', 'main'])).toBe(base);
      const allowed: CommitAction[][] = [
        [{ action: 'delete', path: 'file' }, write('file/below', 'x')],
        [{ action: 'delete', path: 'folder' }, write('folder', 'x')],
        [
          { action: 'delete', path: 'link' },
          { action: 'move', from: 'folder', path: 'link' },
        ],
      ];
      for (const [index, actions] of allowed.entries()) {
        const branch = `allowed-${index}`;
        expect(await bench.git.writeCommit(repo, commitOf(actions, { branch }))).toEqual({
          id: expect.any(String),
          before: null,
          firstBranch: false,
        });
      }
      expect(treeOf(dir, 'allowed-0')).toContain('100644 file/below');
      expect(treeOf(dir, 'allowed-1')).toContain('100644 folder');
      expect(treeOf(dir, 'allowed-2')).toEqual(['100644 file', '100644 link/x']);
      expect(readdirSync(dir).filter((name) => name.startsWith('fast_import'))).toEqual([]);
      expect(fsck(dir)).toBe('');
    });

    const DISGUISES = [
      '.git',
      '.git/config',
      'a/.GIT/hooks/x',
      '.gi\u200ct',
      'GIT~1',
      '.git.',
      '.git ',
      '.git. .',
      '.git::$INDEX_ALLOCATION',
      'a\\.git\\config',
      '.git\\x',
      '.Gitmodules',
      '.gitmodules ',
      'gitmod~1',
      '.git:x',
    ];
    test.each([
      ...DISGUISES,
      '',
      '/',
      '/a',
      'a/',
      'a//b',
      '.',
      '..',
      '../a',
      'a/../b',
      'a/./b',
      'nul\0',
      'x'.repeat(256),
      `${'x/'.repeat(2100)}x`,
      '\ud800',
    ])('the path %j is refused, written to or moved to', async (path) => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) => stream.commit({ files: { a: 'a' } }));
      await refusal('INVALID_INPUT', bench.git.writeCommit(repo, commitOf([write(path, 'x')])));
      await refusal('INVALID_INPUT', bench.git.writeCommit(repo, commitOf([{ action: 'move', from: 'a', path }])));
    });

    test('files that git reads are held to what pushes are held to', async () => {
      const { repo, dir } = await newRepo();
      const module = (lines: string): string => `[submodule "lib"]\n${lines}`;
      const wrong = [
        '[submodule "../../x"]\n\tpath = x\n',
        module('\turl = -u./payload\n'),
        module('\tpath = --evil\n'),
        module('\tupdate = !touch x\n'),
        module('\turl = "-x"\n'),
        module('\turl = \\\n-x\n'),
        module('\turl = https://a/%0ahost=b\n'),
        '[submodule "a" url = x',
      ];
      for (const content of wrong)
        await refusal('INVALID_INPUT', bench.git.writeCommit(repo, commitOf([write('sub/.gitmodules', content)])));
      await refusal(
        'INVALID_INPUT',
        bench.git.writeCommit(repo, commitOf([write('.gitattributes', 'x'.repeat(2048))])),
      );
      await bench.git.writeCommit(
        repo,
        commitOf([
          write('.gitmodules', `# libs\n${module('\tpath = lib\n\turl = https://example.com/lib.git\n')}`),
          write('.gitattributes', '*.png binary\n'),
          write('bad', '[submodule "../x"]'),
        ]),
      );
      await refusal(
        'INVALID_INPUT',
        bench.git.writeCommit(repo, commitOf([{ action: 'move', from: 'bad', path: 'x/.gitmodules' }])),
      );
      expect(fsck(dir)).toBe('');
    });

    test('messages and identities cannot break the commit', async () => {
      const { repo, dir } = await newRepo();
      for (const message of ['', ' \n', 'a\0b', '\ud800', 'x'.repeat(70_000)])
        await refusal('INVALID_INPUT', bench.git.writeCommit(repo, commitOf([write('a', 'x')], { message })));
      const message = 'Sübject\n\ndata 5\nM 100644 inline x\n\ncommit refs/heads/evil\n';
      const author = { name: ' .A\n<b>\0 "C" <', email: 'x@y>\ncommitter evil <e@e> 1 +0000' };
      await bench.git.writeCommit(repo, commitOf([write('a', 'x')], { message, author }));
      const raw = rawText(dir, ['cat-file', 'commit', 'main']);
      expect(raw).toContain('author A b  "C <x@ycommitterevile@e1+0000> 1772600767 +0000\ncommitter A b ');
      expect(raw.endsWith(`\n\n${message.trim()}`)).toBe(true);
      await bench.git.writeCommit(repo, commitOf([write('a', 'y')], { author: { name: '<>', email: ' ' }, at: -5 }));
      expect(rawText(dir, ['cat-file', 'commit', 'main'])).toContain('author unknown <unknown@localhost> 0 +0000\n');
      expect(rawText(dir, ['for-each-ref', '--format=%(refname)'])).toBe('refs/heads/main');
      expect(fsck(dir)).toBe('');
    });

    test('expected_head decides: CONFLICT names where the branch is', async () => {
      const { repo, dir } = await newRepo();
      const first = await bench.git.writeCommit(repo, commitOf([write('a', '1')], { expectedHead: null }));
      const head = first?.id ?? '';
      expect(
        (await refusal('CONFLICT', bench.git.writeCommit(repo, commitOf([write('a', '2')], { expectedHead: null }))))
          .message,
      ).toContain(head);
      const second = await bench.git.writeCommit(repo, commitOf([write('a', '2')], { expectedHead: head }));
      const late = await refusal(
        'CONFLICT',
        bench.git.writeCommit(repo, commitOf([write('a', '3')], { expectedHead: head })),
      );
      expect(late.message).toContain(second?.id ?? 'none');
      const absent = commitOf([write('a', '3')], { branch: 'absent', expectedHead: head });
      expect((await refusal('CONFLICT', bench.git.writeCommit(repo, absent))).message).toContain('does not exist');
      await refusal(
        'INVALID_INPUT',
        bench.git.writeCommit(repo, commitOf([write('a', '3')], { expectedHead: 'main' })),
      );
      expect(rawText(dir, ['rev-list', '--count', 'main'])).toBe('2');
    });

    test('a dry run finds what would be refused, and writes nothing', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) => stream.commit({ files: { a: '1' } }));
      const before = rawText(dir, ['cat-file', '--batch-all-objects', '--batch-check']);
      expect(await bench.git.writeCommit(repo, commitOf([write('a', '2')], { dryRun: true }))).toBeUndefined();
      const missing = commitOf([{ action: 'delete', path: 'b' }], { dryRun: true });
      await refusal('INVALID_INPUT', bench.git.writeCommit(repo, missing));
      const late = commitOf([write('a', '2')], { dryRun: true, expectedHead: 'a'.repeat(40) });
      await refusal('CONFLICT', bench.git.writeCommit(repo, late));
      expect(rawText(dir, ['cat-file', '--batch-all-objects', '--batch-check'])).toBe(before);
    });

    test('a new branch starts at the default branch, or where it is told to', async () => {
      const { repo, dir } = await newRepo();
      const ids = importInto(dir, (stream) => {
        stream.commit({ files: { a: '1' } });
        stream.commit({ files: { a: '2' } });
      });
      await bench.git.writeCommit(repo, commitOf([write('b', 'x')], { branch: 'dev' }));
      expect(rawText(dir, ['rev-parse', 'dev^'])).toBe(ids[2] ?? '');
      await bench.git.writeCommit(repo, commitOf([write('b', 'x')], { branch: 'old/style', from: ids[1] ?? '' }));
      expect(rawText(dir, ['rev-parse', 'old/style^'])).toBe(ids[1] ?? '');
      expect(rawText(dir, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main');
      const unborn = commitOf([write('b', 'x')], { branch: 'x', from: 'a'.repeat(40) });
      await refusal('NOT_FOUND', bench.git.writeCommit(repo, unborn));
      const beside = await refusal(
        'CONFLICT',
        bench.git.writeCommit(repo, commitOf([write('b', 'y')], { branch: 'dev/x' })),
      );
      expect(beside.message).toContain('"dev"');
      await refusal('CONFLICT', bench.git.writeCommit(repo, commitOf([write('b', 'y')], { branch: 'old' })));
      for (const branch of [
        '-x',
        'HEAD',
        '@',
        'a..b',
        'a b',
        'a.lock',
        '.a',
        'a/',
        '',
        'a\nb',
        'b'.repeat(40),
        'refs/../x',
        'ü'.repeat(600),
      ])
        await refusal('INVALID_INPUT', bench.git.writeCommit(repo, commitOf([write('b', 'y')], { branch })));
      await refusal('NOT_FOUND', bench.git.writeCommit('missing', commitOf([write('b', 'y')])));
    });

    test('commits at once, beside pushes, are all there in the end, one after the other', async () => {
      const { repo, dir } = await newRepo();
      const [, base = ''] = importInto(dir, (stream) => stream.commit({ files: { a: '1' } }));
      const commits = Array.from({ length: 12 }, (_, i) =>
        bench.git.writeCommit(repo, commitOf([write(`f${i}`, String(i))])),
      );
      // Another process, which knows nothing of the order that API commits keep.
      const outside = rawText(dir, ['commit-tree', '-p', base, '-m', 'pushed', `${base}^{tree}`]);
      rawGit(dir, ['update-ref', 'refs/heads/main', outside, rawText(dir, ['rev-parse', 'main'])]);
      await Promise.all(commits);
      expect(treeOf(dir).length).toBe(13);
      expect(fsck(dir)).toBe('');
      const racing = await Promise.allSettled(
        Array.from({ length: 5 }, (_, i) =>
          bench.git.writeCommit(
            repo,
            commitOf([write(`g${i}`, 'x')], { expectedHead: rawText(dir, ['rev-parse', 'main']) }),
          ),
        ),
      );
      expect(racing.map((outcome) => outcome.status).toSorted()).toEqual([
        'fulfilled',
        'rejected',
        'rejected',
        'rejected',
        'rejected',
      ]);
    });
  });
};
