import semver from 'semver';
import type { Dir } from '../../source-tree.ts';
import { fieldsAt, isFields, textAt } from '../support/fields.ts';
import type { Crate, RustLayout } from './layout.ts';

/** The packages of a Cargo.lock. */
export class CargoLock {
  /** Whether there is one at all. */
  readonly present: boolean;
  /** Whether anything comes from a git repository. */
  readonly fromGit: boolean;
  readonly #versions = new Map<string, string[]>();
  readonly #dependents = new Map<string, string[]>();

  constructor(dir: Dir) {
    const text = dir.read('Cargo.lock') ?? '';
    this.present = text !== '';
    this.fromGit = /^source = "git\+/m.test(text);
    for (const block of text.split(/^\[\[package\]\]\s*$/m).slice(1)) this.#add(block);
  }

  #add(block: string): void {
    const name = /^name = "([^"]+)"/m.exec(block)?.[1] ?? '';
    const version = /^version = "([^"]+)"/m.exec(block)?.[1] ?? '';
    push(this.#versions, name, version);
    const list = /^dependencies = \[([^\]]*)\]/m.exec(block)?.[1] ?? '';
    for (const [, dependency = ''] of list.matchAll(/"([^" ]+)[^"]*"/g)) push(this.#dependents, dependency, name);
  }

  has(name: string): boolean {
    return this.#versions.has(name);
  }

  names(): string[] {
    return [...this.#versions.keys()];
  }

  versions(name: string): string[] {
    return this.#versions.get(name) ?? [];
  }

  /** Names of the packages that depend on one. */
  dependents(name: string): string[] {
    return this.#dependents.get(name) ?? [];
  }
}

const push = (map: Map<string, string[]>, key: string, value: string): void => {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
};

/** Names of what the manifests say otherwise than Cargo.lock: with these, cargo would refuse to take it to the letter. */
export const lockDrift = ({ root, members }: RustLayout, lock: CargoLock): string[] => {
  if (!lock.present) return [];
  const own = members.filter((crate) => !matchesOwn(crate, root, lock)).map(({ name }) => name);
  const wanted = members.flatMap(({ manifest }) =>
    [manifest, ...Object.values(fieldsAt(manifest, 'target'))].flatMap((table) =>
      ['dependencies', 'dev-dependencies', 'build-dependencies'].flatMap((kind) =>
        Object.entries(fieldsAt(table, kind)),
      ),
    ),
  );
  const missing = wanted.filter(([name, value]) => !isLocked(name, value, root, lock)).map(([name]) => name);
  return [...new Set([...own, ...missing])].sort();
};

const matchesOwn = ({ name, manifest }: Crate, root: Crate, lock: CargoLock): boolean => {
  const written = fieldsAt(manifest, 'package')['version'];
  const version = isFields(written) ? textAt(root.manifest, 'workspace', 'package', 'version') : written;
  return lock.versions(name).some((locked) => locked === (version ?? '0.0.0'));
};

const isLocked = (name: string, value: unknown, root: Crate, lock: CargoLock): boolean => {
  const inherited = isFields(value) && value['workspace'] === true;
  const spec = inherited ? fieldsAt(root.manifest, 'workspace', 'dependencies')[name] : value;
  const versions = lock.versions(textAt(spec, 'package') ?? name);
  const range = typeof spec === 'string' ? spec : textAt(spec, 'version');
  if (versions.length === 0) return false;
  const wanted = range === undefined ? null : semver.validRange(cargoRange(range));
  return wanted === null || versions.some((version) => semver.satisfies(version, wanted, { includePrerelease: true }));
};

/** A bare version is a caret; commas join. */
const cargoRange = (text: string): string =>
  text
    .split(',')
    .map((part) => part.trim().replace(/^(?=\d)/, '^'))
    .join(' ')
    .replace(/\^(\d+(?:\.\d+)*)\.\*/g, '$1.x');
