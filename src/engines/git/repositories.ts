import { existsSync } from 'node:fs';
import { lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BerthError, conflict } from '#kernel/errors';
import type { GitDeps } from './deps.ts';
import { branchRef, requireRefName } from './names.ts';
import type { Git } from './port.ts';

type Part = Pick<Git, 'version' | 'create' | 'remove' | 'list' | 'setDefaultBranch' | 'deleteRef' | 'sizeBytes'>;

/** Repositories as wholes. */
export const createRepositories = ({ git, places }: GitDeps): Part => ({
  version: async () => (await git.text({ args: ['version'] })).replace(/^git version /, '').trim(),
  create: async (repo, defaultBranch) => {
    const path = places.of(repo);
    const ref = branchRef(defaultBranch);
    if (existsSync(path)) throw conflict('the git repository exists already', 'use it, or choose another name');
    const fresh = aside(path, 'new');
    await rm(fresh, { recursive: true, force: true });
    await mkdir(places.dir, { recursive: true, mode: 0o700 });
    const branch = ref.slice('refs/heads/'.length);
    await git.run({
      args: ['init', '--quiet', '--bare', '--object-format=sha1', `--initial-branch=${branch}`, '--', fresh],
    });
    // Whole or not there: a crash leaves nothing that looks like a repository.
    await rename(fresh, path);
  },
  remove: async (repo) => {
    const path = places.of(repo);
    const gone = aside(path, 'gone');
    await rm(gone, { recursive: true, force: true });
    await rm(aside(path, 'new'), { recursive: true, force: true });
    if (existsSync(path)) await rename(path, gone);
    await rm(gone, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  },
  list: async () => {
    if (!existsSync(places.dir)) return [];
    const names = await readdir(places.dir);
    return names.filter((name) => /^[^.].*\.git$/.test(name)).map((name) => name.slice(0, -'.git'.length));
  },
  setDefaultBranch: async (repo, branch) => {
    await git.run({ repo, args: ['symbolic-ref', 'HEAD', branchRef(branch)] });
  },
  deleteRef: async (repo, ref) => {
    const name = requireRefName(ref);
    const found = await git.run({ repo, args: ['show-ref', '--verify', '--quiet', '--', name], accept: [0, 1, 128] });
    if (found.code !== 0) {
      throw new BerthError('NOT_FOUND', `no ref named "${name}"`, {
        hint: 'give its full name, such as refs/heads/main',
      });
    }
    await git.run({ repo, args: ['update-ref', '-d', '--', name] });
  },
  sizeBytes: async (repo) => sizeOf(places.existing(repo)),
});

/** Beside a repository, under a name that is none; the same each time, so that whoever tries again cleans it up. */
const aside = (path: string, why: 'new' | 'gone'): string => join(dirname(path), `.${why}-${basename(path)}`);

const BLOCK_BYTES = 512;

/** What it takes on the disk; files may come and go meanwhile. */
const sizeOf = async (dir: string): Promise<number> => {
  let size = 0;
  for (const name of await readdir(dir, { recursive: true }).catch(() => [])) {
    const found = await lstat(join(dir, name)).catch(() => undefined);
    size += (found?.blocks ?? 0) * BLOCK_BYTES;
  }
  return size;
};
