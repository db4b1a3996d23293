import type { RuntimeEvent } from '#engines/runtime/port';
import { messageOf } from '#kernel/errors';
import type { ReplicaRow } from '#modules/services';
import type { DeployDeps } from './deps.ts';
import { probeUntil } from './probe.ts';
import { routeOf } from './rollout.ts';
import { replicaSelector } from './specs.ts';

/** So many ends within the window are a crash loop. */
const LOOP_EXITS = 5;
const LOOP_WINDOW_MS = 10 * 60_000;
const RELINK_PAUSE_MS = 2000;
/** A restarted replica that does not listen within this time stays out of the route. */
const LISTEN_AGAIN_MS = 120_000;

export interface Watcher {
  /**
   * Follows the engine's events until `signal` aborts, and links again whenever the link breaks; then it calls `onBack`,
   * because nobody told what happened meanwhile.
   */
  run(signal: AbortSignal, onBack: () => void): Promise<void>;
}

/** Turns what happens to live replicas into project events: exits with their code, out of memory, restarts, crash loops. */
export const createWatcher = (deps: DeployDeps): Watcher => {
  const exits = new Map<string, number[]>();
  const killedForMemory = new Set<string>();

  const emit = (
    row: ReplicaRow,
    kind: 'replica.exited' | 'replica.restarted' | 'replica.oom_killed' | 'replica.crash_loop',
    data: Record<string, unknown>,
  ): void =>
    deps.events.emit({
      project: row.project,
      kind,
      actor: 'berth',
      data: { service: row.service, replica: row.name, release: row.release, ...data },
    });

  const onDie = (row: ReplicaRow, event: RuntimeEvent): void => {
    const times = [...(exits.get(row.container_id) ?? []), event.at].filter((at) => event.at - at < LOOP_WINDOW_MS);
    exits.set(row.container_id, times);
    if (times.length > LOOP_EXITS) return;
    if (killedForMemory.delete(row.container_id)) emit(row, 'replica.oom_killed', { exit_code: event.exitCode });
    else emit(row, 'replica.exited', { exit_code: event.exitCode });
    if (times.length === LOOP_EXITS) {
      emit(row, 'replica.crash_loop', {
        exits: times.length,
        minutes: LOOP_WINDOW_MS / 60_000,
        hint: 'see the logs of the service; roll back if a deploy caused it',
      });
    }
  };

  const onEvent = (event: RuntimeEvent, signal: AbortSignal): void => {
    const row = deps.services.replicas.get(event.containerId);
    if (event.action === 'destroy') {
      exits.delete(event.containerId);
      deps.liveness.forget(event.containerId);
      killedForMemory.delete(event.containerId);
    }
    if (row === undefined || row.state !== 'live') return;
    if (event.action === 'die' || event.action === 'start') void routeAround(row, event.action === 'start', signal);
    if (event.action === 'oom') killedForMemory.add(row.container_id);
    else if (event.action === 'die') onDie(row, event);
    else if (event.action === 'start' && (exits.get(row.container_id)?.length ?? LOOP_EXITS) < LOOP_EXITS)
      emit(row, 'replica.restarted', {});
  };

  /** Routes around replicas that are down. Rollouts set the route themselves, so a busy service is left alone. */
  const refreshRoute = async (row: ReplicaRow): Promise<void> => {
    const service = deps.services.get(row.project, row.service);
    const busy = deps.operations
      .openOf(row.project)
      .some((open) => open.service === row.service || open.service === null);
    if (service === undefined || busy) return;
    const live = deps.services.replicas
      .ofService(row.project, row.service)
      .filter((replica) => replica.state === 'live');
    const up = live.filter((replica) => deps.liveness.running(replica.container_id));
    // With none up all stay: the proxy answers 502 until one is back, and needs no further change then.
    await deps.proxy.apply(routeOf(deps, service, up.length > 0 ? up : live));
  };

  const routeAround = async (row: ReplicaRow, running: boolean, signal: AbortSignal): Promise<void> => {
    try {
      if (running) {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(LISTEN_AGAIN_MS)]);
        const result = await probeUntil({ ip: row.ip, port: row.port, path: null }, deps.clock, limit);
        if (!result.ok) return;
      }
      deps.liveness.set(row.container_id, running);
      await refreshRoute(row);
    } catch (error) {
      if (!signal.aborted)
        deps.log.warn('cannot route around a replica', { replica: row.name, reason: messageOf(error) });
    }
  };

  return {
    run: async (signal, onBack) => {
      for (let lost = false; !signal.aborted; lost = true) {
        try {
          if (lost) {
            await deps.runtime.info();
            onBack();
          }
          for await (const event of deps.runtime.events(replicaSelector(deps.instance), signal)) onEvent(event, signal);
        } catch (error) {
          if (!signal.aborted) deps.log.warn('lost the link to the engine’s events', { reason: messageOf(error) });
        }
        await deps.clock.sleep(RELINK_PAUSE_MS, signal);
      }
    },
  };
};
