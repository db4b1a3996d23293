import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dir } from '#engines/builder/source-tree';
import { readSourceTree } from '#engines/builder/source-tree-read';
import { BerthError } from '#kernel/errors';
import { treeOf } from './support.ts';

const root = mkdtempSync(join(tmpdir(), 'berth-tree-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('a folder on disk', () => {
  const source = join(root, 'source');
  mkdirSync(join(source, 'src/deep'), { recursive: true });
  for (const folder of ['.git', 'node_modules/a', '.venv', '__pycache__', '.service'])
    mkdirSync(join(source, folder), { recursive: true });
  for (const file of ['b.txt', 'a.txt', 'src/deep/c.txt', '.git/config', 'node_modules/a/index.js', '.env'])
    writeFileSync(join(source, file), file);
  writeFileSync(join(root, 'secret'), 'secret');
  symlinkSync(join(root, 'secret'), join(source, 'link'));
  symlinkSync(root, join(source, 'folder-link'));
  writeFileSync(join(source, 'run.sh'), '');
  chmodSync(join(source, 'run.sh'), 0o755);
  const tree = readSourceTree(source);

  test('is listed in order, without links and excluded folders', () => {
    expect(tree.files).toEqual(['.env', 'a.txt', 'b.txt', 'run.sh', 'src/deep/c.txt']);
  });

  test('only what was listed can be read', () => {
    expect([tree.read('src/deep/c.txt'), tree.read('link'), tree.read('../secret'), tree.read('.git/config')]).toEqual([
      'src/deep/c.txt',
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('a file that became a link after the listing is not followed', () => {
    rmSync(join(source, 'b.txt'));
    symlinkSync(join(root, 'secret'), join(source, 'b.txt'));
    expect(() => tree.read('b.txt')).toThrow('ELOOP');
  });

  test('the executable bit is seen', () => {
    expect([tree.isExecutable?.('run.sh'), tree.isExecutable?.('a.txt')]).toEqual([true, false]);
  });

  test('a file that is too large to be a manifest reads as missing', () => {
    writeFileSync(join(source, 'a.txt'), Buffer.alloc(9 * 1024 * 1024));
    expect(tree.read('a.txt')).toBeUndefined();
  });
});

test('too many files are refused', () => {
  const many = join(root, 'many');
  mkdirSync(many);
  for (let index = 0; index < 50_001; index += 1) writeFileSync(join(many, `f${index}`), '');
  expect(() => readSourceTree(many)).toThrow(BerthError);
}, 20_000);

test('a folder of a tree sees its own files only', () => {
  const dir = new Dir(treeOf({ 'a/x': '1', 'a/b/y': '2', 'ab/z': '3' })).dir('a');
  expect([dir.files(), dir.entries(), dir.has('x'), dir.has('../ab/z'), dir.hasDir('b'), dir.hasDir('c')]).toEqual([
    ['b/y', 'x'],
    ['b/', 'x'],
    true,
    false,
    true,
    false,
  ]);
});
