import type { Comparison } from '#modules/releases';
import { bytes, capitalised } from '../ui/format.ts';

/** One thing in which two releases differ; null where one of them has it not. */
export interface Difference {
  label: string;
  from: string | null;
  to: string | null;
}

const DIGEST = 12;
const COMMIT = 8;

const words = (value: unknown, between: string): string =>
  Array.isArray(value) ? value.map(String).join(between) : JSON.stringify(value);

interface Version {
  tool: string;
  version: string;
}

interface Manager {
  name: string;
  version: string | null;
}

const versions = (value: unknown): string =>
  Array.isArray(value)
    ? (value as Version[]).map(({ tool, version }) => `${tool} ${version}`).join(', ')
    : JSON.stringify(value);

const manager = (value: unknown): string => {
  const { name, version } = value as Manager;
  return version === null ? name : `${name} ${version}`;
};

/** What the fields of a comparison are called, and how their values are written. */
const FIELDS: Record<string, { label: string; write?: (value: unknown) => string }> = {
  commit: { label: 'Commit', write: (value) => String(value).slice(0, COMMIT) },
  source_sha256: { label: 'Source', write: (value) => String(value).slice(0, COMMIT) },
  digest: {
    label: 'Image',
    write: (value) =>
      String(value)
        .replace(/^sha256:/, '')
        .slice(0, DIGEST),
  },
  size_bytes: { label: 'Size', write: (value) => bytes(Number(value)) },
  provider: { label: 'Built by' },
  created_by: { label: 'Made by' },
  'build.framework': { label: 'Framework' },
  'build.root': { label: 'Folder', write: (value) => (value === '' ? '/' : String(value)) },
  'build.versions': { label: 'Versions', write: versions },
  'build.package_manager': { label: 'Package manager', write: manager },
  'build.install': { label: 'Install', write: (value) => words(value, ' && ') },
  'build.build': { label: 'Build', write: (value) => words(value, ' && ') },
  'build.start': { label: 'Start command', write: (value) => words(value, ' ') },
  'build.release_command': { label: 'Release command', write: (value) => words(value, ' ') },
  'build.static_root': { label: 'Served folder' },
};

/** What only says again what other fields say. */
const LEFT_OUT = new Set(['build.provider', 'build.decisions', 'build.warnings']);

export const differencesOf = ({ changes }: Pick<Comparison, 'changes'>): Difference[] =>
  changes
    .filter(({ what }) => !LEFT_OUT.has(what))
    .map(({ what, from, to }) => {
      const { label, write } = FIELDS[what] ?? { label: nameOf(what) };
      return { label, from: textOf(from, write), to: textOf(to, write) };
    })
    .filter(({ from, to }) => from !== to);

const nameOf = (what: string): string => {
  const name = what.replace(/^build\./, '').replaceAll('_', ' ');
  return capitalised(name);
};

const textOf = (value: unknown, write: ((value: unknown) => string) | undefined): string | null => {
  if (value === null || value === undefined) return null;
  if (write !== undefined) return write(value) || null;
  return typeof value === 'string' ? value : JSON.stringify(value);
};
