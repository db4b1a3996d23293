import { conflict, notFound } from '#kernel/errors';
import type { Connection } from '#engines/docker/connection';
import { labelFilter } from './events.ts';
import { statusOf } from '#engines/docker/failures';
import { carries } from './labels.ts';
import type { Labels, Runtime } from './port.ts';

type VolumeCalls = Pick<Runtime, 'listVolumes' | 'removeVolume'>;

export const volumeCalls = ({ call }: Connection, installation: Labels): VolumeCalls => {
  const labelsOf = (name: string): Promise<Labels | undefined> =>
    call(`look for volume ${name}`, async (docker, abortSignal) => {
      try {
        const { Labels } = await docker.getVolume(encodeURIComponent(name)).inspect({ abortSignal });
        return Labels ?? {};
      } catch (error) {
        if (statusOf(error) === 404) return undefined;
        throw error;
      }
    });

  return {
    listVolumes: (labels) =>
      call('list volumes', async (docker, abortSignal) => {
        const filters = JSON.stringify({ label: labelFilter({ ...labels, ...installation }) });
        const { Volumes } = await docker.listVolumes({ filters, abortSignal });
        // Docker says null for none.
        return ((Volumes as typeof Volumes | null) ?? []).map(({ Name, Labels }) => ({
          name: Name,
          labels: Labels ?? {},
        }));
      }),
    removeVolume: async (name) => {
      const labels = await labelsOf(name);
      if (labels === undefined) return;
      if (!carries(labels, installation)) throw notFound(`no volume ${name} of this installation`, 'check the name');
      await call(`remove volume ${name}`, async (docker, abortSignal) => {
        try {
          await docker.getVolume(encodeURIComponent(name)).remove({ abortSignal });
        } catch (error) {
          if (statusOf(error) === 404) return;
          if (statusOf(error) !== 409) throw error;
          throw conflict(`volume ${name} is in use by a container`, 'remove its containers first', true);
        }
      });
    },
  };
};
