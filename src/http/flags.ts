import { invalidInput, type BerthError } from '#kernel/errors';
import type { RouteEntry } from './route-table.ts';

export interface Flags {
  dryRun: boolean;
}

const NONE: Flags = { dryRun: false };
const VALUES = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Reads `dry_run` and `confirm` strictly, and refuses parameters that the route does not know, or gets twice. */
export const readFlags = (entry: RouteEntry, request: Request): Flags => {
  const at = request.url.indexOf('?');
  if (entry.meta.anyQuery) return NONE;
  if (at === -1) {
    if (entry.meta.confirm) throw unconfirmed(request);
    return NONE;
  }
  const query = new URLSearchParams(request.url.slice(at + 1));
  const seen = new Set<string>();
  for (const name of query.keys()) {
    if (!entry.queryKeys.has(name)) throw unknownParameter(entry, name);
    if (seen.has(name)) throw invalidInput(`query.${name} is given twice`, `give ${name} once`);
    seen.add(name);
  }
  const dryRun = entry.meta.dryRun && flag(query, 'dry_run');
  if (entry.meta.confirm && !flag(query, 'confirm') && !dryRun) throw unconfirmed(request);
  return dryRun ? { dryRun } : NONE;
};

const flag = (query: URLSearchParams, name: string): boolean => {
  const text = query.get(name);
  if (text === null) return false;
  const value = VALUES.get(text);
  if (value === undefined) {
    throw invalidInput(`query.${name} must be true, false, 1 or 0`, `use ${name}=true, or leave it out`);
  }
  return value;
};

const unknownParameter = (entry: RouteEntry, name: string): BerthError => {
  const shown = name.slice(0, 60);
  if (name === 'dry_run') {
    return invalidInput(
      `${entry.operationId} knows no dry run`,
      entry.mutates ? 'call it without dry_run' : 'a GET changes nothing: call it without dry_run',
    );
  }
  const known = [...entry.queryKeys].sort().join(', ');
  return invalidInput(
    `query.${shown} is unknown to ${entry.operationId}`,
    known === '' ? 'it takes no query parameters' : `valid query parameters: ${known}`,
  );
};

const unconfirmed = (request: Request): BerthError => {
  const url = new URL(request.url);
  url.searchParams.set('confirm', 'true');
  return invalidInput(
    'this deletes for good and needs confirm=true',
    `call ${request.method} ${url.pathname}${url.search}; with dry_run=true you see what it would do`,
  );
};
