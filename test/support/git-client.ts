import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { atEnd } from './preload.ts';

export interface Ran {
  code: number;
  /** Both outputs. */
  text: string;
}

/** A folder that goes when the tests end. */
export const tempDir = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-git-client-'));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};

/** Beside the path: a person without any configuration. */
export const CLIENT_ENVIRONMENT = {
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_AUTHOR_DATE: '2024-01-02T03:04:05Z',
  GIT_COMMITTER_DATE: '2024-01-02T03:04:05Z',
  LC_ALL: 'C.UTF-8',
};

/** The machine's own git, as a person would call it in `dir`; `-c` settings by `settings`. */
export const tryGit = async (
  dir: string,
  args: readonly string[],
  more: { env?: Record<string, string>; input?: string | Uint8Array } = {},
): Promise<Ran> => {
  const child = Bun.spawn(['git', '-C', dir, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...CLIENT_ENVIRONMENT, ...more.env },
    stdin: more.input === undefined ? 'ignore' : Buffer.from(more.input),
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, text: out + err };
};

/** What it printed on both outputs; throws when it fails. */
export const git = async (dir: string, ...args: string[]): Promise<string> => {
  const { code, text } = await tryGit(dir, args);
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${text}`);
  return text.trimEnd();
};

/** A working copy with one commit on `main`. */
export const newWork = async (dir = tempDir()): Promise<string> => {
  mkdirSync(dir, { recursive: true });
  await git(dir, 'init', '--quiet', '--initial-branch=main');
  await commit(dir, { 'README.md': '# hello\n' });
  return dir;
};

/** Writes the files and commits everything; resolves with the commit's id. */
export const commit = async (
  dir: string,
  files: Record<string, string | Uint8Array>,
  message = 'change',
): Promise<string> => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  await git(dir, 'add', '--all');
  await git(dir, 'commit', '--quiet', '--allow-empty', '-m', message);
  return git(dir, 'rev-parse', 'HEAD');
};
