import type { Client } from 'pg';
import type { Clock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';
import type { Runtime } from '#engines/runtime/port';
import type { Connect } from './connect.ts';
import { isStarting, isWrongPassword } from './failures.ts';
import { containerName, type Server } from './server.ts';

/** A refused connection costs next to nothing. A server that takes longer than some seconds is asked less often. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 500;
const PAUSE_SHARE = 0.03;
const CONNECT_MS = 2000;
/** Until something answers. */
const SILENT_MS = 90_000;
/** Until a server that says that it is recovering from a crash has done so. */
const RECOVERING_MS = 15 * 60_000;
/** How often the container is looked at while nothing answers. */
const LOOK_MS = 1000;
const LOG_LINES = 20;

export interface ReadyDeps {
  runtime: Pick<Runtime, 'list' | 'inspect' | 'logs'>;
  clock: Clock;
  connect: Connect;
}

/** Connects as the superuser as soon as the server answers; with the first of `passwords` that it takes. */
export const connectWhenReady = async (
  { runtime, clock, connect }: ReadyDeps,
  request: { server: Server; passwords: readonly string[]; signal: AbortSignal },
): Promise<Client> => {
  const { server, passwords, signal } = request;
  const began = clock.monotonic();
  let lookedAt = began;
  for (;;) {
    try {
      return await connectWithAny(connect, server, { passwords, signal });
    } catch (thrown) {
      if (signal.aborted || !(thrown instanceof BerthError) || !thrown.retryable) throw thrown;
      const now = clock.monotonic();
      const late = now - began > (isStarting(thrown) ? RECOVERING_MS : SILENT_MS);
      if (late || now - lookedAt > LOOK_MS) {
        lookedAt = now;
        await failIfEnded(runtime, server, { late, cause: thrown });
      }
    }
    const pause = Math.max(FIRST_PAUSE_MS, (clock.monotonic() - began) * PAUSE_SHARE);
    await clock.sleep(Math.min(pause, LONGEST_PAUSE_MS), signal);
  }
};

const connectWithAny = async (
  connect: Connect,
  { instance, unit }: Server,
  { passwords, signal }: { passwords: readonly string[]; signal: AbortSignal },
): Promise<Client> => {
  let refused: unknown;
  for (const password of passwords) {
    try {
      return await connect(
        { ...instance, adminPassword: password },
        { as: 'admin', unit, connectMs: CONNECT_MS, signal },
      );
    } catch (thrown) {
      if (!isWrongPassword(thrown)) throw thrown;
      refused = thrown;
    }
  }
  throw refused;
};

/** A container that ended tells why in its log; waiting for it any longer helps nobody. */
const failIfEnded = async (
  runtime: ReadyDeps['runtime'],
  server: Server,
  { late, cause }: { late: boolean; cause: BerthError },
): Promise<void> => {
  const name = containerName(server);
  const found = (await runtime.list(server.instance.labels)).find((container) => container.name === name);
  const state = found === undefined ? undefined : await runtime.inspect(found.id);
  const ended = state?.status === 'exited' || state?.status === 'dead' || (state?.restartCount ?? 0) > 2;
  if (!late && !ended) return;
  const why = state?.oomKilled === true ? ', killed because it used more memory than its limit' : '';
  throw new BerthError('INTERNAL_ERROR', `${server.instance.name} does not start${why}: ${cause.message}`, {
    hint: 'read log_tail: the last lines of its log say why',
    retryable: true,
    ...(found === undefined ? {} : { logTail: await lastLines(runtime, found.id) }),
    cause,
  });
};

const lastLines = async (runtime: ReadyDeps['runtime'], id: string): Promise<string> => {
  const lines: string[] = [];
  for await (const { line } of runtime.logs(id, { follow: false, tail: LOG_LINES })) lines.push(line);
  return lines.join('\n');
};
