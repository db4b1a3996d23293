import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Kinds of large sources, each as people have them. */
export const MONOREPOS = ['node', 'go', 'rust', 'python', 'unstructured'] as const;
export type Monorepo = (typeof MONOREPOS)[number];

/** Writes a source of `count` files to a folder; the service `web` is one of its apps. */
export const writeMonorepo = (dir: string, kind: Monorepo, count: number): void => {
  const files = new Map(Object.entries(FRAMES[kind]));
  const packages = 200;
  for (let index = 0; files.size < count; index += 1) {
    const one = index % packages;
    for (const [path, text] of Object.entries(PACKAGES[kind](one, Math.floor(index / packages)))) files.set(path, text);
  }
  for (const [path, text] of [...files].slice(0, count)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
};

const json = (value: unknown): string => JSON.stringify(value, null, 2);

const FRAMES: Record<Monorepo, Record<string, string>> = {
  node: {
    'package.json': json({
      name: 'repo',
      private: true,
      devDependencies: { turbo: '2' },
      packageManager: 'pnpm@9.15.0',
    }),
    'pnpm-workspace.yaml': 'packages:\n  - "apps/*"\n  - "packages/*"\n',
    'pnpm-lock.yaml': `lockfileVersion: '9.0'\n${'\n  lodash@4.17.21:\n    resolution: {integrity: sha512-x}\n'.repeat(4000)}`,
    'turbo.json': json({ tasks: { build: { dependsOn: ['^build'] } } }),
    'apps/web/package.json': json({
      name: 'web',
      scripts: { build: 'next build', start: 'next start' },
      dependencies: { next: '15', 'package-1': 'workspace:*' },
    }),
    'apps/web/next.config.ts': 'export default {};\n',
  },
  go: {
    'go.mod': `module example.com/repo\n\ngo 1.24\n\nrequire (\n${'\tgithub.com/google/uuid v1.6.0\n'.repeat(300)})\n`,
    'go.sum': 'github.com/google/uuid v1.6.0 h1:a=\n'.repeat(2000),
    'cmd/web/main.go': 'package main\n\nfunc main() {}\n',
    'cmd/worker/main.go': 'package main\n\nfunc main() {}\n',
  },
  rust: {
    'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\n',
    'Cargo.lock': `version = 4\n${Array.from({ length: 800 }, (_none, index) => `\n[[package]]\nname = "crate-${index}"\nversion = "0.1.0"\n`).join('')}`,
    'crates/web/Cargo.toml': '[package]\nname = "web"\nversion = "0.1.0"\n',
    'crates/web/src/main.rs': 'fn main() {}\n',
  },
  python: {
    'requirements.txt': 'fastapi\nuvicorn\n',
    'main.py': 'from fastapi import FastAPI\n\napp = FastAPI()\n',
  },
  // Nothing at the root says what it is: every folder is looked at for what to offer.
  unstructured: { 'README.md': '# Everything\n' },
};

/** One more file (or more) of a package. */
const PACKAGES: Record<Monorepo, (one: number, file: number) => Record<string, string>> = {
  node: (one, file) =>
    file === 0
      ? {
          [`packages/package-${one}/package.json`]: json({
            name: `package-${one}`,
            scripts: { build: 'tsc' },
            dependencies: { lodash: '4' },
          }),
        }
      : { [`packages/package-${one}/src/folder-${file % 10}/file-${file}.ts`]: `export const value = ${file};\n` },
  go: (one, file) => ({
    [`internal/area-${one}/part-${file % 10}/file${file}.go`]: `package part\n\nconst Value = ${file}\n`,
  }),
  rust: (one, file) =>
    file === 0
      ? { [`crates/crate-${one}/Cargo.toml`]: `[package]\nname = "crate-${one}"\nversion = "0.1.0"\n` }
      : { [`crates/crate-${one}/src/${file === 1 ? 'lib' : `part_${file}`}.rs`]: `pub const VALUE: u32 = ${file};\n` },
  python: (one, file) => ({ [`area_${one}/part_${file % 10}/module_${file}.py`]: `VALUE = ${file}\n` }),
  unstructured: (one, file) => ({ [`area-${one}/part-${file % 10}/note-${file}.md`]: `Note ${file}.\n` }),
};
