import type { Runtime } from '#engines/runtime/port';
import { BerthError } from '#kernel/errors';
import { plainText } from '#kernel/terminal';
import type { Clock } from '#kernel/clock';
import { probeUntil, type ProbeResult, type ProbeTarget } from './probe.ts';
import { listeningSockets } from './sockets.ts';

export interface GateTarget extends ProbeTarget {
  containerId: string;
  /** How it is called in messages, e.g. `replica 1`. */
  label: string;
  memoryMb: number;
}

export interface GateOptions {
  runtime: Runtime;
  clock: Clock;
  timeoutSeconds: number;
  signal: AbortSignal;
  /** Hides known secrets in the lines that an error carries. */
  mask: (line: string) => string;
}

interface Death {
  exitCode: number | null;
  oomKilled: boolean;
}

const WATCH_PAUSE_MS = 150;
const LOG_TAIL_LINES = 50;

/**
 * Passes when the app listens (and answers, with a health path) and still runs. Rejects with HEALTH_CHECK_FAILED that says
 * what was seen: the exit code, out of memory, or what was probed, for how long, and where the app listens instead.
 */
export const passHealthGate = async (target: GateTarget, options: GateOptions): Promise<void> => {
  const { clock, signal } = options;
  const begun = clock.monotonic();
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), options.timeoutSeconds * 1000);
  const stop = AbortSignal.any([signal, over.signal]);
  const settled = new AbortController();
  try {
    const probe = probeUntil(target, clock, AbortSignal.any([stop, settled.signal]));
    const watch = watchForDeath(target.containerId, options, AbortSignal.any([stop, settled.signal]));
    const first = await Promise.race([probe.then((result) => ({ result })), watch.then((death) => ({ death }))]);
    if (signal.aborted) throw signal.reason;
    const seconds = ((clock.monotonic() - begun) / 1000).toFixed(1);
    if ('death' in first && first.death !== undefined) throw await deathError(target, options, first.death);
    const result = 'result' in first ? first.result : await probe;
    // Until it is live the engine does not restart it: what has just answered is what runs.
    if (!result.ok) throw await silenceError(target, options, result, seconds);
  } finally {
    clearTimeout(timer);
    settled.abort();
  }
};

const watchForDeath = async (
  containerId: string,
  options: GateOptions,
  stop: AbortSignal,
): Promise<Death | undefined> => {
  while (!stop.aborted) {
    await options.clock.sleep(WATCH_PAUSE_MS, stop);
    if (stop.aborted) break;
    const death = await deathOf(options.runtime, containerId);
    if (death !== undefined) return death;
  }
  return undefined;
};

const deathOf = async (runtime: Runtime, containerId: string): Promise<Death | undefined> => {
  const state = await runtime.inspect(containerId);
  if (state === undefined) return { exitCode: null, oomKilled: false };
  const ended = state.status !== 'running' && state.status !== 'created';
  return ended || state.restartCount > 0 ? { exitCode: state.exitCode, oomKilled: state.oomKilled } : undefined;
};

const deathError = async (target: GateTarget, options: GateOptions, death: Death): Promise<BerthError> => {
  const logTail = await logTailOf(target.containerId, options);
  if (death.oomKilled) {
    return new BerthError(
      'HEALTH_CHECK_FAILED',
      `${target.label} ran out of memory: it was killed at its limit of ${target.memoryMb} MiB before it listened on port ${target.port}`,
      {
        hint: 'raise memory_mb of the service (PATCH the service, or: berth scale --memory), or make the app use less',
        logTail,
      },
    );
  }
  const code = death.exitCode === null ? '' : ` with exit code ${death.exitCode}${exitMeaning(death.exitCode)}`;
  return new BerthError(
    'HEALTH_CHECK_FAILED',
    `${target.label} exited${code} before it listened on port ${target.port}`,
    {
      hint: 'read the last lines of its log for the cause, fix the app, and deploy again',
      logTail,
    },
  );
};

const exitMeaning = (code: number): string => {
  if (code === 0) return ' (the start command ended; a server must keep running)';
  if (code === 127) return ' (command not found)';
  if (code === 126) return ' (command not executable)';
  if (code === 137) return ' (killed)';
  if (code === 139) return ' (segmentation fault)';
  return '';
};

const silenceError = async (
  target: GateTarget,
  options: GateOptions,
  result: ProbeResult & { ok: false },
  seconds: string,
): Promise<BerthError> => {
  const logTail = await logTailOf(target.containerId, options);
  const pid = (await options.runtime.inspect(target.containerId))?.pid ?? null;
  const elsewhere = pid === null ? [] : await listeningSockets(pid);
  const probed = `probed ${target.ip}:${target.port}${target.path ?? ''} for ${seconds} s; last: ${result.reason}`;
  const { found, hint } = explain(target, elsewhere);
  return new BerthError('HEALTH_CHECK_FAILED', `${target.label} is not healthy: ${found} (${probed})`, {
    hint,
    logTail,
  });
};

const explain = (target: GateTarget, sockets: { ip: string; port: number }[]): { found: string; hint: string } => {
  const own = sockets.filter((socket) => socket.port === target.port);
  const loopback = own.length > 0 && own.every((socket) => socket.ip.startsWith('127.') || socket.ip === '::1');
  if (loopback)
    return {
      found: `the app listens on ${target.port} of loopback only`,
      hint: `bind 0.0.0.0:${target.port} instead of 127.0.0.1`,
    };
  if (own.length > 0 && target.path !== null) {
    return {
      found: `the app listens on port ${target.port}, but ${target.path} does not answer 2xx or 3xx`,
      hint: `make ${target.path} answer 200, or set another health_path`,
    };
  }
  if (own.length > 0)
    return {
      found: `the app listens on port ${target.port}, but accepts no connection`,
      hint: 'look at log_tail: the app may be stuck',
    };
  if (sockets.length > 0) {
    const ports = [...new Set(sockets.map((socket) => `${socket.ip}:${socket.port}`))].join(', ');
    return {
      found: `the app never listened on port ${target.port}; it listens on ${ports}`,
      hint: `listen on the variable PORT (${target.port}) at 0.0.0.0, or set PORT in the project env`,
    };
  }
  return {
    found: `the app never listened on port ${target.port}`,
    hint: `bind 0.0.0.0:$PORT (${target.port}); the last lines of its log may say more`,
  };
};

const logTailOf = async (containerId: string, { runtime, mask }: GateOptions): Promise<string> => {
  const lines: string[] = [];
  try {
    for await (const line of runtime.logs(containerId, { follow: false, tail: LOG_TAIL_LINES }))
      lines.push(mask(plainText(line.line)));
  } catch (error) {
    lines.push(
      `(berth could not read the log of the container: ${error instanceof Error ? error.message : 'unknown'})`,
    );
  }
  return lines.join('\n');
};
