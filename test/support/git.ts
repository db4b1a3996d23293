import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folder that is removed by `remove`. */
export const temporaryDir = (name: string): { dir: string; remove: () => void } => {
  const dir = mkdtempSync(join(tmpdir(), `${name}-`));
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
};

const ENV = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
};

/** Git as a developer has it, in a repository. */
export const rawGit = (dir: string, args: readonly string[], input: string | Uint8Array = ''): Buffer =>
  execFileSync('git', args, { cwd: dir, env: ENV, input, stdio: ['pipe', 'pipe', 'pipe'], maxBuffer: 1 << 28 });

export const rawText = (dir: string, args: readonly string[], input: string | Uint8Array = ''): string =>
  rawGit(dir, args, input).toString('utf8').trim();

/** What git fsck finds; empty when all is well. */
export const fsck = (dir: string): string =>
  rawText(dir, ['fsck', '--full', '--strict', '--no-dangling', '--no-progress']);

export type Content = string | Uint8Array;

export interface Made {
  branch?: string;
  /** Marks; the branch's head by default. `null`: a root commit. */
  from?: number | null;
  merge?: number[];
  message?: Content;
  author?: string;
  at?: string;
  /** Paths are bytes as Latin-1 where `raw` is true. */
  files?: Record<string, { mode?: string; content?: Content; id?: string } | Content | null>;
  raw?: boolean;
}

/** A stream for `git fast-import`; commits have marks from 1. */
export class ImportStream {
  readonly #parts: Buffer[] = [];
  #mark = 0;
  #at = 1_700_000_000;

  commit({ branch = 'main', from, merge = [], message = 'a commit', author, at, files = {}, raw }: Made): number {
    this.#mark += 1;
    this.#at += 60;
    const who = `${author ?? 'Ann <ann@example.com>'} ${at ?? `${this.#at} +0000`}`;
    this.#say(`commit refs/heads/${branch}\nmark :${this.#mark}\nauthor ${who}\ncommitter ${who}\n`);
    this.#data(message);
    if (from === null) this.#say(`deleteall\n`);
    else if (from !== undefined) this.#say(`from :${from}\n`);
    for (const mark of merge) this.#say(`merge :${mark}\n`);
    for (const [path, given] of Object.entries(files)) this.#file(path, given, raw === true ? 'latin1' : 'utf8');
    this.#say('\n');
    return this.#mark;
  }

  say(text: string): void {
    this.#say(text);
  }

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  #file(path: string, given: NonNullable<Made['files']>[string], encoding: 'latin1' | 'utf8'): void {
    const quoted = Buffer.from(
      `"${path.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')}"\n`,
      encoding,
    );
    if (given === null) {
      this.#parts.push(Buffer.from('D '), quoted);
      return;
    }
    const file = typeof given === 'string' || given instanceof Uint8Array ? { content: given } : given;
    const { mode = '100644', content = '', id } = file;
    this.#parts.push(Buffer.from(`M ${mode} ${id ?? 'inline'} `), quoted);
    if (id === undefined) this.#data(content);
  }

  #data(content: Content): void {
    const bytes = Buffer.from(content);
    this.#say(`data ${bytes.length}\n`);
    this.#parts.push(bytes, Buffer.from('\n'));
  }

  #say(text: string): void {
    this.#parts.push(Buffer.from(text));
  }
}

/** Commits in a repository; ids by mark. */
export const importInto = (dir: string, build: (stream: ImportStream) => void): string[] => {
  const stream = new ImportStream();
  build(stream);
  rawGit(
    dir,
    ['fast-import', '--quiet', '--force', '--date-format=raw-permissive', '--export-marks=marks'],
    stream.bytes(),
  );
  const ids: string[] = [];
  for (const line of readFileSync(join(dir, 'marks'), 'utf8').trim().split('\n')) {
    const [mark = '', id = ''] = line.split(' ');
    ids[Number(mark.slice(1))] = id;
  }
  rmSync(join(dir, 'marks'));
  return ids;
};
