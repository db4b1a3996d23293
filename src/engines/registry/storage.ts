import { lstat, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** The registry's files, for what its interface does not offer: listing untagged manifests, and dropping a repository. */
export interface RegistryStorage {
  diskBytes(): Promise<number>;
  /** Digests of every manifest of a repository, tagged or not. */
  digests(repository: string): Promise<string[]>;
  dropRepository(repository: string): Promise<void>;
  /** Deletes the bytes of a blob at once, instead of at the next collection, unless a repository still has it. */
  dropBlob(digest: string): Promise<void>;
  /** Whether anything was ever pushed. */
  isEmpty(): Promise<boolean>;
}

const PARTS = ['_manifests', '_layers', '_uploads'];

export const createRegistryStorage = (dataDir: string): RegistryStorage => {
  const root = join(dataDir, 'docker/registry/v2/repositories');
  return {
    diskBytes: () => bytesBelow(dataDir),
    digests: async (repository) => {
      const names = await list(join(root, repository, '_manifests/revisions/sha256'));
      return names.map((name) => `sha256:${name}`);
    },
    dropRepository: async (repository) => {
      for (const part of PARTS) await rm(join(root, repository, part), { recursive: true, force: true });
      // The parents stay while they hold other repositories; the root stays always, or the collector would refuse to run.
      for (let dir = repository; dir !== '.'; dir = dirname(dir)) {
        if ((await list(join(root, dir))).length > 0) return;
        await rmdir(join(root, dir)).catch(unlessCode('ENOENT'));
      }
    },
    dropBlob: async (digest) => {
      const hex = digest.replace(/^sha256:/, '');
      if (!/^[0-9a-f]{64}$/.test(hex) || (await isLinked(root, hex))) return;
      await rm(join(dataDir, 'docker/registry/v2/blobs/sha256', hex.slice(0, 2), hex), {
        recursive: true,
        force: true,
      });
    },
    isEmpty: async () => (await lstat(root).catch(unlessCode('ENOENT'))) === undefined,
  };
};

const list = async (dir: string): Promise<string[]> => {
  const names = await readdir(dir).catch(unlessCode('ENOENT'));
  return names ?? [];
};

/** Whether any repository below `dir` has the blob. */
const isLinked = async (dir: string, hex: string): Promise<boolean> => {
  for (const name of await list(dir)) {
    if (name === '_layers') {
      if ((await list(join(dir, name, 'sha256', hex))).length > 0) return true;
    } else if (!name.startsWith('_') && (await isLinked(join(dir, name), hex))) return true;
  }
  return false;
};

const bytesBelow = async (path: string): Promise<number> => {
  const found = await lstat(path).catch(unlessCode('ENOENT'));
  if (found === undefined) return 0;
  // In blocks of 512 bytes, as `du` counts.
  let bytes = found.blocks * 512;
  if (!found.isDirectory()) return bytes;
  for (const name of await list(path)) bytes += await bytesBelow(join(path, name));
  return bytes;
};

// The registry deletes its own temporary files while they are being listed.
const unlessCode =
  (code: string) =>
  (thrown: unknown): undefined => {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === code)) throw thrown;
  };
