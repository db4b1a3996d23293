import { readFileSync } from 'node:fs';

/** Ticks of `/proc/<pid>/stat` in a second: USER_HZ, which is 100 wherever Linux runs. */
const TICKS = 100;
const MIB_KIB = 1024;

/** Memory of a process in MiB: what is resident, and of that its share where pages are shared with others. */
export const memoryOf = (pid: number): { rss: number; pss: number } => {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const read = (name: string): number =>
    Number(new RegExp(`^${name}: +(?<kib>\\d+) kB`, 'm').exec(text)?.groups?.['kib'] ?? Number.NaN) / MIB_KIB;
  return { rss: read('Rss'), pss: read('Pss') };
};

/** Seconds of CPU that a process has used. */
export const cpuSecondsOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may hold anything, spaces too: fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
};
