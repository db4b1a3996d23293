import { chmod, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Io } from '../io.ts';
import { readJson, whileLocked, writeAtomically } from './files.ts';

/** A server that the user logged in to. */
export interface Profile {
  endpoint: string;
  token: string;
  /** Certificates of a private authority, PEM. */
  ca?: string;
}

export interface Profiles {
  current: string | null;
  profiles: Record<string, Profile>;
}

export const configFile = (io: Pick<Io, 'env' | 'home'>): string =>
  io.env['BERTH_CONFIG'] ?? join(io.env['XDG_CONFIG_HOME'] ?? join(io.home, '.config'), 'berth', 'config.json');

/** The saved servers; entries that are no profiles are left out. */
export const readProfiles = async (file: string): Promise<Profiles> => {
  const value = await readJson(file);
  const given = isRecord(value?.['profiles']) ? value['profiles'] : {};
  const profiles: Record<string, Profile> = {};
  for (const [name, profile] of Object.entries(given)) {
    if (isRecord(profile) && typeof profile['endpoint'] === 'string' && typeof profile['token'] === 'string') {
      const ca = typeof profile['ca'] === 'string' ? { ca: profile['ca'] } : {};
      profiles[name] = { endpoint: profile['endpoint'], token: profile['token'], ...ca };
    }
  }
  const current = value?.['current'];
  return { current: typeof current === 'string' && profiles[current] !== undefined ? current : null, profiles };
};

const FOLDER_MODE = 0o700;

/** Changes the saved servers; what another process saves at the same time is kept. */
export const changeProfiles = (file: string, change: (saved: Profiles) => Profiles): Promise<void> =>
  whileLocked(file, FOLDER_MODE, async () => writeProfiles(file, change(await readProfiles(file))));

/** Tokens are in it: readable by its owner alone. */
export const writeProfiles = (file: string, profiles: Profiles): Promise<void> =>
  writeAtomically(file, `${JSON.stringify(profiles, null, 2)}\n`, 0o600, FOLDER_MODE);

/** Whether others than the owner can read the file of tokens, and whether that could be mended. */
export const mendExposure = async (file: string): Promise<'private' | 'mended' | 'exposed'> => {
  try {
    if (((await stat(file)).mode & 0o077) === 0) return 'private';
    await chmod(file, 0o600);
    return 'mended';
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'private';
    if (code === 'EPERM' || code === 'EROFS' || code === 'EACCES') return 'exposed';
    throw thrown;
  }
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
