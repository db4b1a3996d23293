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
