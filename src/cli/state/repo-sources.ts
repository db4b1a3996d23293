import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isGone } from './gone.ts';

/** Something that belongs into a state archive. */
export interface Source {
  /** Path in the archive. */
  path: string;
  file: string;
  directory: boolean;
  /** In place of what the file has. */
  content?: Buffer;
}

/** A repository by its path in the data directory. */
export const isRepo = (path: string): boolean => /^repos\/[^/.][^/]*\.git$/.test(path);

/** Whatever git or berth is writing, and locks. */
const UNFINISHED = /^(?:tmp_|mirror\.tmp$)|\.(?:lock|keep|tmp)$/;

/**
 * What of a repository belongs into a backup, while pushes and gc go on. Refs come first, as one file: whatever they name is
 * among the objects that are listed after them.
 */
export async function* repoSources(path: string, repo: string): AsyncGenerator<Source> {
  yield { path, file: repo, directory: true };
  for (const name of ['HEAD', 'config']) yield { path: `${path}/${name}`, file: join(repo, name), directory: false };
  yield { path: `${path}/refs`, file: join(repo, 'refs'), directory: true };
  const content = await readRefs(repo);
  yield { path: `${path}/packed-refs`, file: join(repo, 'HEAD'), directory: false, content };
  yield* filesOf(`${path}/objects`, join(repo, 'objects'));
}

/** All refs as git packs them. Loose ones are read before packed ones: no ref is missed while git packs it. */
const readRefs = async (repo: string): Promise<Buffer> => {
  const loose = await looseRefs(repo);
  const refs = new Map<string, string>();
  for (const line of (await readOrEmpty(join(repo, 'packed-refs'))).toString('latin1').split('\n')) {
    const found = /^(?<id>[0-9a-f]{40,64}) (?<name>.+)$/.exec(line)?.groups;
    if (found !== undefined) refs.set(found['name'] ?? '', found['id'] ?? '');
  }
  for (const [name, id] of loose) refs.set(name, id);
  const lines = [...refs].map(([name, id]) => `${id} ${name}\n`).sort();
  return Buffer.from(lines.join(''), 'latin1');
};

/** By their names as bytes in Latin-1: they need not be UTF-8. */
const looseRefs = async (repo: string): Promise<Map<string, string>> => {
  const found = new Map<string, string>();
  const root = Buffer.from(`${repo}/`);
  const walk = async (folder: Buffer): Promise<void> => {
    for (const entry of await readdir(Buffer.concat([root, folder]), { encoding: 'buffer' })) {
      const name = Buffer.concat([folder, Buffer.from('/'), entry]);
      const file = Buffer.concat([root, name]);
      const stats = await lstat(file).catch(unlessGone);
      if (stats?.isDirectory() === true) await walk(name).catch(unlessGone);
      const ref = name.toString('latin1');
      if (stats?.isFile() !== true || UNFINISHED.test(ref)) continue;
      const id = (await readOrEmpty(file)).toString('latin1').trim();
      if (/^[0-9a-f]{40,64}$/.test(id)) found.set(ref, id);
    }
  };
  await walk(Buffer.from('refs'));
  return found;
};

async function* filesOf(path: string, folder: string): AsyncGenerator<Source> {
  yield { path, file: folder, directory: true };
  const taken = new Set<string>();
  for (;;) {
    const names = (await namesIn(folder)).filter((name) => !taken.has(name));
    for (const name of names) {
      taken.add(name);
      const file = join(folder, name);
      const stats = await lstat(file).catch(unlessGone);
      if (stats?.isDirectory() === true) yield* filesOf(`${path}/${name}`, file);
      else if (stats?.isFile() === true) yield { path: `${path}/${name}`, file, directory: false };
    }
    // Where gc took packs away meanwhile, what it made of them is taken too.
    const after = new Set(await namesIn(folder));
    if (names.every((name) => after.has(name))) return;
  }
}

/**
 * Loose objects and the commit graph (`info`) before packs: what gc moves, it moves there. Packs before their indexes: a pack
 * whose index is gone is of no use, but an index without its pack is a fault.
 */
const namesIn = async (folder: string): Promise<string[]> => {
  const names = (await readdir(folder).catch(unlessGone)) ?? [];
  const sorted = names.filter((name) => !UNFINISHED.test(name)).sort();
  return basename(folder) === 'pack' ? sorted.reverse() : sorted;
};

const readOrEmpty = async (file: string | Buffer): Promise<Buffer> =>
  (await readFile(file).catch(unlessGone)) ?? Buffer.alloc(0);

const unlessGone = (thrown: unknown): undefined => {
  if (!isGone(thrown)) throw thrown;
};
