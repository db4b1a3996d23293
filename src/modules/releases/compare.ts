import { isDeepStrictEqual } from 'node:util';
import type { Comparison, Release } from './model.ts';
import type { ReleaseRow } from './store.ts';

/** Fields of a release that say what it is; the others say when and by whom it was made. */
const FIELDS = ['digest', 'size_bytes', 'provider', 'source_sha256', 'commit', 'created_by'] as const;

/** What differs between two releases of a service. */
export const compareReleases = (
  from: { row: ReleaseRow; view: Release },
  to: { row: ReleaseRow; view: Release },
): Comparison => ({
  from: from.view,
  to: to.view,
  changes: [
    ...differences(pick(from.view), pick(to.view), ''),
    ...differences(buildOf(from.row), buildOf(to.row), 'build.'),
  ],
  env: envDifference(namesOf(from.row), namesOf(to.row)),
});

const pick = (release: Release): Record<string, unknown> =>
  Object.fromEntries(FIELDS.map((field) => [field, release[field]]));

const differences = (
  from: Record<string, unknown> | null,
  to: Record<string, unknown> | null,
  prefix: string,
): Comparison['changes'] => {
  if (from === null || to === null) return [];
  return [...new Set([...Object.keys(from), ...Object.keys(to)])]
    .filter((key) => !isDeepStrictEqual(from[key], to[key]))
    .map((key) => ({ what: `${prefix}${key}`, from: from[key] ?? null, to: to[key] ?? null }));
};

const buildOf = ({ build }: ReleaseRow): Record<string, unknown> | null =>
  build === null ? null : (JSON.parse(build) as Record<string, unknown>);

const namesOf = ({ env_names: names }: ReleaseRow): string[] | null =>
  names === null ? null : (JSON.parse(names) as string[]);

const envDifference = (from: string[] | null, to: string[] | null): Comparison['env'] =>
  from === null || to === null
    ? null
    : { added: to.filter((name) => !from.includes(name)), removed: from.filter((name) => !to.includes(name)) };
