import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { conflict } from './errors.ts';

/** Holds a data directory: two servers on one state would undo each other's work. */
export interface Lock {
  release(): void;
}

/**
 * Takes `file` as a lock, which names this process. One that is left by a process that died (another boot, a reused process
 * id included) is taken over: the start time in /proc tells processes of one id apart.
 */
export const acquireLock = (file: string): Lock => {
  const own = ownHolder();
  const holder = readHolder(file);
  if (holder !== undefined && holder !== own && isAlive(holder)) {
    throw conflict(
      `another berth (process ${holder.split(' ')[0]}) holds ${file}`,
      'stop it first, or use another --data-dir',
    );
  }
  rmSync(file, { force: true });
  const handle = openSync(file, 'wx', 0o600);
  writeSync(handle, own);
  closeSync(handle);
  return { release: () => rmSync(file, { force: true }) };
};

/** Whether a live process holds the lock. */
export const isLocked = (file: string): boolean => lockedBy(file) !== undefined;

/** Id of the live process that holds the lock. */
export const lockedBy = (file: string): number | undefined => {
  const holder = readHolder(file);
  return holder !== undefined && isAlive(holder) ? Number(holder.split(' ')[0]) : undefined;
};

/** The name of this process, for `isAlive`. */
export const ownHolder = (): string => `${process.pid} ${startTime(process.pid) ?? ''}`;

const readHolder = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/** Whether the process lives that is named so, as in a lock. */
export const isAlive = (holder: string): boolean => {
  const [pid, started] = holder.split(' ');
  return started !== undefined && started !== '' && startTime(Number(pid)) === started;
};

/** Start time of a process in clock ticks since boot, with the boot's id: field 22 of /proc/<pid>/stat, proc(5). */
const startTime = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}-${ticks}`;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return undefined;
    throw error;
  }
};
