import type { CopyStep } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { safePath } from '../../dockerfile-text.ts';
import { sourceOf } from './source.ts';

/** Folders that compiled apps read at run time. */
const FOLDERS = [
  'assets',
  'config',
  'configs',
  'content',
  'data',
  'db',
  'dist',
  'locales',
  'migrations',
  'public',
  'resources',
  'static',
  'templates',
  'ui',
  'views',
  'web',
  'www',
];
const FILES = /^[\w.-]+\.(css|csv|html?|js|json|sql|tmpl|toml|txt|ya?ml)$/;
const NOT_FILES =
  /^(berth\.toml|Cargo\.toml|rust-toolchain\.toml|package(-lock)?\.json|clippy\.toml|rustfmt\.toml|requirements\.txt|robots-dev\.txt|CMakeLists\.txt|CMakePresets\.json|conanfile\.txt|vcpkg(-configuration)?\.json|meson_options\.txt|shard\.yml|pubspec\.yaml|analysis_options\.yaml|stack\.yaml|package\.yaml)$/;

/** The files beside a compiled program that it may open by a relative path: templates, migrations, settings. */
export const assetCopies = (app: Dir, sourceEndings: readonly string[]): CopyStep[] => {
  const holdsMore = (folder: string): boolean =>
    app
      .dir(folder)
      .files()
      .some((file) => !sourceEndings.some((ending) => file.endsWith(ending)));
  const folders = FOLDERS.filter((folder) => app.hasDir(folder) && holdsMore(folder));
  const files = app.entries().filter((name) => FILES.test(name) && !NOT_FILES.test(name));
  const single: CopyStep[] =
    files.length === 0
      ? []
      : [{ kind: 'copy', sources: files.map((name) => safePath(sourceOf(app, name))), target: './', owned: true }];
  return [
    ...single,
    ...folders.map((folder): CopyStep => ({
      kind: 'copy',
      sources: [`${safePath(sourceOf(app, folder))}/`],
      target: `./${folder}/`,
      owned: true,
    })),
  ];
};
