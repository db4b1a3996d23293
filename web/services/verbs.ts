import type { DryRun } from '#kernel/schema';
import type { Accepted } from '#modules/operations';
import type { Service, Settings } from '#modules/services';
import { at, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { to } from '../locations.ts';
import { toast } from '../ui/toast.tsx';

const PREVIEW = { query: { dry_run: true } };

const path = ({ project, name }: Pick<Service, 'project' | 'name'>, ...rest: string[]): string =>
  at('projects', project, 'services', name, ...rest);

export interface Verb {
  preview: () => Promise<DryRun>;
  /** Starts it, and says so with a link to its operation. */
  run: () => Promise<void>;
}

const begun = (what: string, reply: Partial<Accepted>): void => {
  void queries.invalidateQueries();
  if (reply.operation_id === undefined) toast('ok', 'Nothing had to change');
  else toast('busy', what, { to: to('operation', { operation: reply.operation_id }), label: 'Watch' });
};

export const restartOf = (service: Service): Verb => ({
  preview: () => call<DryRun>('POST', path(service, 'restart'), PREVIEW),
  run: async () => begun(`Restarting ${service.name}`, await call<Accepted>('POST', path(service, 'restart'))),
});

export const rollbackOf = (service: Service, release: string | undefined): Verb => {
  const json = release === undefined ? {} : { release };
  return {
    preview: () => call<DryRun>('POST', path(service, 'rollback'), { ...PREVIEW, json }),
    run: async () =>
      begun(`Rolling ${service.name} back`, await call<Accepted>('POST', path(service, 'rollback'), { json })),
  };
};

export const changeOf = (service: Service, settings: Settings): Verb => ({
  preview: () => call<DryRun>('PATCH', path(service), { ...PREVIEW, json: settings }),
  run: async () =>
    begun(`Changing ${service.name}`, await call<Partial<Accepted>>('PATCH', path(service), { json: settings })),
});

export const deletionOf = (service: Service): Verb => ({
  preview: () => call<DryRun>('DELETE', path(service), PREVIEW),
  run: async () =>
    begun(`Deleting ${service.name}`, await call<Accepted>('DELETE', path(service), { query: { confirm: true } })),
});
