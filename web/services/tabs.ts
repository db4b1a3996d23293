import type { LocationName } from '../locations.ts';
import type { IconName } from '../ui/icons.tsx';

type ServiceLocation = Extract<LocationName, 'service' | 'releases' | 'logs' | 'usage' | 'serviceSettings'>;

interface ServiceTab {
  name: ServiceLocation;
  label: string;
  icon: IconName;
  /** Pressed on any page of the service. */
  key: string;
}

/** The pages of a service, the same everywhere: tabs, palette, keys. */
export const SERVICE_TABS: readonly ServiceTab[] = [
  { name: 'service', label: 'Overview', icon: 'service', key: '1' },
  { name: 'releases', label: 'Releases', icon: 'deploy', key: '2' },
  { name: 'logs', label: 'Logs', icon: 'logs', key: '3' },
  { name: 'usage', label: 'Usage', icon: 'usage', key: '4' },
  { name: 'serviceSettings', label: 'Settings', icon: 'settings', key: '5' },
];
