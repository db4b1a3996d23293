import { invalidInput } from '#kernel/errors';
import { APP_DIR, type CacheMount, type Plan } from '../plan.ts';
import type { Dir } from '../source-tree.ts';
import { TOOLS, type VersionRequest } from '../versions.ts';
import { safePath } from '../dockerfile-text.ts';
import {
  type PlanContext,
  type Provider,
  aptList,
  aptSteps,
  chosenStart,
  emptyPlan,
  noStartCommand,
  runtimeOf,
  versionOf,
} from './provider.ts';
import { assetCopies } from './support/assets.ts';
import { BINARY, COMPILED_BASE, compiledOutputs, compiledRuntime } from './support/compiled.ts';
import { fieldsAt, placeOf, readToml, textAt, textsOf } from './support/fields.ts';
import { sourceOf } from './support/source.ts';

const CACHES: CacheMount[] = [
  { name: 'cargo-registry', target: '/usr/local/cargo/registry' },
  { name: 'cargo-git', target: '/usr/local/cargo/git' },
  { name: 'cargo-target', target: '/app/target', locked: true },
];

/** Crates that compile or link C libraries: the full image has their headers. */
const SYSTEM: Record<string, string[]> = {
  'libpq-sys': ['libpq5'],
  'mysqlclient-sys': ['libmariadb3'],
  'openssl-sys': ['libssl3'],
  pq_sys: ['libpq5'],
  'pq-sys': ['libpq5'],
  'rdkafka-sys': [],
  'libsqlite3-sys': [],
  'curl-sys': [],
};

/** Apps in Rust. */
export const rust: Provider = {
  name: 'rust',
  markers: ['Cargo.toml'],
  doc: {
    title: 'Rust',
    detects: '`Cargo.toml`',
    notes:
      'the only binary of the package or workspace, `default-run`, or the one with the name of the service; dependencies and target are kept between builds',
  },
  detect: (app) => (app.has('Cargo.toml') ? 'strong' : null),
  plan: planRust,
};

function planRust(context: PlanContext): Plan {
  const { app, overrides, notes } = context;
  const plan = emptyPlan(context, 'rust');
  const version = versionOf(context, TOOLS.rust, [toolchain(app)]).version;
  const bin = overrides.build === undefined ? chooseBinary(context) : undefined;
  const locked = app.read('Cargo.lock') ?? '';
  if (locked === '') notes.warnings.push('there is no Cargo.lock: versions may change from build to build; commit it');
  const system = Object.keys(SYSTEM).filter((name) => locked.includes(`\nname = "${name}"\n`));
  const full = system.length > 0 || locked === '';
  if (system.length > 0) notes.decisions.push(`build image rust:${version}: ${system.join(', ')} links C libraries`);
  const build = overrides.build ?? buildCommands(bin ?? { name: 'app', package: '' }, locked !== '');
  const start = chosenStart(context) ?? [BINARY];
  const runtime = runtimeOf(COMPILED_BASE, 'app', { ROCKET_ADDRESS: '0.0.0.0', ROCKET_PORT: '8080' });
  const apt = {
    build: plan.apt.build,
    run: aptList(
      plan.apt.run,
      system.flatMap((name) => SYSTEM[name] ?? []),
    ),
  };
  // cargo looks at times, and all files of an upload bear the same one: the app's own crates are always compiled anew.
  const touch = 'find . -path ./target -prune -o -type f -exec touch {} +';
  const outputs = compiledOutputs(bin === undefined, assetCopies(app, ['.rs']));
  return {
    ...plan,
    build,
    start,
    runtime,
    apt,
    remember: { rust: version },
    stages: [
      {
        name: 'build',
        from: `rust:${version}${full ? '' : '-slim'}`,
        steps: [
          ...aptSteps(apt.build),
          { kind: 'workdir', path: APP_DIR },
          { kind: 'copy', sources: [`${safePath(sourceOf(app))}/`], target: './' },
          {
            kind: 'run',
            caches: CACHES,
            env: 'build',
            command: [...(overrides.install ?? []), touch, ...build].join(' && '),
          },
        ],
      },
      compiledRuntime(apt.run, outputs, runtime.env),
    ],
  };
}

interface Binary {
  name: string;
  package: string;
}

/** RUSTUP_TOOLCHAIN keeps rustup from fetching a second toolchain beside the image's. */
const buildCommands = (bin: Binary, locked: boolean): string[] => {
  const flags = [
    '--release',
    ...(locked ? ['--locked'] : []),
    ...(bin.package === '' ? [] : ['--package', bin.package]),
    '--bin',
    bin.name,
  ];
  return [
    `export RUSTUP_TOOLCHAIN="$(rustup toolchain list 2>/dev/null | head -n 1 | cut -d ' ' -f 1)"`,
    `cargo build ${flags.join(' ')}`,
    `mkdir -p /out`,
    `cp target/release/${bin.name} /out/app`,
  ];
};

