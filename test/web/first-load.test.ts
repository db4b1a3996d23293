import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { buildWeb } from '../../scripts/build/web.ts';

const LIMIT = 150_000;

const folder = mkdtempSync(join(tmpdir(), 'berth-web-'));
const packed = new Map<string, number>();
let entries: string[] = [];

beforeAll(async () => {
  const { assets } = await buildWeb(join(folder, 'web'));
  for (const { file, gzip } of assets) if (file.endsWith('.js')) packed.set(basename(file), gzip ?? Infinity);
  entries = [...packed.keys()].filter((name) => name.startsWith('main-') || name.startsWith('theme-'));
}, 60_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const importsOf = (name: string, kind: 'import-statement' | 'dynamic-import'): string[] =>
  new Bun.Transpiler({ loader: 'js' })
    .scanImports(readFileSync(join(folder, 'web/assets', name), 'utf8'))
    .filter((found) => found.kind === kind)
    .map(({ path }) => basename(path));

/** These scripts, and what they can't begin without. */
const closure = (names: readonly string[], seen = new Set<string>()): Set<string> => {
  for (const name of names) {
    if (seen.has(name)) continue;
    seen.add(name);
    closure(importsOf(name, 'import-statement'), seen);
  }
  return seen;
};

const bytesOf = (names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + (packed.get(name) ?? Infinity), 0);

test('the shell is at most 150 kB of packed script', () => {
  expect(entries).toHaveLength(2);
  expect(bytesOf(closure(entries))).toBeLessThanOrEqual(LIMIT);
});

test('and so is the shell with the largest of the pages', () => {
  const shell = [...closure(entries)];
  const pages = shell.flatMap((name) => importsOf(name, 'dynamic-import'));
  expect(pages.length).toBeGreaterThan(20);
  const sizes = pages.map((page) => bytesOf(closure([...shell, page])));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(LIMIT);
});
