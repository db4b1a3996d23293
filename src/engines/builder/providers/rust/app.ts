import type { Dir } from '../../source-tree.ts';
import type { PlanContext } from '../provider.ts';
import { type Fields, fieldsAt, isFields, readToml, textAt } from '../support/fields.ts';
import { type BuiltProgram, builtPrograms, placesOf } from '../support/programs.ts';
import { type Binary, binariesOf, chooseBinary } from './binaries.ts';
import { type RustLayout, rustLayout } from './layout.ts';
import { CargoLock, lockDrift } from './lock.ts';
import { type SystemNeeds, systemNeeds } from './system.ts';
import { type Toolchain, rustToolchain } from './toolchain.ts';

/** Everything that is known about a Rust app before its image is laid out. */
export interface RustApp {
  layout: RustLayout;
  lock: CargoLock;
  toolchain: Toolchain;
  system: SystemNeeds;
  /** `.cargo/config.toml`. */
  config: Fields;
  /** Null when the user builds with a command of their own. */
  programs: (BuiltProgram & { binary: Binary })[] | null;
  framework: string | null;
  /** Cargo.lock is there, and says what the manifests say. */
  locked: boolean;
  /** sqlx checks queries against what was saved in the source. */
  sqlxOffline: boolean;
}

export const rustApp = (context: PlanContext, start: string[], release: string[]): RustApp => {
  const { app, repo, overrides, notes } = context;
  const layout = rustLayout(repo, app);
  const root = layout.root.dir;
  const lock = new CargoLock(root);
  const config = configOf([app, root, layout.context]);
  const drift = lockDrift(layout, lock);
  warnOfLock(context, lock, drift);
  const toolchain = rustToolchain(context, firsts([app, root, repo]), textAt(config, 'build', 'target'));
  const programs = overrides.build === undefined ? programsOf(context, layout, start, release) : null;
  const system = systemNeeds(lock, config);
  if (system.crates.length > 0) notes.decisions.push(`system libraries: for ${system.crates.join(', ')}`);
  const sqlxOffline = firsts([app, root]).some((dir) => dir.hasDir('.sqlx') || dir.has('sqlx-data.json'));
  if (sqlxOffline) notes.decisions.push('sqlx: queries are checked against those saved in the source (SQLX_OFFLINE)');
  const framework = frameworkOf((programs?.[0]?.binary.crate ?? layout.app).manifest);
  if (framework !== null) notes.decisions.push(`framework: ${framework}`);
  return {
    layout,
    lock,
    toolchain,
    system,
    config,
    programs,
    framework,
    locked: lock.present && drift.length === 0,
    sqlxOffline,
  };
};

const warnOfLock = ({ notes }: PlanContext, lock: CargoLock, drift: string[]): void => {
  if (!lock.present) notes.warnings.push('there is no Cargo.lock: versions may change from build to build; commit it');
  if (drift.length === 0) return;
  const names = `${drift.slice(0, 8).join(', ')}${drift.length > 8 ? ', …' : ''}`;
  notes.warnings.push(
    `WARNING: Cargo.lock does not match Cargo.toml (${names}): versions other than the locked ones may be built; run cargo check and commit it`,
  );
};

const configOf = (dirs: Dir[]): Fields => {
  for (const dir of dirs) {
    const file = dir.firstOf('.cargo/config.toml', '.cargo/config');
    if (file !== undefined) return readToml(dir, file) ?? {};
  }
  return {};
};

const firsts = (dirs: Dir[]): Dir[] => [...new Map(dirs.map((dir) => [dir.path, dir])).values()];

const programsOf = (
  context: PlanContext,
  layout: RustLayout,
  start: string[],
  release: string[],
): (BuiltProgram & { binary: Binary })[] => {
  const binaries = binariesOf(layout);
  const names = binaries.map(({ name }) => name);
  const started = placesOf([start], names).map(({ name }) => name);
  const main = chooseBinary(context, layout, binaries, started);
  return builtPrograms(main.name, placesOf([start, release], names)).map((program, index) => ({
    ...program,
    binary: index === 0 ? main : (binaries.find(({ name }) => name === program.output) ?? main),
  }));
};

const FRAMEWORKS = ['rocket', 'axum', 'actix-web', 'warp', 'poem', 'salvo', 'tide', 'ntex', 'loco-rs', 'tonic'];

const frameworkOf = (manifest: Fields): string | null =>
  FRAMEWORKS.find((name) => Object.hasOwn(fieldsAt(manifest, 'dependencies'), name)) ?? null;

/** The commands that build each program. */
export const buildCommands = ({ programs, locked, layout: { root } }: RustApp): string[] =>
  (programs ?? []).map(({ binary }) =>
    [
      'cargo build --release',
      ...(locked ? ['--locked'] : []),
      ...(isFields(root.manifest['workspace']) ? [`--package ${binary.crate.name}`] : []),
      `--bin ${binary.name}`,
      ...(binary.features.length > 0 ? [`--features ${binary.features.join(',')}`] : []),
    ].join(' '),
  );
