import type { Dir } from '../../source-tree.ts';
import { type Fields, brokenManifest, fieldsAt, isFields, readJson } from '../support/fields.ts';

/** The parts of a package.json that matter here; values of a wrong type count as absent, except where that would hide a mistake. */
export interface Manifest {
  raw: Fields;
  name: string;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  /** Every dependency of any kind. */
  all: Record<string, string>;
}

export const readManifest = (dir: Dir): Manifest | undefined => {
  const raw = readJson(dir, 'package.json');
  if (raw === undefined) return undefined;
  const place = dir.path === '' ? 'package.json' : `${dir.path}/package.json`;
  const dependencies = strings(raw, 'dependencies', place);
  const devDependencies = strings(raw, 'devDependencies', place);
  const optionalDependencies = strings(raw, 'optionalDependencies', place);
  return {
    raw,
    name: typeof raw['name'] === 'string' ? raw['name'] : '',
    scripts: strings(raw, 'scripts', place),
    dependencies,
    devDependencies,
    optionalDependencies,
    all: { ...devDependencies, ...optionalDependencies, ...dependencies },
  };
};

const strings = (raw: Fields, key: string, place: string): Record<string, string> => {
  const value = raw[key];
  if (value !== undefined && !isFields(value)) throw brokenManifest(place, undefined, `"${key}" must be an object`);
  const entries = Object.entries(fieldsAt(raw, key)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
};

export const hasDependency = (manifest: Manifest, name: string): boolean => Object.hasOwn(manifest.all, name);

export const script = (manifest: Manifest, name: string): string | undefined => {
  const text = Object.hasOwn(manifest.scripts, name) ? manifest.scripts[name]?.trim() : undefined;
  return text === '' ? undefined : text;
};
