import { chmod, copyFile, link, mkdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256OfFile } from '#kernel/executable-file';
import { acquireLock } from '#kernel/lock';
import { PLATFORMS, type Platform } from '#kernel/platform';
import { asReleaseManifest, MANIFEST, type ReleaseExecutable, type ReleaseManifest } from '#kernel/release-manifest';
import { localError } from '../failure.ts';
import { bytes } from '../output/format.ts';
import { checkFile, unpackFile, withDiskHint } from '../self/fetch-executable.ts';
import type { Release } from './release.ts';

/** The clients that a server hands out, of its own version. */
export interface Clients {
  folder: string;
  version: string;
  platforms: Platform[];
  /** Platforms of which there is none. */
  missing: Platform[];
  /** False when all of it was there already. */
  changed: boolean;
}

export interface Server {
  /** Where it looks for clients. */
  folder: string;
  version: string;
  platform: Platform | undefined;
  /** What it runs; undefined from source. */
  executable: string | undefined;
}

/** Space that stays free. */
const RESERVE = 512 * 1024 * 1024;

/**
 * Puts the clients of a release into the place of what the server hands out now. They are made beside, and two renames exchange them, so
 * that a failure leaves what was there; the running server sees them with the next request.
 */
export const takeClients = async (release: Release, server: Server, note: (text: string) => void): Promise<Clients> => {
  const { manifest, from } = release;
  if (manifest.version !== server.version)
    throw localError(
      `${from} has berth ${manifest.version}, and this server is ${server.version}`,
      'name a place that has the clients of that version; berth server upgrade brings a new one with its clients',
    );
  const executables = await fitting(manifest, server);
  const wanted: ReleaseManifest = { version: server.version, executables };
  const platforms = executables.map(({ platform }) => platform);
  const missing = PLATFORMS.filter((platform) => platform !== server.platform && !platforms.includes(platform));
  const result = { folder: server.folder, version: server.version, platforms, missing };
  if (await isThere(server.folder, wanted)) return { ...result, changed: false };
  const total = executables.reduce((sum, each) => sum + sizeOf(each), 0);
  note(`taking the clients of ${platforms.length} platforms from ${from} (${bytes(total)})`);
  await exchangeFolder(server.folder, async (folder) => {
    await requireRoom(folder, total);
    for (const executable of executables) await bring(release, executable, { folder, server });
    await writeFile(join(folder, MANIFEST), `${JSON.stringify(wanted, null, 2)}\n`);
    await chmod(join(folder, MANIFEST), 0o644);
  });
  return { ...result, changed: true };
};

/** Whether clients of this version are there to be handed out. */
export const holdsVersion = async (folder: string, version: string): Promise<boolean> =>
  (await readManifest(folder))?.version === version;

/** Without this machine's own when it is of another build than what runs: that one is handed out itself. */
const fitting = async (manifest: ReleaseManifest, { platform, executable }: Server): Promise<ReleaseExecutable[]> => {
  const own = executable === undefined ? undefined : await sha256OfFile(executable);
  return manifest.executables.filter((each) => each.platform !== platform || own === undefined || each.sha256 === own);
};

const sizeOf = ({ bytes: plain, packed }: ReleaseExecutable): number =>
  packed.reduce((sum, each) => sum + each.bytes, plain);

const isThere = async (folder: string, wanted: ReleaseManifest): Promise<boolean> => {
  const found = await readManifest(folder);
  if (found === undefined || !Bun.deepEquals(found, wanted)) return false;
  const files = wanted.executables.flatMap((each) => [each, ...each.packed]);
  const sizes = await Promise.all(files.map(({ name }) => stat(join(folder, name)).catch(() => undefined)));
  return files.every((file, index) => sizes[index]?.size === file.bytes);
};

const readManifest = async (folder: string): Promise<ReleaseManifest | undefined> => {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  try {
    return asReleaseManifest(JSON.parse(text));
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
};

interface Place {
  folder: string;
  server: Server;
}

/** The compressed forms, and the executable out of the smallest one. */
const bring = async (release: Release, executable: ReleaseExecutable, { folder, server }: Place): Promise<void> => {
  const at = (name: string): string => join(folder, name);
  for (const packed of executable.packed) await release.bring(packed, at(packed.name));
  const plain = at(executable.name);
  const parcel = executable.packed.find(({ packing }) => packing === 'zstd') ?? executable.packed[0];
  if (executable.platform === server.platform && server.executable !== undefined)
    await linkOrCopy(server.executable, plain);
  else if (parcel === undefined) await release.bring(executable, plain);
  else await unpackFile(at(parcel.name), parcel.packing, plain);
  await checkFile(plain, executable);
  // Whatever the umask of whoever runs this: a server in a sandbox reads them.
  await Promise.all(executable.packed.map(({ name }) => chmod(at(name), 0o644)));
  await chmod(plain, 0o755);
};

const linkOrCopy = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to);
  } catch {
    // Another disk, or one without links.
    await copyFile(from, to);
  }
};

/** Two renames put the new folder there, and the former one goes. */
const exchangeFolder = async (folder: string, make: (folder: string) => Promise<void>): Promise<void> => {
  const [next, former] = [`${folder}.new`, `${folder}.former`];
  const drop = async (): Promise<void> => {
    await rm(next, { recursive: true, force: true });
    await rm(former, { recursive: true, force: true });
  };
  await mkdir(dirname(folder), { recursive: true });
  const lock = acquireLock(`${folder}.lock`);
  try {
    await withDiskHint(async () => {
      // Of a run that was killed.
      await drop();
      await mkdir(next);
      await chmod(next, 0o755);
      await make(next);
      if ((await stat(folder).catch(() => undefined)) !== undefined) await rename(folder, former);
      await rename(next, folder);
    });
  } finally {
    await drop();
    lock.release();
  }
};

const requireRoom = async (folder: string, needed: number): Promise<void> => {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (free - needed >= RESERVE) return;
  throw localError(
    `the clients take ${bytes(needed)}, and ${bytes(free)} are free at ${folder}, of which ${bytes(RESERVE)} stay free`,
    'free some space, or let downloads_dir lie on another disk',
  );
};
