import { readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;
const MIB = 1024 * 1024;
const EVERY_MS = 20;

/** Resident memory of a process in MiB; cheaper to ask for than what `memoryOf` tells. */
export const residentOf = (pid: number): number =>
  (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES) / MIB;

/** The most memory that a process had resident while `work` ran, in MiB. */
export const peakDuring = async <T>(pid: number, work: () => Promise<T>): Promise<{ result: T; peak: number }> => {
  let peak = residentOf(pid);
  const sampler = setInterval(() => {
    peak = Math.max(peak, residentOf(pid));
  }, EVERY_MS);
  try {
    return { result: await work(), peak };
  } finally {
    clearInterval(sampler);
  }
};
