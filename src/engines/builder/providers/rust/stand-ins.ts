import type { ContextFile } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { textAt } from '../support/fields.ts';
import type { Crate, RustLayout } from './layout.ts';

const LIBRARY = '//! Stands in until the sources come.\n#![allow(warnings)]\n';
const PROGRAM = `${LIBRARY}fn main() {}\n`;

/** Files beside the manifests that cargo reads. */
const SETTINGS = ['Cargo.lock', '.cargo/config.toml', '.cargo/config'];

/**
 * The manifests of every package with empty sources, so that the dependencies are built in a step of their own, which an
 * edit of the sources leaves as it is.
 */
export const standIns = ({ context, root, members, others }: RustLayout): ContextFile[] => {
  const crates = [...new Map([root, ...members, ...others].map((crate) => [crate.dir.path, crate])).values()];
  const settings = [context, root.dir].flatMap((dir) =>
    SETTINGS.filter((file) => dir.has(file)).map((file) => [
      inContext(context.path, dir.path, file),
      dir.read(file) ?? '',
    ]),
  );
  const files = crates.flatMap((crate) => [
    [inContext(context.path, crate.dir.path, 'Cargo.toml'), crate.dir.read('Cargo.toml') ?? ''],
    ...targetsOf(crate).map((file) => [
      inContext(context.path, crate.dir.path, file),
      /(^|\/)lib\.rs$/.test(file) || file === textAt(crate.manifest, 'lib', 'path') ? LIBRARY : PROGRAM,
    ]),
  ]);
  return [...new Map([...settings, ...files].map(([path = '', content = '']) => [path, content])).entries()]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([path, content]) => ({ path: `berth/manifests/${safePath(path)}`, content }));
};

const inContext = (context: string, folder: string, file: string): string => {
  const inside = folder === context ? '' : folder.slice(context === '' ? 0 : context.length + 1);
  return inside === '' ? file : `${inside}/${file}`;
};

/** Sources of a package that its manifest names, or that cargo finds by their place. */
const targetsOf = ({ dir, manifest, name }: Crate): string[] => {
  if (name === '') return [];
  const named = ['bin', 'example', 'test', 'bench'].flatMap((kind) => {
    const list: unknown = manifest[kind];
    return Array.isArray(list) ? list.map((target) => ({ kind, path: textAt(target, 'path') })) : [];
  });
  const folders = [...new Set(named.map(({ kind }) => FOLDERS[kind] ?? ''))].filter((folder) => folder !== '');
  const found = ['src/bin', ...folders].flatMap((folder) =>
    dir.hasDir(folder)
      ? dir
          .dir(folder)
          .files()
          .filter((file) => /^[^/]+\.rs$|^[^/]+\/main\.rs$/.test(file))
          .map((file) => `${folder}/${file}`)
      : [],
  );
  const paths = [
    'src/lib.rs',
    'src/main.rs',
    'build.rs',
    textAt(manifest, 'package', 'build'),
    textAt(manifest, 'lib', 'path'),
    ...named.map(({ path }) => path),
    ...found,
  ];
  return [...new Set(paths)].filter((path): path is string => path !== undefined && dir.has(path));
};

const FOLDERS: Record<string, string> = { example: 'examples', test: 'tests', bench: 'benches' };
