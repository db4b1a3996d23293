import type { Dir } from '../../source-tree.ts';
import { brokenManifest } from '../support/fields.ts';

/** What matters of a go.mod or go.work. */
export interface GoManifest {
  /** The module's path; empty in a go.work. */
  module: string;
  /** The versions that it asks for, as written; each is the least that will do. */
  versions: { written: string; line: number }[];
  requires: { path: string; version: string }[];
  replaces: { path: string; target: string; line: number }[];
  /** Folders of a workspace. */
  uses: { folder: string; line: number }[];
}

const DIRECTIVES = new Set([
  'module',
  'go',
  'toolchain',
  'godebug',
  'require',
  'replace',
  'exclude',
  'retract',
  'tool',
  'ignore',
  'use',
]);
const VERSION = /^\d+\.\d+(?:\.\d+)?(?:(?:rc|beta)\d+)?$/;

/** Reads a go.mod or go.work; undefined when there is none. */
export const readGoManifest = (dir: Dir, file: 'go.mod' | 'go.work'): GoManifest | undefined => {
  const text = dir.read(file);
  if (text === undefined) return undefined;
  const place = dir.path === '' ? file : `${dir.path}/${file}`;
  const manifest: GoManifest = { module: '', versions: [], requires: [], replaces: [], uses: [] };
  let block = '';
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const words = wordsOf(raw);
    const [first = '', second = ''] = words;
    if (first === '') continue;
    const fail = (why: string): Error => brokenManifest(place, String(index + 1), why);
    if (block !== '' && first === ')') {
      block = '';
      continue;
    }
    if (block === '' && !DIRECTIVES.has(first)) throw fail(`unknown directive: ${first.slice(0, 60)}`);
    if (block === '' && second === '(') {
      block = first;
      continue;
    }
    const problem = take(manifest, block === '' ? words : [block, ...words], index + 1);
    if (problem !== undefined) throw fail(problem);
  }
  if (block !== '') throw brokenManifest(place, undefined, `the block "${block} (" is not closed`);
  if (file === 'go.mod' && manifest.module === '')
    throw brokenManifest(place, '1', 'it has no module line such as "module example.com/app"');
  return manifest;
};

/** The words of a line without comments; quotes are allowed around each. */
const wordsOf = (line: string): string[] =>
  line
    .replace(/(^|\s)\/\/.*$/, '')
    .trim()
    .split(/\s+/)
    .map((word) => word.replace(/^(["`])(.*)\1$/, '$2'));

const take = (manifest: GoManifest, words: string[], line: number): string | undefined => {
  const [directive, first = '', second = ''] = words;
  if (directive === 'module') manifest.module = first;
  if (directive === 'go' || (directive === 'toolchain' && first !== 'default')) {
    const written = first.replace(/^go/, '').replace(/-.*$/, '');
    if (!VERSION.test(written))
      return `invalid ${directive} version ${JSON.stringify(first.slice(0, 40))}: write one such as 1.24`;
    manifest.versions.push({ written, line });
  }
  if (directive === 'use') manifest.uses.push({ folder: first, line });
  if (directive === 'require') {
    if (!second.startsWith('v')) return `require ${first.slice(0, 80)} names no version`;
    manifest.requires.push({ path: first, version: second });
  }
  if (directive === 'replace') {
    const arrow = words.indexOf('=>');
    if (arrow < 0) return 'a replace line needs =>';
    manifest.replaces.push({ path: first, target: words[arrow + 1] ?? '', line });
  }
  return undefined;
};
