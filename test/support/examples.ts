import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packDirectory } from './berth.ts';

/** The apps that the repository shows. */
export const EXAMPLES_DIR = join(import.meta.dir, '../../examples');

export interface Edit {
  file: string;
  /** Must be there, so that an edit that changes nothing is noticed. */
  from: string;
  to: string;
  /** What the page says after it, where that is not `to`. */
  says?: string;
}

/** What is expected of an app of `examples/`. */
export interface Example {
  name: string;
  /** What its page says. */
  says: string;
  /** Where that page is; the root otherwise. */
  path?: string;
  /** What it keeps its data in. */
  needs?: 'postgres';
  /** A change of one line. */
  edit?: Edit;
  /** How the build steps that bring in toolchains and dependencies begin; these must not run again after the edit. */
  install: string[];
  /** What the log says when dependencies are compiled again, where they are kept in a cache and not in a layer. */
  compiles?: RegExp;
}

/** Packs `examples/<name>`, with one text in it replaced. */
export const packExample = async (name: string, edit?: Edit): Promise<Uint8Array> => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-example-'));
  try {
    cpSync(join(EXAMPLES_DIR, name), dir, {
      recursive: true,
      filter: (path) => !/\/(node_modules|\.service)(\/|$)/.test(path),
    });
    if (edit !== undefined) {
      const file = join(dir, edit.file);
      const text = readFileSync(file, 'utf8');
      if (!text.includes(edit.from)) throw new Error(`${name}/${edit.file} has no "${edit.from}"`);
      writeFileSync(file, text.replace(edit.from, edit.to));
    }
    return await packDirectory(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
