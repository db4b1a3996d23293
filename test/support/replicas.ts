import type { Berth } from './berth.ts';
import { docker } from './docker.ts';

/** Ids of the containers of a service, dead ones too. */
export const replicaIds = async (berth: Berth, project: string, service: string): Promise<string[]> => {
  const labels = [`instance=${berth.instance()}`, `project=${project}`, `service=${service}`];
  const out = await docker([
    'ps',
    '-aq',
    '--no-trunc',
    ...labels.flatMap((label) => ['--filter', `label=dev.berth.${label}`]),
  ]);
  return out.split('\n').filter((id) => id !== '');
};

/** Waits until a service has so many containers: replaced replicas are drained in the background after an operation ended. */
export const untilReplicas = async (
  berth: Berth,
  { project, service, count }: { project: string; service: string; count: number },
): Promise<string[]> => {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const ids = await replicaIds(berth, project, service);
    if (ids.length === count) return ids;
    if (performance.now() > deadline) throw new Error(`${service} has ${ids.length} containers, not ${count}`);
    await Bun.sleep(100);
  }
};
