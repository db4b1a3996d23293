import type { Capability } from '#kernel/scope';
import { to, type LocationName } from '../locations.ts';
import type { IconName } from '../ui/icons.tsx';

/** A place that navigation, palette and keys lead to. */
export interface Place {
  name: LocationName;
  label: string;
  icon: IconName;
  /** Behind `g`. */
  key: string;
  /** Shown to tokens that have one of these; to all when omitted. */
  needs?: readonly Capability[];
  /** Further places that belong to it. */
  also?: readonly LocationName[];
}

interface ProjectPlace extends Place {
  name: 'project' | 'datastores' | 'repos' | 'env' | 'events' | 'projectSettings';
}

interface ServerPlace extends Place {
  name: 'home' | 'operations' | 'tokens' | 'admin';
}

export const PROJECT_PLACES: readonly ProjectPlace[] = [
  {
    name: 'project',
    label: 'Services',
    icon: 'service',
    key: 'p',
    also: ['service', 'releases', 'logs', 'usage', 'serviceSettings', 'newService'],
  },
  { name: 'datastores', label: 'Datastores', icon: 'datastore', key: 'd', also: ['datastore', 'datastoreTab'] },
  { name: 'repos', label: 'Repositories', icon: 'repo', key: 'r', also: ['repo', 'repoPath'] },
  { name: 'env', label: 'Environment', icon: 'env', key: 'e' },
  { name: 'events', label: 'Events', icon: 'events', key: 'v' },
  { name: 'projectSettings', label: 'Settings', icon: 'settings', key: 's' },
];

export const SERVER_PLACES: readonly ServerPlace[] = [
  { name: 'home', label: 'Projects', icon: 'projects', key: 'h', also: ['start'] },
  { name: 'operations', label: 'Operations', icon: 'operations', key: 'o', also: ['operation'] },
  { name: 'tokens', label: 'Tokens', icon: 'token', key: 't', needs: ['manage_tokens', 'admin'] },
  { name: 'admin', label: 'Admin', icon: 'admin', key: 'a', needs: ['admin'], also: ['adminTab'] },
];

export const isOffered = ({ needs }: Place, may: (capability: Capability) => boolean): boolean =>
  needs === undefined || needs.some(may);

export const projectPlace = ({ name }: ProjectPlace, project: string): string => to(name, { project });

/** Where `g` and a key lead to from here: `{ 'g d': '/p/shop/datastores' }`. */
export const jumpsFrom = (
  project: string | undefined,
  may: (capability: Capability) => boolean,
): Record<string, string> =>
  Object.fromEntries([
    ...SERVER_PLACES.filter((place) => isOffered(place, may)).map(({ key, name }) => [`g ${key}`, to(name)]),
    ...(project === undefined ? [] : PROJECT_PLACES.map((place) => [`g ${place.key}`, projectPlace(place, project)])),
  ]);
