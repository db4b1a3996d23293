import type { Event } from '#modules/events';
import type { ReplicaView, ServiceDetail } from '#modules/services';
import { count } from '../ui/format.ts';

/** Why a service does not run as it should, and what to do about it. */
export interface Trouble {
  /** The replica whose log tells most. */
  replica: string;
  oom: boolean;
  exitCode: number | null;
  restarts: number;
  /** In a few words: `exit code 3`. */
  code: string;
  message: string;
  hint: string;
}

/** A replica that was started again within this time is not well yet. */
const RECENT_MS = 10 * 60_000;

type Watched = Pick<ServiceDetail, 'name' | 'status' | 'memory_mb' | 'replicas' | 'replica_states'>;

/** Undefined for a service that is well, stopped, or just being changed. `ends` are the newest events of its replicas. */
export const troubleOf = (service: Watched, ends: readonly Event[], now: number): Trouble | undefined => {
  if (service.status === 'deploying' || service.status === 'empty' || service.status === 'stopped') return undefined;
  const fallen = service.replica_states.filter((replica) => isFallen(replica, now));
  const [worst] = fallen.sort((a, b) => b.restarts - a.restarts || Number(b.running) - Number(a.running));
  if (worst === undefined) return undefined;
  const end = ends.find(({ kind, data }) => data['replica'] === worst.name && isEnd(kind));
  const oom = worst.oom_killed || end?.kind === 'replica.oom_killed';
  const told = end?.data['exit_code'];
  const exitCode = worst.exit_code ?? (typeof told === 'number' ? told : null);
  const loops = worst.restarts > 1;
  const { code, how, hint } = causeOf({ oom, exitCode, memory: service.memory_mb });
  const often = worst.restarts === 0 ? '' : loops ? `, again and again: ${count(worst.restarts, 'restart')}` : ', once';
  return {
    replica: worst.name,
    oom,
    exitCode,
    restarts: worst.restarts,
    code,
    message: `the app ${how}${often}`,
    hint,
  };
};

const isFallen = (
  { state, running, restarts, oom_killed: oom, started_at: started }: ReplicaView,
  now: number,
): boolean => {
  if (state === 'draining' || state === 'starting') return false;
  if (!running || oom) return true;
  return restarts > 0 && started !== null && now - Date.parse(started) < RECENT_MS;
};

const isEnd = (kind: Event['kind']): boolean => kind === 'replica.exited' || kind === 'replica.oom_killed';

interface Cause {
  code: string;
  how: string;
  hint: string;
}

/** 128 and the number of the signal, as shells say it. */
const CODES: Record<number, { how: string; hint: string }> = {
  0: {
    how: 'ended by itself with exit code 0',
    hint: 'a server has to keep running: let the start command stay in the foreground',
  },
  126: { how: 'could not be started', hint: 'the start command is not executable: see its first words in the log' },
  127: { how: 'could not be started', hint: 'the start command is not in the image: correct it, then deploy again' },
  134: { how: 'aborted itself', hint: 'read the last lines: an assertion failed, or the runtime gave up' },
  137: { how: 'was killed', hint: 'look for what killed it: mostly memory; see usage, and raise the limit' },
  139: {
    how: 'crashed in native code',
    hint: 'look at what was deployed last: a native module, or another base image',
  },
  143: { how: 'was asked to end', hint: 'look for who stopped it on the server: docker, systemd, or a deploy' },
};

const causeOf = ({ oom, exitCode, memory }: { oom: boolean; exitCode: number | null; memory: number }): Cause => {
  if (oom)
    return {
      code: 'out of memory',
      how: `ran out of memory: it was killed at its limit of ${memory} MB`,
      hint: 'raise the memory limit in its settings, or find what uses so much; usage shows since when',
    };
  if (exitCode === null)
    return { code: 'not running', how: 'does not run', hint: 'read the last lines of its log, then restart it' };
  const known = CODES[exitCode];
  const hint =
    known?.hint ?? 'read the last lines: they mostly name the cause. If a deploy brought it, roll back, then mend it';
  return { code: `exit code ${exitCode}`, how: known?.how ?? `exits with code ${exitCode}`, hint };
};

/** Tells whether the last that happened to a service is that it fell, for pages that know no replicas. */
export const fellLately = (service: string, last: Event | null, now: number): boolean =>
  last !== null &&
  /^replica\.(?:exited|oom_killed|crash_loop|restarted)$/.test(last.kind) &&
  last.data['service'] === service &&
  now - Date.parse(last.ts) < RECENT_MS;
