import type { ReplicaView, Service, ServiceDetail } from '#modules/services';
import type { SlotState, Tone } from '../ui/status.tsx';

/** What the status of a service looks like, and is called. */
export const SERVICE_STATUS: Record<Service['status'], { tone: Tone; word: string }> = {
  running: { tone: 'ok', word: 'Running' },
  deploying: { tone: 'busy', word: 'Changing' },
  degraded: { tone: 'warn', word: 'Degraded' },
  down: { tone: 'bad', word: 'Down' },
  stopped: { tone: 'idle', word: 'Stopped' },
  empty: { tone: 'none', word: 'No release' },
};

export const needsAttention = ({ status }: Pick<Service, 'status'>): boolean =>
  status === 'down' || status === 'degraded';

export type Replicated = Pick<Service, 'status' | 'replicas' | 'running_replicas'>;

/** The quay of a service whose replicas are known by their number only. */
export const slotsOf = ({ replicas, running_replicas, status }: Replicated): SlotState[] =>
  Array.from({ length: Math.max(replicas, running_replicas) }, (_none, index) => {
    if (index < running_replicas) return 'live';
    return status === 'deploying' ? 'starting' : status === 'down' || status === 'degraded' ? 'exited' : 'free';
  });

/** The same, replica by replica. */
export const slotOf = ({ state, running }: ReplicaView): SlotState => {
  if (state === 'live') return running ? 'live' : 'exited';
  return state === 'starting' || state === 'draining' ? state : 'exited';
};

export const replicaText = ({ replicas, running_replicas }: Pick<Service, 'replicas' | 'running_replicas'>): string =>
  replicas === 0 ? 'scaled to 0' : `${running_replicas} of ${replicas} replicas run`;

/** Since when the oldest of its live replicas runs. */
export const upSince = ({ replica_states: replicas }: Pick<ServiceDetail, 'replica_states'>): string | undefined =>
  replicas
    .filter(({ state, running, started_at: at }) => state === 'live' && running && at !== null)
    .flatMap(({ started_at: at }) => at ?? [])
    .sort()[0];
