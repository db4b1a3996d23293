import type { Database } from 'bun:sqlite';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock, type Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import { openDatabase } from '#kernel/database';
import { createIds, type NewId } from '#kernel/ids';
import { acquireLock, type Lock } from '#kernel/lock';
import { createLog, type Log } from '#kernel/log';
import { createMeta, type Meta } from '#kernel/meta';
import { ownExecutable } from '#kernel/executable-file';
import type { Trial } from '../upgrade/journal.ts';
import { settleUpgrade } from '../upgrade/start.ts';

/** What everything else is made from. */
export interface Base {
  config: Config;
  clock: Clock;
  log: Log;
  newId: NewId;
  db: Database;
  meta: Meta;
  /** Id of this installation. */
  instance: string;
  /** Tells requests that come through the proxy from others. */
  proxySecret: string;
  lock: Lock;
  /** The upgrade that this start is a part of. */
  trial: Trial | undefined;
}

/** Takes the data directory, and opens the state in it. CONFLICT when another server holds it; Handover when another executable has to run. */
export const openBase = async (config: Config, writeLog: (line: string) => void): Promise<Base> => {
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const lock = acquireLock(join(config.dataDir, 'server.lock'));
  try {
    const clock = systemClock;
    const own = await ownExecutable();
    const trial = own === undefined ? undefined : await settleUpgrade(config.dataDir, own);
    const db = openDatabase(join(config.dataDir, 'berth.db'));
    const meta = createMeta(db);
    return {
      config,
      clock,
      log: createLog(config.logLevel, writeLog, clock.now),
      newId: createIds(clock.now),
      db,
      meta,
      instance: meta.ensure('instance', () => randomBytes(6).toString('hex')),
      proxySecret: meta.ensure('proxy_secret', () => randomBytes(32).toString('base64url')),
      lock,
      trial,
    };
  } catch (error) {
    lock.release();
    throw error;
  }
};
