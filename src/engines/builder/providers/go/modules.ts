import type { GoLayout, GoModule } from './layout.ts';

/** How the modules of an app come into the build. */
export interface ModuleSource {
  /** Files that `go mod download` reads, relative to the context. */
  manifests: string[];
  /** Whether anything must be downloaded at all. */
  download: boolean;
  /** A flag for builds whose go.sum or vendor folder does not match go.mod. */
  flag: string;
  decisions: string[];
  warnings: string[];
}

export const moduleSource = (layout: GoLayout): ModuleSource => {
  const { modules, module, work } = layout;
  const requires = modules.flatMap(({ manifest }) => manifest.requires);
  const home = work ?? module?.dir;
  const vendored = home?.read('vendor/modules.txt');
  const files = manifestsOf(layout);
  const plain: ModuleSource = {
    manifests: files,
    download: requires.length > 0,
    flag: '',
    decisions: [],
    warnings: [],
  };
  if (vendored !== undefined) {
    const drifted = work === null && module !== null ? vendorDrift(module, vendored) : [];
    if (drifted.length === 0)
      return { ...plain, download: false, decisions: ['modules: vendor/ is there, nothing is downloaded'] };
    return { ...plain, flag: ' -mod=mod', warnings: [driftWarning('vendor/modules.txt', drifted, 'go mod vendor')] };
  }
  // In a workspace Go keeps what is missing in go.work.sum itself.
  const missing = work === null && module !== null ? sumDrift(module) : [];
  return missing.length === 0
    ? plain
    : { ...plain, flag: ' -mod=mod', warnings: [driftWarning('go.sum', missing, 'go mod tidy')] };
};

const driftWarning = (file: string, names: string[], command: string): string =>
  `WARNING: ${file} does not match go.mod (${names.slice(0, 8).join(', ')}${names.length > 8 ? ', …' : ''}): what is missing is taken from the network unchecked; run ${command} and commit it`;

const manifestsOf = ({ context, work, modules, local }: GoLayout): string[] => {
  const inContext = (path: string, file: string): string => {
    const below = path === context.path ? '' : path.slice(context.path === '' ? 0 : context.path.length + 1);
    return below === '' ? file : `${below}/${file}`;
  };
  const wanted = [
    ...(work === null ? [] : ['go.work', 'go.work.sum'].map((file) => inContext(work.path, file))),
    ...[...modules, ...local].flatMap(({ dir }) => ['go.mod', 'go.sum'].map((file) => inContext(dir.path, file))),
  ];
  return wanted.filter((file) => context.has(file)).sort();
};

/** Modules of go.mod that go.sum knows nothing of. */
const sumDrift = ({ dir, manifest }: GoModule): string[] => {
  const known = new Set(
    (dir.read('go.sum') ?? '').split('\n').map((line) => {
      const [path = '', version = ''] = line.split(' ');
      return `${path}@${version.replace(/\/go\.mod$/, '')}`;
    }),
  );
  return others(manifest)
    .filter(({ path, version }) => !known.has(`${path}@${version}`))
    .map(({ path }) => path);
};

const vendorDrift = ({ manifest }: GoModule, text: string): string[] => {
  const known = new Set([...text.matchAll(/^# (\S+) (v\S+)/gm)].map(([, path, version]) => `${path}@${version}`));
  // Modules of which no package is needed are left out of vendor/, but still listed as explicit.
  return others(manifest)
    .filter(({ path, version }) => !known.has(`${path}@${version}`))
    .map(({ path }) => path);
};

/** What go.mod requires as it stands, without what something replaces. */
const others = ({ requires, replaces }: GoModule['manifest']): GoModule['manifest']['requires'] =>
  requires.filter(({ path }) => !replaces.some((replace) => replace.path === path));
