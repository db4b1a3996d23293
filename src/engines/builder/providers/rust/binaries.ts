import { invalidInput } from '#kernel/errors';
import { type PlanContext, noStartCommand } from '../provider.ts';
import { fieldsAt, isFields, textAt, textsOf } from '../support/fields.ts';
import type { Crate, RustLayout } from './layout.ts';

export interface Binary {
  name: string;
  crate: Crate;
  /** Features that it is only built with. */
  features: string[];
}

/** Every binary that the app may be. */
export const binariesOf = ({ root, app, members }: RustLayout): Binary[] => {
  const chosen = app.dir.path === root.dir.path ? members : [app];
  return chosen.flatMap((crate) =>
    namesOf(crate)
      .filter((name) => CRATE.test(name) && CRATE.test(crate.name))
      .map((name) => ({ name, crate, features: requiredFeatures(crate, name) })),
  );
};

/** The binary to build: the only one, or the one that a name or the manifest leads to. */
export const chooseBinary = (
  context: PlanContext,
  layout: RustLayout,
  binaries: Binary[],
  started: string[],
): Binary => {
  const { serviceName, notes } = context;
  const { root, app } = layout;
  const defaultRun = textAt(app.manifest, 'package', 'default-run') ?? textAt(root.manifest, 'package', 'default-run');
  const only = (list: Binary[]): Binary | undefined => (list.length === 1 ? list[0] : undefined);
  const named = (name: string | undefined): Binary | undefined =>
    only(binaries.filter((binary) => binary.name === name));
  const own = binaries.filter(({ crate }) => crate.dir.path === app.dir.path);
  const reasons: [Binary | undefined, string][] = [
    [only(binaries), 'the only binary'],
    [started.length === 1 ? named(started[0]) : undefined, 'the start command names it'],
    [named(defaultRun), 'default-run in Cargo.toml says so'],
    [named(serviceName), 'it has the name of the service'],
    [only(own), 'the only binary of the root package'],
    [only(defaultMembers(layout, binaries)), 'the only binary of default-members'],
    [named(app.name), 'it has the name of the package'],
  ];
  for (const [binary, reason] of reasons) {
    if (!binary) continue;
    notes.decisions.push(`binary ${binary.name}: ${reason}`);
    return binary;
  }
  throw binaries.length === 0
    ? noStartCommand('a Rust package', 'src/main.rs, src/bin and [[bin]]', 'add src/main.rs')
    : severalBinaries(layout, binaries);
};

const severalBinaries = ({ root, app }: RustLayout, binaries: Binary[]): Error => {
  const list = binaries.slice(0, 20).map(({ name }) => name);
  const folders = [...new Set(binaries.map(({ crate }) => crate.dir.path))].filter((path) => path !== app.dir.path);
  const ways =
    folders.length > 1
      ? `set root to its folder (${folders.slice(0, 20).join(', ')}) in the [build] table of berth.toml, or in [services.<name>.build]`
      : 'set default-run in Cargo.toml';
  return invalidInput(
    `this ${isFields(root.manifest['workspace']) ? 'workspace' : 'package'} has several binaries: ${list.join(', ')}`,
    `${ways}; or name the service after it`,
  );
};

const defaultMembers = ({ root }: RustLayout, binaries: Binary[]): Binary[] => {
  const folders = new Set(
    textsOf(fieldsAt(root.manifest, 'workspace')['default-members']).map(
      (folder) => root.dir.dir(folder.replace(/^\.\/|\/+$/g, '')).path,
    ),
  );
  return binaries.filter(({ crate }) => folders.has(crate.dir.path));
};

/** What cargo itself allows in names. */
const CRATE = /^[A-Za-z_][A-Za-z0-9_-]*$/;

const listed = ({ manifest }: Crate): unknown[] => {
  const list = manifest['bin'];
  return Array.isArray(list) ? list : [];
};

const namesOf = (crate: Crate): string[] => {
  const { dir, manifest } = crate;
  const own = listed(crate).flatMap((bin) => textAt(bin, 'name') ?? []);
  if (fieldsAt(manifest, 'package')['autobins'] === false) return own;
  const main = listed(crate).find((bin) => textAt(bin, 'path') === 'src/main.rs');
  const found = dir.has('src/main.rs') ? [textAt(main, 'name') ?? crate.name] : [];
  const paths = new Set(listed(crate).map((bin) => textAt(bin, 'path')));
  const others = !dir.hasDir('src/bin')
    ? []
    : dir
        .dir('src/bin')
        .files()
        .filter((file) => !paths.has(`src/bin/${file}`))
        .flatMap((file) => /^([^/]+?)(?:\.rs|\/main\.rs)$/.exec(file)?.[1] ?? []);
  return [...new Set([...own, ...found, ...others])];
};

const requiredFeatures = (crate: Crate, name: string): string[] =>
  textsOf(fieldsAt(listed(crate).find((bin) => textAt(bin, 'name') === name))['required-features']).filter((feature) =>
    /^[\w+./-]+$/.test(feature),
  );
