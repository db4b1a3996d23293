/** Every place of the page with an address of its own. Router, links, palette and menus all read this table. */
export const LOCATIONS = {
  home: '/',
  signIn: '/sign-in',
  start: '/new',
  project: '/p/:project',
  newService: '/p/:project/new',
  events: '/p/:project/events',
  env: '/p/:project/env',
  datastores: '/p/:project/datastores',
  datastore: '/p/:project/datastores/:datastore',
  datastoreTab: '/p/:project/datastores/:datastore/:tab',
  repos: '/p/:project/repos',
  repo: '/p/:project/repos/:repo',
  repoPath: '/p/:project/repos/:repo/*',
  projectSettings: '/p/:project/settings',
  service: '/p/:project/s/:service',
  releases: '/p/:project/s/:service/releases',
  logs: '/p/:project/s/:service/logs',
  usage: '/p/:project/s/:service/usage',
  serviceSettings: '/p/:project/s/:service/settings',
  operations: '/operations',
  operation: '/operations/:operation',
  tokens: '/tokens',
  admin: '/admin',
  adminTab: '/admin/:tab',
  primitives: '/_ui',
} as const;

export type LocationName = keyof typeof LOCATIONS;

type Segments<Path extends string> = Path extends `${infer Head}/${infer Tail}` ? Head | Segments<Tail> : Path;
type ParamOf<Segment> = Segment extends `:${infer Name}` ? Name : Segment extends '*' ? 'rest' : never;

/** The variable parts of an address, by name; `rest` is what `*` stands for, slashes included. */
export type Params<N extends LocationName> = { [P in ParamOf<Segments<(typeof LOCATIONS)[N]>>]: string };

type ToArguments<N extends LocationName> = keyof Params<N> extends never ? [] : [params: Params<N>];

/** The address of a place: `to('service', { project, service })`. */
export const to = <N extends LocationName>(name: N, ...[params]: ToArguments<N>): string => {
  const values: Record<string, string> = params ?? {};
  return LOCATIONS[name]
    .split('/')
    .map((segment) => {
      if (segment === '*') return (values['rest'] ?? '').split('/').map(encodeURIComponent).join('/');
      return segment.startsWith(':') ? encodeURIComponent(values[segment.slice(1)] ?? '') : segment;
    })
    .join('/');
};

export interface Match {
  name: LocationName;
  params: Record<string, string>;
}

/** The place that a path means. Fixed words win over variable parts. */
export const findLocation = (path: string): Match | undefined => {
  const parts = path === '/' ? ['', ''] : path.replace(/\/+$/, '').split('/');
  const found = (Object.keys(LOCATIONS) as LocationName[])
    .map((name) => ({ name, params: matchParts(LOCATIONS[name].split('/'), parts) }))
    .filter((match): match is Match => match.params !== undefined);
  return found.sort((a, b) => variables(a.name) - variables(b.name))[0];
};

const variables = (name: LocationName): number =>
  LOCATIONS[name]
    .split('/')
    .reduce((sum, segment) => sum + (segment === '*' ? 10 : segment.startsWith(':') ? 1 : 0), 0);

const matchParts = (pattern: readonly string[], parts: readonly string[]): Record<string, string> | undefined => {
  const params: Record<string, string> = {};
  for (const [index, segment] of pattern.entries()) {
    if (segment === '*') {
      const rest = parts.slice(index).map(decode);
      if (rest.length === 0 || rest.includes(undefined)) return undefined;
      params['rest'] = rest.join('/');
      return params;
    }
    const part = parts[index];
    if (part === undefined) return undefined;
    const value = decode(part);
    if (segment.startsWith(':')) {
      if (value === undefined || value === '') return undefined;
      params[segment.slice(1)] = value;
    } else if (segment !== value) return undefined;
  }
  return parts.length === pattern.length ? params : undefined;
};

const decode = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part);
  } catch {
    // Malformed percent encoding: no place has such a name.
    return undefined;
  }
};
