import { describe, expect, test } from 'bun:test';
import { createIgnore } from '#kernel/source-rules';

describe('what is always excluded', () => {
  const ignores = createIgnore('');
  test.each(['.git', 'node_modules', '.service', '__pycache__', '.venv'])('%s, at any depth', (name) => {
    expect(ignores(name)).toBe(true);
    expect(ignores(`${name}/`)).toBe(true);
    expect(ignores(`${name}/x/y.js`)).toBe(true);
    expect(ignores(`packages/app/${name}/x`)).toBe(true);
    expect(ignores(`packages/app/${name}`)).toBe(true);
  });

  test.each(['.gitignore', '.github/x', 'my_node_modules/x', 'node_modules.md', 'src/.venvrc', '.servicerc'])(
    'not %s, which only looks like it',
    (path) => expect(ignores(path)).toBe(false),
  );
});

describe('.serviceignore', () => {
  const cases: [string, string, string[], string[]][] = [
    ['names a directory', 'dist/', ['dist', 'dist/', 'dist/a/b'], ['distx', 'src/dist/a', 'dist.zip']],
    ['names a prefix', 'tmp', ['tmp', 'tmp/x', 'tmpfile', 'tmp.log'], ['src/tmp', 'atmp']],
    ['names a file below a directory', 'docs/internal', ['docs/internal', 'docs/internal.md'], ['docs/index.md']],
    ['has comments and blank lines', '# dist\n\n   \nlogs/\n', ['logs/a'], ['dist/a', '# dist']],
    ['has Windows line ends', 'dist/\r\nlogs/\r\n', ['dist/a', 'logs/a'], ['src/a']],
    ['has a byte order mark', '\uFEFFdist/', ['dist/a'], ['src/a']],
    ['writes paths from the root', './dist/\n/logs/\n.//tmp/', ['dist/a', 'logs/a', 'tmp/a'], ['src/a']],
    ['has spaces around', '  dist/  ', ['dist/a'], ['src/a']],
    ['doubles slashes', 'dist//', ['dist/a'], ['src/a']],
    ['names nothing', '/\n.\n./\n', [], ['src/a', '.env', 'a']],
  ];
  test.each(cases)('%s', (_what, text, ignored, kept) => {
    const ignores = createIgnore(text);
    expect(ignored.filter((path) => !ignores(path))).toEqual([]);
    expect(kept.filter((path) => ignores(path))).toEqual([]);
  });
});
