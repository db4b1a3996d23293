import type { ContainerSpec, ContainerSummary, Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import { BerthError, conflict } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { ApiUnreachable, type TraefikApi } from './api.ts';
import { SPEC_LABEL } from './container.ts';
import { type ListenTable, readListenTable } from './ports.ts';

const START_DEADLINE_MS = 20_000;
const POLL_MS = 20;

export interface Lifecycle {
  runtime: Runtime;
  clock: Clock;
  log: Log;
  api: TraefikApi;
  /** Labels by which Traefik's container is found. */
  labels: Record<string, string>;
  spec: ContainerSpec;
  ports: { http: number; https: number | null; api: number };
}

/** Brings exactly one container of this specification up, and leaves a running one alone. Tells whether it started one. */
export const ensureContainer = async (lifecycle: Lifecycle): Promise<boolean> => {
  const { runtime, spec, log } = lifecycle;
  const wanted = spec.labels[SPEC_LABEL];
  const all = await runtime.list(lifecycle.labels);
  const current = all.find((container) => container.labels[SPEC_LABEL] === wanted);
  await Promise.all(all.filter((container) => container !== current).map((container) => discard(lifecycle, container)));
  if (current?.running === true) {
    await untilAnswers(lifecycle, current.id);
    return false;
  }
  await assertPortsFree(lifecycle);
  const id = current?.id ?? (await create(lifecycle));
  await runtime.start(id);
  await untilAnswers(lifecycle, id);
  log.info('started the reverse proxy', { container: id.slice(0, 12), image: spec.image });
  return true;
};

const create = async ({ runtime, spec }: Lifecycle): Promise<string> => {
  await runtime.ensureImage(spec.image);
  return (await runtime.create(spec)).id;
};

const discard = async ({ runtime, log, spec }: Lifecycle, container: ContainerSummary): Promise<void> => {
  log.info('replacing the reverse proxy, because its configuration changed', { container: container.id.slice(0, 12) });
  await runtime.stop(container.id, spec.stopGraceSeconds);
  await runtime.remove(container.id);
};

const assertPortsFree = async ({ ports }: Lifecycle): Promise<void> => {
  const table = await readListenTable();
  const taken = takenPort(ports, table);
  if (taken === undefined) return;
  throw conflict(
    `port ${taken.port}, which the reverse proxy needs for ${taken.use}, is in use by another process`,
    `stop what listens on port ${taken.port} (see: ss -ltnp), or give berth another port for ${taken.use}`,
  );
};

const takenPort = (ports: Lifecycle['ports'], table: ListenTable): { port: number; use: string } | undefined => {
  if (table.any(ports.http)) return { port: ports.http, use: 'HTTP' };
  if (ports.https !== null && table.any(ports.https)) return { port: ports.https, use: 'HTTPS' };
  return table.loopback(ports.api) ? { port: ports.api, use: 'its API' } : undefined;
};

const untilAnswers = async (lifecycle: Lifecycle, id: string): Promise<void> => {
  const { clock, api, runtime } = lifecycle;
  const deadline = clock.monotonic() + START_DEADLINE_MS;
  for (;;) {
    try {
      await api.version();
      return;
    } catch (error) {
      if (!(error instanceof ApiUnreachable)) throw error;
      const state = await runtime.inspect(id);
      const ended = state === undefined || state.restartCount > 2 || ['exited', 'dead'].includes(state.status);
      if (ended || clock.monotonic() > deadline) throw await startFailure(lifecycle, id, error);
    }
    await clock.sleep(POLL_MS);
  }
};

const startFailure = async ({ runtime }: Lifecycle, id: string, cause: unknown): Promise<BerthError> => {
  const lines: string[] = [];
  for await (const { line } of runtime.logs(id, { follow: false, tail: 20 })) lines.push(line);
  return new BerthError('INTERNAL_ERROR', 'the reverse proxy did not come up', {
    hint: 'read the last lines of its log, put right what they name (see: berth doctor), then start berth again',
    retryable: true,
    logTail: lines.join('\n'),
    cause,
  });
};
