import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { importInto } from '#test/support/git.ts';
import { refusal, type GitHarness } from './git-bench.ts';

export const diffsContract = (boot: () => GitHarness): void => {
  let bench: GitHarness;
  beforeAll(() => {
    bench = boot();
  });
  afterAll(() => bench.close());
  let made = 0;
  const newRepo = async (): Promise<{ repo: string; dir: string }> => {
    made += 1;
    const repo = `diffs-${made}`;
    await bench.git.create(repo, 'main');
    return { repo, dir: bench.dirOf(repo) };
  };

  describe('differences', () => {
    test('a diff is against the first parent, a root commit’s against nothing; paths limit it; it is cut at whole lines', async () => {
      const { repo, dir } = await newRepo();
      const ids = importInto(dir, (stream) => {
        stream.commit({ files: { 'new\nline': 'a\n', 'b c': 'b\n' } });
        stream.commit({ files: { 'new\nline': 'A\n', 'b c': 'B\n', ü: 'u' } });
        stream.commit({ branch: 'side', from: 1, files: { s: 's\n' } });
        stream.commit({ from: 2, merge: [3], files: { s: 's\n' } });
      });
      const root = await bench.git.diff(repo, ids[1] ?? '', { maxBytes: 10_000 });
      expect(root.files.map((file) => file.change)).toEqual(['added', 'added']);
      const second = await bench.git.diff(repo, ids[2] ?? '', { maxBytes: 10_000 });
      expect(second.patch).toContain('diff --git "a/new\\nline" "b/new\\nline"');
      expect(second.patch).toContain('diff --git a/ü b/ü');
      expect(second.patch).toContain('\n-b\n+B\n');
      expect(second.truncated).toBe(false);
      const limited = await bench.git.diff(repo, ids[2] ?? '', { maxBytes: 10_000, path: 'b c' });
      expect(limited.files.map((file) => file.path)).toEqual(['b c']);
      const cut = await bench.git.diff(repo, ids[2] ?? '', { maxBytes: 100 });
      expect(cut.truncated).toBe(true);
      expect(second.patch.startsWith(cut.patch)).toBe(true);
      expect(cut.patch.length).toBeLessThanOrEqual(100);
      expect(cut.patch.endsWith('\n')).toBe(true);
      expect((await bench.git.diff(repo, 'main', { maxBytes: 10_000 })).files.map((file) => file.path)).toEqual(['s']);
      await refusal('INVALID_INPUT', bench.git.diff(repo, 'main', { maxBytes: 1, path: '../x' }));
    });

    test('attributes and configuration of content change nothing and run nothing', async () => {
      const { repo, dir } = await newRepo();
      importInto(dir, (stream) => {
        stream.commit({ files: { '.gitattributes': '* diff=evil filter=evil -text\n', x: 'a\n' } });
        stream.commit({ files: { x: 'b\n', '.gitconfig': '[diff "evil"]\n\tcommand = touch /tmp/berth-evil\n' } });
      });
      expect((await bench.git.diff(repo, 'main', { maxBytes: 10_000 })).patch).toContain('-a\n+b\n');
    });

    test('a comparison starts where both histories parted', async () => {
      const { repo, dir } = await newRepo();
      const ids = importInto(dir, (stream) => {
        stream.commit({ files: { f: '1\n' } });
        stream.commit({ files: { onlyMain: '1\n' } });
        stream.commit({ branch: 'dev', from: 1, files: { d: '1\n' } });
        stream.commit({ branch: 'dev', files: { d: '2\n' } });
        stream.commit({ branch: 'alien', files: { a: 'alien\n' } });
      });
      const range = { base: 'main', head: 'dev', maxBytes: 10_000, limit: 10 };
      const found = await bench.git.compare(repo, range);
      expect(found).toMatchObject({ mergeBase: ids[1], ahead: 2, behind: 1 });
      expect(found.commits.map((commit) => commit.id)).toEqual([ids[4] ?? '', ids[3] ?? '']);
      expect(found.diff.files).toEqual([{ path: 'd', change: 'added', additions: 1, deletions: 0 }]);
      const same = await bench.git.compare(repo, { ...range, head: 'main' });
      expect(same).toMatchObject({
        ahead: 0,
        behind: 0,
        commits: [],
        diff: { files: [], patch: '', truncated: false },
      });
      const alien = await bench.git.compare(repo, { ...range, head: 'alien' });
      expect(alien).toMatchObject({ mergeBase: null, ahead: 1, behind: 2 });
      expect(alien.diff.files.map((file) => [file.path, file.change])).toEqual([
        ['a', 'added'],
        ['f', 'deleted'],
        ['onlyMain', 'deleted'],
      ]);
      await refusal('NOT_FOUND', bench.git.compare(repo, { ...range, head: 'none' }));
    });
  });
};
