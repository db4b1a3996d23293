import { expect, test } from 'bun:test';
import { decodeEntities, linkOf } from '../../web/repos/markdown-text.ts';
import { parsePatch, patchesOf } from '../../web/repos/patch.ts';
import { parseLines, parsePlace, repoTo, resolvePath } from '../../web/repos/places.ts';

const id = { project: 'shop', repo: 'web' };

test('a place keeps odd names, and refs with slashes, in one address', () => {
  const path = 'a b/100%/#1?.txt';
  const address = repoTo(id, 'file', path, { ref: 'feature/x#y' });
  const url = new URL(address, 'http://localhost');
  const rest = url.pathname.split('/').slice(5).map(decodeURIComponent).join('/');
  expect(parsePlace(rest)).toEqual({ section: 'file', path });
  expect(url.searchParams.get('ref')).toBe('feature/x#y');
  expect(repoTo(id, 'tree')).toBe('/p/shop/repos/web');
});

test('what is no part of a repository has no place', () => {
  expect(parsePlace('nowhere/x')).toBeUndefined();
  expect(parsePlace('')).toEqual({ section: 'tree', path: '' });
});

test('lines are read from the address, in either order, and nothing else is', () => {
  expect(parseLines('#L9-L3')).toEqual({ from: 3, to: 9 });
  expect(parseLines('#L7')).toEqual({ from: 7, to: 7 });
  expect(['', '#L0', '#Lx', '#L1-', '#other'].map(parseLines)).toEqual(Array.from({ length: 5 }));
});

test('links of a README stay inside of the repository, and never lead to a script', () => {
  const where = { id, at: 'v1', folder: 'docs' };
  expect(resolvePath('docs', '../src/./main.ts')).toBe('src/main.ts');
  expect(resolvePath('docs', '../../etc')).toBeUndefined();
  expect(linkOf('guide.md#top', where)).toEqual({ kind: 'here', to: '/p/shop/repos/web/file/docs/guide.md?ref=v1' });
  expect(linkOf('/src', where)).toEqual({ kind: 'here', to: '/p/shop/repos/web/tree/src?ref=v1' });
  expect(linkOf('https://example.org/', where)).toEqual({ kind: 'elsewhere', to: 'https://example.org/' });
  for (const bad of [
    'javascript:alert(1)',
    'java\nscript:alert(1)',
    '&#106;avascript:alert(1)',
    ' JAVASCRIPT:x',
    'data:text/html,x',
    'vbscript:x',
    '//evil.example',
    '\\\\evil',
    '../../x',
  ])
    expect(linkOf(bad, where)).toEqual({ kind: 'none' });
});

test('entities become characters, and unknown ones stay', () => {
  expect(decodeEntities('&lt;b&gt; &#60; &#x3c; &nothing; &#0; &#xd800;')).toBe('<b> < < &nothing; &#0; &#xd800;');
});

const PATCH = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@ context
 same
-diff --git a/x b/x
+--- not a head
\\ No newline at end of file
diff --git a/b.bin b/b.bin
index 1..2 100644
Binary files a/b.bin and b/b.bin differ
diff --git a/link b/link
deleted file mode 100644
--- a/link
+++ /dev/null
@@ -1 +0,0 @@
-text
diff --git a/link b/link
new file mode 120000
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+target
diff --git a/last b/last
similarity index 100%
rename from first
rename to last
`;

test('a patch is taken apart file by file, whatever its lines look like', () => {
  const [first, second] = parsePatch(PATCH);
  expect(first?.hunks[0]?.lines).toEqual([
    { kind: 'same', text: 'same', before: 1, after: 1 },
    { kind: 'removed', text: 'diff --git a/x b/x', before: 2, after: null },
    { kind: 'added', text: '--- not a head', before: null, after: 2 },
    { kind: 'note', text: 'No newline at end of file', before: null, after: null },
  ]);
  expect(second).toEqual({ hunks: [], binary: true, lines: 0 });
});

test('patches meet their files: a changed type has two, and a cut patch leaves the rest without', () => {
  const file = (path: string, change: 'modified' | 'type_changed' | 'renamed') => ({
    path,
    change,
    additions: 1,
    deletions: 1,
  });
  const files = [
    file('a.txt', 'modified'),
    file('b.bin', 'modified'),
    file('link', 'type_changed'),
    file('last', 'renamed'),
    file('more', 'modified'),
  ];
  const patches = patchesOf(files, PATCH);
  expect(patches[2]?.hunks.flatMap(({ lines }) => lines.map(({ text }) => text))).toEqual(['text', 'target']);
  expect(patches[3]).toEqual({ hunks: [], binary: false, lines: 0 });
  expect(patches[4]).toBeUndefined();
});
