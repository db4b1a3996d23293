import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** An executable, as it says of itself. */
export interface Build {
  version: string;
  /** Newest schema that it knows. */
  schema: number;
  /** Of the file, in hex. */
  sha256: string;
}

/** What has to be known to end an upgrade, one way or the other, whoever is left to do it. */
export interface Trial {
  format: 1;
  from: Build;
  to: Build;
  /** Where the server's executable lies; its predecessor is kept at `previous`. */
  executable: string;
  previous: string;
  /** Schema that the database had before. */
  schemaBefore: number;
  /** Names of the proxy's routers before. */
  routes: string[];
  /** How often the new executable was started. */
  attempts: number;
  /** Process that judges the new server, as a lock names it. When it is gone, the server judges itself. */
  judge: string;
  /** How long the new server may take, and how long it has to stay well. */
  gate: { timeoutMs: number; settleMs: number };
  startedAt: string;
  /** Why it was reverted. */
  reason?: string;
}

export type Verdict = 'confirmed' | 'reverting';
export type TrialState = 'trial' | 'reverting';

/** Files in the data directory. The name says how far it is: a rename is the one step that decides. */
const FILES = {
  trial: 'upgrade.trial.json',
  confirmed: 'upgrade.confirmed.json',
  reverting: 'upgrade.reverting.json',
  reverted: 'upgrade.reverted.json',
} as const;

/** What is under way in a data directory, if anything is. */
export const readTrial = (dataDir: string): { state: TrialState; trial: Trial } | undefined => {
  for (const state of ['trial', 'reverting'] as const) {
    const trial = readRecord(dataDir, state);
    if (trial !== undefined) return { state, trial };
  }
  return undefined;
};

/** The record of an upgrade that ended, or of the state that is asked for. */
export const readRecord = (dataDir: string, state: keyof typeof FILES): Trial | undefined => {
  const file = join(dataDir, FILES[state]);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Trial) : undefined;
};

export const beginTrial = (dataDir: string, trial: Trial): void => {
  for (const old of ['confirmed', 'reverted'] as const) rmSync(join(dataDir, FILES[old]), { force: true });
  write(dataDir, 'trial', trial);
};

/** Counts a start of the new executable. */
export const countAttempt = (dataDir: string, trial: Trial): Trial => {
  const counted = { ...trial, attempts: trial.attempts + 1 };
  write(dataDir, 'trial', counted);
  return counted;
};

/** Ends the trial. False when another has decided before: exactly one verdict counts. */
export const decide = (dataDir: string, verdict: Verdict, reason?: string): boolean => {
  const trial = readRecord(dataDir, 'trial');
  if (trial === undefined) return false;
  try {
    renameSync(join(dataDir, FILES.trial), join(dataDir, FILES[verdict]));
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return false;
    throw thrown;
  }
  if (reason === undefined) syncFolder(dataDir);
  else write(dataDir, verdict, { ...trial, reason });
  return true;
};

/** The former executable has the state again. */
export const endRevert = (dataDir: string): void => {
  renameSync(join(dataDir, FILES.reverting), join(dataDir, FILES.reverted));
  syncFolder(dataDir);
};

/** Forgets an upgrade that never began: nothing was exchanged. */
export const dropTrial = (dataDir: string): void => rmSync(join(dataDir, FILES.trial), { force: true });

const write = (dataDir: string, state: keyof typeof FILES, trial: Trial): void => {
  const file = join(dataDir, FILES[state]);
  const part = `${file}.part`;
  const handle = openSync(part, 'w', 0o600);
  try {
    writeSync(handle, `${JSON.stringify(trial, null, 2)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(part, file);
  syncFolder(dirname(file));
};

export const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};
