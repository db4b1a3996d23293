import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Io } from '../io.ts';
import { readJson, writeAtomically } from './files.ts';

/** A server that the user logged in to. */
export interface Profile {
  endpoint: string;
  token: string;
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
      profiles[name] = { endpoint: profile['endpoint'], token: profile['token'] };
    }
  }
  const current = value?.['current'];
  return { current: typeof current === 'string' && profiles[current] !== undefined ? current : null, profiles };
};

/** Tokens are in it: readable by its owner alone. */
export const writeProfiles = (file: string, profiles: Profiles): Promise<void> =>
  writeAtomically(file, `${JSON.stringify(profiles, null, 2)}\n`, 0o600, 0o700);

/** Whether others than the owner can read the file of tokens. */
export const isExposed = async (file: string): Promise<boolean> => {
  try {
    return ((await stat(file)).mode & 0o077) !== 0;
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return false;
    throw thrown;
  }
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