const toolchain = (app: Dir): VersionRequest | null => {
  const file = app.firstOf('rust-toolchain.toml', 'rust-toolchain');
  if (file === undefined) return null;
  const text = app.read(file) ?? '';
  const written = (text.includes('[') ? textAt(readToml(app, file), 'toolchain', 'channel') : text.trim()) ?? 'stable';
  if (written === 'stable' || written.startsWith('stable-')) return null;
  if (!/^\d+\.\d+(\.\d+)?$/.test(written)) {
    throw invalidInput(
      `${placeOf(app, file, /channel/)} asks for the Rust toolchain ${JSON.stringify(written.slice(0, 60))}`,
      'use stable or a version such as 1.85, or add a Dockerfile',
    );
  }
  // Releases of Rust are compatible forwards: the newest 1.x builds what an older one did.
  return { range: '1', written, source: placeOf(app, file, /channel/) };
};

/** The binary to build: the only one, `default-run`, or the one with the name of the service. */
const chooseBinary = ({ app, serviceName, notes }: PlanContext): Binary => {
  const root = readToml(app, 'Cargo.toml');
  const defaultRun = textAt(root, 'package', 'default-run');
  const found = packages(app).flatMap(({ dir, name }) =>
    binaries(dir, name).map((bin) => ({ name: bin, package: dir.path === app.path ? '' : name })),
  );
  const valid = found.filter((bin) => CRATE.test(bin.name) && (bin.package === '' || CRATE.test(bin.package)));
  const reasons: [Binary | undefined, string][] = [
    [valid.length === 1 ? valid[0] : undefined, 'the only binary'],
    [valid.find((bin) => bin.name === defaultRun), 'default-run in Cargo.toml says so'],
    [valid.find((bin) => bin.name === serviceName), 'it has the name of the service'],
    [valid.find((bin) => bin.name === textAt(root, 'package', 'name')), 'it has the name of the package'],
  ];
  for (const [bin, reason] of reasons) {
    if (!bin) continue;
    notes.decisions.push(`binary ${bin.name}: ${reason}`);
    return bin;
  }
  const list = valid
    .slice(0, 20)
    .map((bin) => bin.name)
    .join(', ');
  if (valid.length === 0) throw noStartCommand('a Rust package', 'src/main.rs, src/bin and [[bin]]', 'add src/main.rs');
  throw invalidInput(
    `this workspace has several binaries: ${list}`,
    'name the service after one of them, set default-run in Cargo.toml, or set build and start in the [build] table of berth.toml',
  );
};

/** What cargo itself allows in names. */
const CRATE = /^[A-Za-z_][A-Za-z0-9_-]*$/;

const packages = (app: Dir): { dir: Dir; name: string }[] => {
  const root = readToml(app, 'Cargo.toml');
  const patterns = textsOf(fieldsAt(root, 'workspace')['members']);
  const excluded = textsOf(fieldsAt(root, 'workspace')['exclude']);
  const folders = app
    .files()
    .filter((file) => file.endsWith('/Cargo.toml'))
    .map((file) => file.slice(0, -'/Cargo.toml'.length));
  const members = folders.filter(
    (folder) => !excluded.includes(folder) && patterns.some((pattern) => matches(pattern, folder)),
  );
  const dirs = [...(fieldsAt(root)['package'] === undefined ? [] : [app]), ...members.map((folder) => app.dir(folder))];
  return dirs.map((dir) => ({ dir, name: textAt(readToml(dir, 'Cargo.toml'), 'package', 'name') ?? '' }));
};

const matches = (pattern: string, folder: string): boolean => {
  const source = pattern
    .replace(/^\.\//, '')
    .replace(/\/+$/, '')
    .split('*')
    .map((part) => part.replaceAll(/[\\^$.+?()[\]{}|]/g, '\\$&'))
    .join('[^/]*');
  return new RegExp(`^${source}$`).test(folder);
};

const binaries = (dir: Dir, name: string): string[] => {
  const manifest = readToml(dir, 'Cargo.toml');
  const listed = Array.isArray(manifest?.['bin'])
    ? manifest['bin'].flatMap((bin: unknown) => textAt(bin, 'name') ?? [])
    : [];
  const main = dir.has('src/main.rs') ? [mainName(manifest, name)] : [];
  const others = dir
    .files()
    .map((file) => /^src\/bin\/([^/]+?)(?:\.rs|\/main\.rs)$/.exec(file)?.[1] ?? '')
    .filter((found) => found !== '');
  return [...new Set([...listed, ...main, ...others])];
};

/** A `[[bin]]` whose path is src/main.rs gives that file another name than the package's. */
const mainName = (manifest: unknown, name: string): string => {
  const list: unknown[] = Array.isArray(fieldsAt(manifest)['bin']) ? (fieldsAt(manifest)['bin'] as unknown[]) : [];
  return (
    list
      .map((bin) => (textAt(bin, 'path') === 'src/main.rs' ? textAt(bin, 'name') : undefined))
      .find((found) => found !== undefined) ?? name
  );
};
