import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { LocationName, Params } from './locations.ts';

type Page<N extends LocationName> = () => Promise<{ default: ComponentType<Params<N>> }>;

/** The page of each place. A place without one is offered nowhere, and its address says that it is not there yet. */
const PAGES: { [N in LocationName]?: Page<N> } = {
  home: () => import('./projects/overview.tsx'),
  signIn: () => import('./session/sign-in.tsx'),
  start: () => import('./start/page.tsx'),
  project: () => import('./projects/page.tsx'),
  newService: () => import('./start/new-service.tsx'),
  projectSettings: () => import('./projects/settings.tsx'),
  service: () => import('./services/page.tsx'),
  releases: () => import('./services/releases.tsx'),
  serviceSettings: () => import('./services/settings.tsx'),
  operation: () => import('./deploys/page.tsx'),
  logs: () => import('./logs/page.tsx'),
  usage: () => import('./usage/page.tsx'),
  events: () => import('./events/page.tsx'),
  operations: () => import('./operations/page.tsx'),
  admin: () => import('./admin/page.tsx'),
  adminTab: () => import('./admin/page.tsx'),
  env: () => import('./env/page.tsx'),
  datastores: () => import('./datastores/list.tsx'),
  datastore: () => import('./datastores/page.tsx'),
  datastoreTab: () => import('./datastores/page.tsx'),
  repos: () => import('./repos/list.tsx'),
  repo: () => import('./repos/page.tsx'),
  repoPath: () => import('./repos/page.tsx'),
  tokens: () => import('./tokens/page.tsx'),
  ...(DEVELOPMENT && { primitives: () => import('./ui/gallery.tsx') }),
};

type AnyPage = LazyExoticComponent<ComponentType<Record<string, string>>>;

const AGAIN_MS = 500;

/** A network that changes in that moment breaks a request off; the next one passes. */
const twice =
  <T,>(load: () => Promise<T>) =>
  (): Promise<T> =>
    load().catch(async () => {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      return load();
    });

const pages = new Map<LocationName, { load: () => Promise<unknown>; Page: AnyPage }>(
  (Object.entries(PAGES) as [LocationName, Page<LocationName>][]).map(([name, load]) => [
    name,
    { load, Page: lazy(twice(load as () => Promise<{ default: ComponentType<Record<string, string>> }>)) },
  ]),
);

export const pageOf = (name: LocationName): AnyPage | undefined => pages.get(name)?.Page;

/** Whether a place has its page: menus and the palette offer only those. */
export const isThere = (name: LocationName): boolean => pages.has(name);

/** Loads the code of a page ahead of its use. */
export const preload = (name: LocationName): void => {
  pages
    .get(name)
    ?.load()
    .catch(() => undefined);
};
