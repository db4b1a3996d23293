import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lockedBy } from '#kernel/lock';
import { localError } from '../failure.ts';

/** The server that runs on a data directory, as the machine sees it. */
export interface ServerProcess {
  pid: number;
  /** Where its executable lies; another one may lie there by now. */
  executable: string;
  /** After the executable. */
  argv: string[];
  env: Record<string, string>;
  cwd: string;
  /** The file that its log goes to, if it is one. */
  logFile: string | undefined;
  /** The systemd unit that it runs in, if it does. */
  unit: string | undefined;
}

export const pidOf = (dataDir: string): number | undefined => lockedBy(join(dataDir, 'server.lock'));

export const findServer = (dataDir: string): ServerProcess => {
  const pid = pidOf(dataDir);
  if (pid === undefined)
    throw localError(
      `no server runs on ${dataDir}`,
      'start it first (systemctl start berth), or name its data directory: --data-dir DIR',
    );
  try {
    return describe(pid);
  } catch (thrown) {
    throw localError(
      `cannot look at the server (process ${pid})`,
      'run this as root, on the machine of the server',
      thrown,
    );
  }
};

const describe = (pid: number): ServerProcess => {
  const at = (name: string): string => `/proc/${pid}/${name}`;
  const [, ...argv] = strings(at('cmdline'));
  const log = readlinkSync(at('fd/2'));
  return {
    pid,
    executable: readlinkSync(at('exe')).replace(/ \(deleted\)$/, ''),
    argv,
    env: Object.fromEntries(
      strings(at('environ')).map((line) => [line.split('=', 1)[0] ?? '', line.slice(line.indexOf('=') + 1)]),
    ),
    cwd: readlinkSync(at('cwd')),
    logFile: log.startsWith('/') && statSync(log, { throwIfNoEntry: false })?.isFile() === true ? log : undefined,
    unit: unitIn(readFileSync(at('cgroup'), 'utf8')),
  };
};

const strings = (file: string): string[] => readFileSync(file, 'utf8').split('\0').slice(0, -1);

/** cgroups(7): `0::/system.slice/berth.service`. A unit of a user's session is no unit of the system's. */
export const unitIn = (cgroup: string): string | undefined =>
  /^\d+:[^:]*:\/system\.slice\/(?:[^/]+\.slice\/)*(?<unit>[^/]+\.service)(?:\/|$)/m.exec(cgroup)?.groups?.['unit'];
