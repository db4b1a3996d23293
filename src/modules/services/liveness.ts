/**
 * Which replicas run right now, as far as the engine's events and the reconciler have told. The table says which replicas
 * are wanted; this says which of them are down at the moment. A replica that nothing is known of counts as running.
 */
export interface Liveness {
  running(containerId: string): boolean;
  set(containerId: string, running: boolean): void;
  forget(containerId: string): void;
  /** Grows with every change. */
  version(): number;
}

export const createLiveness = (): Liveness => {
  const down = new Set<string>();
  let version = 0;
  const up = (containerId: string): void => {
    if (down.delete(containerId)) version += 1;
  };
  return {
    running: (containerId) => !down.has(containerId),
    set: (containerId, running) => {
      if (running) {
        up(containerId);
      } else if (!down.has(containerId)) {
        down.add(containerId);
        version += 1;
      }
    },
    forget: up,
    version: () => version,
  };
};
