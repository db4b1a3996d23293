import { Database } from 'bun:sqlite';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { schemaVersion } from '#kernel/database';
import { BerthError } from '#kernel/errors';
import { sha256OfFile } from '#kernel/executable-file';
import { putBack } from './executable.ts';
import { countAttempt, decide, dropTrial, endRevert, readTrial, syncFolder, type Trial } from './journal.ts';

/** Thrown at a start by the wrong executable: the one to run instead lies at `executable`. */
export class Handover extends Error {
  readonly executable: string;

  constructor(executable: string) {
    super(`the upgrade is reverted: starting the former ${executable}`);
    this.name = 'Handover';
    this.executable = executable;
  }
}

/** Starts that a new executable gets: a reboot in the middle of an upgrade takes one. */
const MAX_ATTEMPTS = 3;

/**
 * Looks, with the data directory locked and before the database is opened, whether an upgrade was under way. Gives the trial that
 * this start is a part of; ends what was cut short. Throws Handover when the former executable has to run.
 */
export const settleUpgrade = async (dataDir: string, own: string): Promise<Trial | undefined> => {
  const found = readTrial(dataDir);
  if (found === undefined) return undefined;
  const { trial } = found;
  const self = await sha256OfFile(own);
  if (self === trial.to.sha256 && self !== trial.from.sha256) return startNew(dataDir, found);
  if (self === trial.from.sha256) {
    // Before the executables were exchanged, or somebody put the former one back.
    if (found.state === 'trial') decide(dataDir, 'reverting', 'the former executable was started again');
    putStateBack(dataDir, trial);
    endRevert(dataDir);
    return undefined;
  }
  dropTrial(dataDir);
  return undefined;
};

const startNew = async (dataDir: string, { state, trial }: { state: string; trial: Trial }): Promise<Trial> => {
  if (state === 'trial' && trial.attempts < MAX_ATTEMPTS) return countAttempt(dataDir, trial);
  decide(dataDir, 'reverting', `the new executable was started ${trial.attempts} times and never became well`);
  await putBack(trial.executable, trial.previous, trial.from.sha256);
  throw new Handover(trial.executable);
};

/** Undoes migrations: by the copy that was made right before them, under the lock, when nobody could write. */
const putStateBack = (dataDir: string, { schemaBefore, to }: Trial): void => {
  const file = join(dataDir, 'berth.db');
  if (!existsSync(file)) return;
  const schema = schemaOf(file);
  if (schema <= schemaBefore) return;
  const copy = `${file}.v${schemaBefore}`;
  if (!existsSync(copy)) {
    throw new BerthError(
      'CONFLICT',
      `berth ${to.version} moved the state to schema ${schema}, and ${copy} is missing`,
      {
        hint: `start berth ${to.version}, or restore a backup of the state: berth state restore`,
      },
    );
  }
  const part = `${file}.part`;
  copyFileSync(copy, part);
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`, { force: true });
  renameSync(part, file);
  syncFolder(dataDir);
};

const schemaOf = (file: string): number => {
  const db = new Database(file, { readwrite: true, create: false, strict: true });
  try {
    return schemaVersion(db);
  } finally {
    db.close();
  }
};
