import { connect } from 'node:net';
import type { Clock } from '#kernel/clock';

export interface ProbeTarget {
  ip: string;
  port: number;
  /** Null probes TCP only. */
  path: string | null;
}

export type ProbeResult = { ok: true } | { ok: false; reason: string };

/** One attempt never takes longer than this. */
const ATTEMPT_MS = 5000;

/** Tries once whether the app listens and, with a path, whether it answers 2xx or 3xx there. */
export const probeOnce = async (target: ProbeTarget, signal: AbortSignal): Promise<ProbeResult> => {
  const tcp = await probeTcp(target, signal);
  if (!tcp.ok || target.path === null) return tcp;
  return probeHttp(target, target.path, signal);
};

const probeTcp = (target: ProbeTarget, signal: AbortSignal): Promise<ProbeResult> =>
  new Promise((resolve) => {
    const socket = connect({ host: target.ip, port: target.port });
    const end = (result: ProbeResult): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      socket.destroy();
      resolve(result);
    };
    const onAbort = (): void => end({ ok: false, reason: 'aborted' });
    const timer = setTimeout(() => end({ ok: false, reason: 'connect timed out' }), ATTEMPT_MS);
    signal.addEventListener('abort', onAbort, { once: true });
    socket.once('connect', () => end({ ok: true }));
    socket.once('error', (error: NodeJS.ErrnoException) =>
      end({ ok: false, reason: error.code === 'ECONNREFUSED' ? 'connection refused' : (error.code ?? error.message) }),
    );
  });

const probeHttp = async (target: ProbeTarget, path: string, signal: AbortSignal): Promise<ProbeResult> => {
  try {
    const response = await fetch(`http://${target.ip}:${target.port}${path}`, {
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ATTEMPT_MS)]),
      headers: { 'user-agent': 'berth-health/1', connection: 'close' },
    });
    await response.body?.cancel();
    return response.status >= 200 && response.status < 400
      ? { ok: true }
      : { ok: false, reason: `GET ${path} answered ${response.status}` };
  } catch (error) {
    return { ok: false, reason: `GET ${path} failed: ${error instanceof Error ? error.name : 'unknown'}` };
  }
};

const SHORTEST_PAUSE_MS = 3;
const LONGEST_PAUSE_MS = 500;

/** The pause before the next attempt: an app is seen at most a twentieth later than it is ready. */
export const pauseAfter = (elapsedMs: number): number =>
  Math.min(Math.max(elapsedMs / 20, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);

/** Probes with growing pauses until it passes, or until `signal` aborts; then it returns the last failure. */
export const probeUntil = async (target: ProbeTarget, clock: Clock, signal: AbortSignal): Promise<ProbeResult> => {
  const begun = clock.monotonic();
  let last: ProbeResult = { ok: false, reason: 'not probed yet' };
  while (!signal.aborted) {
    const result = await probeOnce(target, signal);
    if (result.ok) return result;
    if (!signal.aborted) last = result;
    await clock.sleep(pauseAfter(clock.monotonic() - begun), signal);
  }
  return last;
};
