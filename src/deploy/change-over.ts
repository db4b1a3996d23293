import type { ReplicaRow, ServiceRow } from '#modules/services';
import type { RolloutRequest } from './rollout.ts';

export interface ChangeOverOptions {
  /** Replace every live replica (another release, other env, other limits), or only add and drop to reach the count. */
  replaceAll: boolean;
}

/** Which replicas stay, start and go, so that `service.replicas` of them run. Pure. */
export const changeOver = (
  service: ServiceRow,
  rows: readonly ReplicaRow[],
  image: string,
  options: ChangeOverOptions,
): RolloutRequest => {
  const live = rows.filter((row) => row.state === 'live').sort((a, b) => a.slot - b.slot);
  const keep = options.replaceAll ? [] : live.slice(0, service.replicas);
  const taken = new Set(keep.map((row) => row.slot));
  const slots: number[] = [];
  for (let slot = 1; slots.length + keep.length < service.replicas; slot += 1) if (!taken.has(slot)) slots.push(slot);
  return { service, keep, slots, retire: live.filter((row) => !keep.includes(row)), image };
};
