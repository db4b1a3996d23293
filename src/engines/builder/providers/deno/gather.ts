/** Where downloads are kept between builds. */
export const DOWNLOADS = '/root/.cache/deno';
/** Deno's cache in the image: what this app needs of the downloads. */
export const DENO_DIR = '/deno-dir';
export const GATHER_FILE = 'berth/gather.mjs';

/**
 * Runs at the end of the build. The cache of downloads holds what earlier builds fetched too: only the packages of the
 * lock file go into the image, with what the registry says about these versions, or Deno would ask it at every start.
 * With a node_modules folder none do, because they are there.
 */
export const GATHER = `import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
const [from, to, root] = process.argv.slice(2);
mkdirSync(to, { recursive: true });
const copy = (path) => {
  if (existsSync(\`\${from}/\${path}\`)) cpSync(\`\${from}/\${path}\`, \`\${to}/\${path}\`, { recursive: true });
};
const readJson = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined);
const copyPackage = (path, versions) => {
  for (const version of versions) copy(\`\${path}/\${version}\`);
  const registry = readJson(\`\${from}/\${path}/registry.json\`);
  if (registry === undefined) return;
  registry.versions = Object.fromEntries(Object.entries(registry.versions ?? {}).filter(([version]) => versions.has(version)));
  mkdirSync(\`\${to}/\${path}\`, { recursive: true });
  writeFileSync(\`\${to}/\${path}/registry.json\`, JSON.stringify(registry));
};
for (const path of ['remote', 'gen']) copy(path);
if (!existsSync(\`\${root}/node_modules\`)) {
  const lock = readJson(\`\${root}/deno.lock\`);
  const locked = lock?.npm ?? lock?.packages?.npm;
  if (locked === undefined) copy('npm');
  const packages = new Map();
  for (const id of Object.keys(locked ?? {})) {
    const [, name, version] = /^(@?[^@]+)@([^_]+)/.exec(id) ?? [];
    packages.set(name, (packages.get(name) ?? new Set()).add(version));
  }
  for (const host of existsSync(\`\${from}/npm\`) ? readdirSync(\`\${from}/npm\`) : []) {
    for (const [name, versions] of packages) if (existsSync(\`\${from}/npm/\${host}/\${name}\`)) copyPackage(\`npm/\${host}/\${name}\`, versions);
  }
}
`;
