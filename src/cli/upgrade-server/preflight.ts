import { Database } from 'bun:sqlite';
import { mkdirSync, rmSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { schemaVersion } from '#kernel/database';
import { localError } from '../failure.ts';
import { bytes } from '../output/format.ts';
import type { ServerProcess } from './process.ts';

export interface Checked {
  version: string;
  /** Newest schema that it knows. */
  schema: number;
  /** What the copy has after its migrations. */
  database: number;
  /** Of the server's settings: where its API listens, and the proxy's. */
  listen: string;
  proxyApiPort: number;
}

const LIMIT_MS = 120_000;

/** Starts the new executable beside the server, with the server's own settings, on a copy of its state. Nothing of the server changes. */
export const preflight = async (staged: string, server: ServerProcess, dataDir: string): Promise<Checked> => {
  const scratch = join(dataDir, '.upgrade-check');
  rmSync(scratch, { recursive: true, force: true });
  requireRoom(dataDir);
  mkdirSync(scratch, { mode: 0o700 });
  try {
    copyDatabase(join(dataDir, 'berth.db'), join(scratch, 'berth.db'));
    return await runCheck(staged, server, scratch);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

export const databaseSchema = (dataDir: string): number => {
  const db = new Database(join(dataDir, 'berth.db'), { readwrite: true, create: false, strict: true });
  try {
    return schemaVersion(db);
  } finally {
    db.close();
  }
};

const copyDatabase = (from: string, to: string): void => {
  const db = new Database(from, { readwrite: true, create: false, strict: true });
  try {
    db.exec('PRAGMA busy_timeout = 10000');
    db.query('VACUUM INTO ?1').run(to);
  } finally {
    db.close();
  }
};

/** The copy, its migration, and the copy that is kept at the real one. */
const requireRoom = (dataDir: string): void => {
  const needed = 4 * statSync(join(dataDir, 'berth.db')).size;
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < needed)
    throw localError(
      `the upgrade needs ${bytes(needed)} at ${dataDir}, where ${bytes(bavail * bsize)} are free`,
      'free disk space, then run it again; nothing was changed',
    );
};

const runCheck = async (staged: string, server: ServerProcess, scratch: string): Promise<Checked> => {
  // `server`, or `server run`: what follows are its flags.
  const flags = server.argv.slice(server.argv[1] === 'run' ? 2 : 1);
  const child = spawn([staged, 'server', 'check', '--copy', scratch, '--json', ...flags], server);
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
  const [said, complained, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  clearTimeout(timer);
  if (code === 0) return JSON.parse(said) as Checked;
  throw localError(`the new executable does not fit this server: ${reasonOf(complained, code)}`, hintOf(complained));
};

const spawn = (argv: string[], { cwd, env }: ServerProcess) => {
  try {
    return Bun.spawn(argv, { cwd, env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' });
  } catch (thrown) {
    throw localError(
      'the new executable does not run on this machine',
      'take the one for its system and processor; nothing was changed',
      thrown,
    );
  }
};

const reasonOf = (complained: string, code: number): string => {
  if (code === 137) return `its check did not end within ${LIMIT_MS / 1000} s`;
  return bodyOf(complained)?.message ?? (complained.trim().split('\n').at(-1) || `its check ended with ${code}`);
};

const hintOf = (complained: string): string => {
  const hint = bodyOf(complained)?.hint;
  return `nothing was changed${hint === undefined ? '; use another version' : `; ${hint}`}`;
};

const bodyOf = (complained: string): { message: string; hint: string } | undefined => {
  try {
    const body = JSON.parse(complained.trim().split('\n').at(-1) ?? '') as { message?: string; hint?: string };
    return body.message === undefined ? undefined : { message: body.message, hint: body.hint ?? '' };
  } catch {
    // Whatever it wrote instead is shown as it is.
    return undefined;
  }
};
