import { Memoirist } from 'memoirist';
import { BerthError } from '#kernel/errors';
import type { RouteMeta } from './route.ts';

/** What the framework says about a route; a subset of Elysia's own. */
export interface DeclaredRoute {
  method: string;
  path: string;
  hooks: { detail?: unknown; query?: unknown; body?: unknown };
}

export interface RouteEntry {
  method: string;
  /** With parameters, e.g. `/v1/projects/:project`. */
  path: string;
  operationId: string;
  meta: RouteMeta;
  mutates: boolean;
  readsBody: boolean;
  /** Query parameters that the route knows. */
  queryKeys: ReadonlySet<string>;
}

export interface RouteMatch {
  entry: RouteEntry;
  params: Record<string, string>;
}

/** The routes of the assembled app, for lookups by request. */
export interface RouteTable {
  entries: readonly RouteEntry[];
  find(method: string, path: string): RouteMatch | undefined;
  /** The methods that a path has; empty for an unknown path. */
  methodsOf(path: string): string[];
}

/** Builds the table from the app's own list; a route without a declaration stops the start. */
export const createRouteTable = (routes: readonly DeclaredRoute[]): RouteTable => {
  const matcher = new Memoirist<RouteEntry>();
  const entries = routes.map(toEntry);
  for (const entry of entries) matcher.add(entry.method, entry.path, entry);
  const find = (method: string, path: string): RouteMatch | undefined => {
    const found = matcher.find(method, path);
    return found === null ? undefined : { entry: found.store, params: found.params };
  };
  const methods = [...new Set(entries.map((entry) => entry.method))];
  return { entries, find, methodsOf: (path) => methods.filter((method) => find(method, path) !== undefined) };
};

const toEntry = (declared: DeclaredRoute): RouteEntry => {
  const detail = declared.hooks.detail as { operationId?: string; 'x-berth'?: RouteMeta } | undefined;
  const meta = detail?.['x-berth'];
  if (detail?.operationId === undefined || meta === undefined) {
    throw new BerthError('INTERNAL_ERROR', `${declared.method} ${declared.path} is not declared with route()`, {
      hint: 'spread route({…}) of #http/route into its hook',
    });
  }
  const mutates = declared.method !== 'GET';
  return {
    method: declared.method,
    path: declared.path,
    operationId: detail.operationId,
    meta,
    mutates,
    readsBody: declared.hooks.body !== undefined,
    queryKeys: new Set([...propertiesOf(declared.hooks.query), ...flagsOf(meta)]),
  };
};

const propertiesOf = (schema: unknown): string[] =>
  typeof schema === 'object' && schema !== null && 'properties' in schema ? Object.keys(schema.properties ?? {}) : [];

const flagsOf = (meta: RouteMeta): string[] => [
  ...(meta.dryRun ? ['dry_run'] : []),
  ...(meta.confirm ? ['confirm'] : []),
  ...(meta.stream ? ['last_event_id'] : []),
];
