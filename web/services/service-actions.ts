import type { Capability } from '#kernel/scope';
import type { Service } from '#modules/services';
import type { IconName } from '../ui/icons.tsx';

type Actable = Pick<Service, 'live_release' | 'replicas'> & { previous_release?: Service['previous_release'] };

export interface ServiceAction {
  /** In the address: `?do=restart`. */
  name: 'deploy' | 'restart' | 'scale' | 'rollback';
  label: string;
  icon: IconName;
  key: string;
  capability: Capability;
  /** Whether it means anything for the service as it is. What is not known of it is left to the server. */
  fits: (service: Actable) => boolean;
}

/** What can be done to a service: menu, palette and keys. */
export const SERVICE_ACTIONS: readonly ServiceAction[] = [
  { name: 'deploy', label: 'Deploy', icon: 'deploy', key: 'd', capability: 'deploy', fits: () => true },
  {
    name: 'restart',
    label: 'Restart',
    icon: 'restart',
    key: 'r',
    capability: 'deploy',
    fits: ({ live_release: live, replicas }) => live !== null && replicas > 0,
  },
  {
    name: 'scale',
    label: 'Scale',
    icon: 'scale',
    key: 's',
    capability: 'scale',
    fits: ({ live_release: live }) => live !== null,
  },
  {
    name: 'rollback',
    label: 'Roll back to the release before',
    icon: 'rollback',
    key: 'b',
    capability: 'deploy',
    fits: ({ live_release: live, previous_release: previous }) => live !== null && previous !== null,
  },
];
