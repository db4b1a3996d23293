import { createHash } from 'node:crypto';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runGit } from './git-run.ts';

const COMMITS = 20_000;
const FOLDERS = 40;
const FILES_EACH = 50;
/** Of text that deflates to three quarters. */
const FILE_BYTES = 4_600;

/**
 * A bare repository of about 100 MB with 20,000 commits in 2,000 files, each time the same; packed, with a bitmap. It is
 * kept in the temporary folder of the machine.
 */
export const bigRepository = async (say: (line: string) => void): Promise<string> => {
  const dir = join(tmpdir(), `berth-bench-repository-${COMMITS}-${FILE_BYTES}.git`);
  if (existsSync(dir)) return dir;
  say(`making a repository of ${COMMITS} commits in ${dir}`);
  const part = `${dir}.${process.pid}`;
  rmSync(part, { recursive: true, force: true });
  await runGit('/', 'init', '--quiet', '--bare', '--initial-branch=main', part);
  const importer = Bun.spawn(['git', '-C', part, 'fast-import', '--quiet', '--depth=0'], { stdin: 'pipe' });
  for (let n = 0; n < COMMITS; n += 1) {
    await importer.stdin.write(commitText(n));
    if (n % 100 === 0) await importer.stdin.flush();
  }
  await importer.stdin.end();
  if ((await importer.exited) !== 0) throw new Error('git fast-import failed');
  await runGit(part, 'repack', '-a', '-d', '--write-bitmap-index', '--quiet');
  renameSync(part, dir);
  return dir;
};

const commitText = (n: number): string => {
  const path = `folder-${n % FOLDERS}/file-${Math.floor(n / FOLDERS) % FILES_EACH}.txt`;
  const message = `change ${n}`;
  const content = textOf(n);
  return [
    'commit refs/heads/main',
    `committer Ada <ada@example.org> ${1_700_000_000 + n * 60} +0000`,
    `data ${message.length}\n${message}`,
    `M 100644 inline ${path}`,
    `data ${content.length}\n${content}`,
    '',
  ].join('\n');
};

/** Looks random, and is the same for the same number. */
const textOf = (n: number): string => {
  const parts: string[] = [];
  for (let size = 0, part = 0; size < FILE_BYTES; part += 1) {
    const word = createHash('sha512').update(`${n} ${part}`).digest('base64');
    parts.push(word);
    size += word.length + 1;
  }
  return parts.join('\n');
};

/** Bytes of a repository's packs. */
export const packedMegabytes = async (dir: string): Promise<number> => {
  const counted = await runGit(dir, 'count-objects', '-v');
  return Number(/^size-pack: (?<kib>\d+)$/m.exec(counted)?.groups?.['kib'] ?? Number.NaN) / 1024;
};
