import type { SetEnv } from '#modules/env';
import { to } from '../locations.ts';
import { count } from '../ui/format.ts';
import { toast } from '../ui/toast.tsx';

/** Says what a change of the environment has set off. */
export const announce = (project: string, { set, unset, operations }: SetEnv): void => {
  const done = [
    ...(set.length > 0 ? [`${count(set.length, 'variable')} set`] : []),
    ...(unset.length > 0 ? [`${count(unset.length, 'variable')} unset`] : []),
  ].join(', ');
  if (done === '') return toast('idle', 'Nothing was different: nothing has changed');
  const [first, ...others] = operations;
  if (first === undefined) return toast('ok', `${done} in ${project}`);
  const restarting =
    others.length === 0 ? `${first.service} restarts` : `${count(operations.length, 'service')} restart`;
  return toast('busy', `${done}; ${restarting}`, {
    to: to('operation', { operation: first.operation_id }),
    label: 'Follow',
  });
};

/** `2 services restart without an outage: web, worker.` */
export const describeRestarts = (services: readonly string[]): string => {
  if (services.length === 0) return 'Nothing restarts.';
  const verb = services.length === 1 ? 'restarts' : 'restart';
  return `${count(services.length, 'service')} ${verb} without an outage: ${services.join(', ')}.`;
};
