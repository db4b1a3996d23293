/**
 * Which replicas run right now, as far as the engine's events and the reconciler have told. The table says which replicas
 * are wanted; this says which of them are down at the moment. A replica that nothing is known of counts as running.
 */
export interface Liveness {
  running(containerId: string): boolean;
  set(containerId: string, running: boolean): void;
  forget(containerId: string): void;
  /** How often it came up again after it had been down. */
  restarts(containerId: string): number;
  /** Grows with every change. */
  version(): number;
}

export const createLiveness = (): Liveness => {
  const down = new Set<string>();
  const restarts = new Map<string, number>();
  let version = 0;
  const up = (containerId: string): boolean => {
    const changed = down.delete(containerId);
    if (changed) version += 1;
    return changed;
  };
  return {
    running: (containerId) => !down.has(containerId),
    set: (containerId, running) => {
      if (running) {
        if (up(containerId)) restarts.set(containerId, (restarts.get(containerId) ?? 0) + 1);
      } else if (!down.has(containerId)) {
        down.add(containerId);
        version += 1;
      }
    },
    forget: (containerId) => {
      up(containerId);
      restarts.delete(containerId);
    },
    restarts: (containerId) => restarts.get(containerId) ?? 0,
    version: () => version,
  };
};
