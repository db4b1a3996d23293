import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256OfFile } from '#kernel/executable-file';
import { messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { executableName, type Platform } from '#kernel/platform';
import {
  asReleaseManifest,
  MANIFEST,
  type Packing,
  type ReleaseExecutable,
  type ReleaseManifest,
} from '#kernel/release-manifest';

/** A file as it lies on disk. */
export interface Download {
  /** Where it is read from. */
  file: string;
  name: string;
  bytes: number;
  sha256: string;
  packing: Packing | undefined;
}

/** The executable of a platform, and its compressed forms. */
interface Client {
  platform: Platform;
  plain: Download;
  packed: Download[];
}

/** The clients that this server hands out, all of its own version. */
export interface Catalogue {
  manifest(): Promise<ReleaseManifest>;
  /** A file by its name, with the compressed forms of it that there are. */
  find(name: string): Promise<{ download: Download; packed: Download[] } | undefined>;
}

export interface CatalogueDeps {
  /** Folder with `manifest.json` and what it lists; undefined when there is none. */
  folder: string | undefined;
  version: string;
  /** The executable that runs, which is served for its platform in any case; undefined from source. */
  own: { platform: Platform; file: string } | undefined;
  log: Log;
}

export const createCatalogue = (deps: CatalogueDeps): Catalogue => {
  const stored = createStored(deps);
  const own = lazily(() => ownClient(deps));
  const clients = async (): Promise<Client[]> => {
    const found = await stored();
    const running = await own();
    if (running === undefined) return found;
    // A folder from another build of this version: for this platform, what runs here is right.
    if (found.some(({ plain }) => plain.sha256 === running.plain.sha256)) return found;
    return [...found.filter(({ platform }) => platform !== running.platform), running];
  };
  return {
    manifest: async () => ({ version: deps.version, executables: (await clients()).map(listed) }),
    find: async (name) => {
      for (const { plain, packed } of await clients()) {
        if (plain.name === name) return { download: plain, packed };
        const download = packed.find((each) => each.name === name);
        if (download !== undefined) return { download, packed: [] };
      }
      return undefined;
    },
  };
};

const listed = ({ platform, plain, packed }: Client): ReleaseExecutable => ({
  platform,
  ...facts(plain),
  packed: packed.flatMap((each) => (each.packing === undefined ? [] : [{ ...facts(each), packing: each.packing }])),
});

const facts = ({ name, bytes, sha256 }: Pick<Download, 'name' | 'bytes' | 'sha256'>) => ({ name, bytes, sha256 });

const ownClient = async ({ own }: CatalogueDeps): Promise<Client | undefined> => {
  if (own === undefined) return undefined;
  const { platform, file } = own;
  const { size } = await stat(file);
  const plain = { file, name: executableName(platform), bytes: size, sha256: await sha256OfFile(file) };
  return { platform, plain: { ...plain, packing: undefined }, packed: [] };
};

/** The value of the last success. */
const lazily = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return async () => {
    const current = (made ??= make());
    try {
      return await current;
    } catch (thrown) {
      if (made === current) made = undefined;
      throw thrown;
    }
  };
};

/** What the folder holds of this version; read again when its manifest has changed. */
const createStored = ({ folder, version, log }: CatalogueDeps): (() => Promise<Client[]>) => {
  let seen: { mark: string; clients: Promise<Client[]> } | undefined;
  return async () => {
    if (folder === undefined) return [];
    const stats = await stat(join(folder, MANIFEST)).catch(() => undefined);
    if (stats === undefined) return [];
    const mark = `${stats.mtimeMs} ${stats.size} ${stats.ino}`;
    if (seen?.mark !== mark) {
      const clients = readStored(folder, version).catch((thrown: unknown) => {
        log.warn(`no clients are handed out of ${folder}: ${messageOf(thrown)}`);
        return [];
      });
      seen = { mark, clients };
    }
    return whole(await seen.clients);
  };
};

const readStored = async (folder: string, version: string): Promise<Client[]> => {
  const manifest = asReleaseManifest(JSON.parse(await readFile(join(folder, MANIFEST), 'utf8')));
  if (manifest === undefined) throw new Error(`${MANIFEST} is not what "bun run build" writes`);
  if (manifest.version !== version)
    throw new Error(`they are of version ${manifest.version}, and this server is ${version}`);
  return manifest.executables.map((executable) => ({
    platform: executable.platform,
    plain: { ...facts(executable), file: join(folder, executable.name), packing: undefined },
    packed: executable.packed.map((packed) => ({ ...packed, file: join(folder, packed.name) })),
  }));
};

/** Without what is missing or cut short: a copy that is under way, or stopped half-way. */
const whole = async (clients: readonly Client[]): Promise<Client[]> => {
  const isWhole = async ({ file, bytes }: Download): Promise<boolean> =>
    (await stat(file).catch(() => undefined))?.size === bytes;
  const result: Client[] = [];
  for (const client of clients) {
    if (!(await isWhole(client.plain))) continue;
    const flags = await Promise.all(client.packed.map(isWhole));
    result.push({ ...client, packed: client.packed.filter((_packed, index) => flags[index]) });
  }
  return result;
};
