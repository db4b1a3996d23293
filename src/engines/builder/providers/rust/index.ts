import type { Plan } from '../../plan.ts';
import { type PlanContext, type Provider, aptList, chosenStart, emptyPlan, runtimeOf } from '../provider.ts';
import { BINARY, COMPILED_BASE, ownBuildNeedsStart } from '../support/compiled.ts';
import { type GitCredentials, gitCredentials } from '../support/git-credentials.ts';
import { type RustApp, buildCommands, rustApp } from './app.ts';
import { rustStages, usesGitTool } from './stages.ts';
import { standIns } from './stand-ins.ts';

/** Apps in Rust. */
export const rust: Provider = {
  name: 'rust',
  markers: ['Cargo.toml'],
  doc: {
    title: 'Rust',
    detects: '`Cargo.toml`',
    notes:
      'the only binary of the package or workspace, `default-run`, or the one with the name of the service; programs that a Procfile or the release command names are built too. Workspaces, packages beside the app, `rust-toolchain.toml` (nightly too), Rocket, sqlx offline; libraries for crates that link C, by Cargo.lock. Dependencies are built first, and kept between builds like the registry and target',
  },
  detect: (app) => (app.has('Cargo.toml') ? 'strong' : null),
  plan: planRust,
};

function planRust(context: PlanContext): Plan {
  const { overrides, projectEnv } = context;
  const empty = emptyPlan(context, 'rust');
  const start = chosenStart(context);
  if (overrides.build !== undefined && start === undefined) throw ownBuildNeedsStart('a Rust app');
  const app = rustApp(context, start ?? [], empty.releaseCommand ?? []);
  const credentials = gitCredentials(projectEnv);
  const early = overrides.install === undefined && overrides.build === undefined;
  const plan: Plan = {
    ...empty,
    framework: app.framework,
    install: overrides.install ?? [],
    build: overrides.build ?? buildCommands(app),
    start: start ?? startOf(app),
    runtime: runtimeOf(COMPILED_BASE, 'app', runtimeEnv(app)),
    apt: {
      build: aptList(empty.apt.build, app.system.build, usesGitTool(app.lock.fromGit, credentials) ? ['git'] : []),
      run: aptList(empty.apt.run, app.system.run),
    },
    installEnv: overrides.install === undefined ? installNames(projectEnv, credentials) : null,
    files: early ? standIns(app.layout) : [],
    remember: { rust: app.toolchain.image },
  };
  if (app.system.unknown.length > 0)
    plan.decisions.push(
      `build image rust:${app.toolchain.image}: ${app.system.unknown.slice(0, 5).join(', ')} may link C libraries`,
    );
  return { ...plan, stages: rustStages(context, app, plan, credentials) };
}

/** Rocket listens where its own variables say. */
const startOf = ({ programs, framework }: RustApp): string[] => {
  const program = programs?.[0]?.place ?? BINARY;
  return framework === 'rocket' ? ['/bin/sh', '-c', `ROCKET_PORT="$PORT" exec ${program}`] : [program];
};

const runtimeEnv = ({ framework }: RustApp): Record<string, string> =>
  framework === 'rocket' ? { ROCKET_ADDRESS: '0.0.0.0', ROCKET_CLI_COLORS: 'false', ROCKET_PORT: '8080' } : {};

/** Variables that registries and the build scripts of dependencies look at. */
const installNames = (projectEnv: Record<string, string>, { variables }: GitCredentials): string[] =>
  [
    ...Object.keys(projectEnv).filter((name) =>
      /^(CARGO_\w+|RUST(?:C|FLAGS|DOCFLAGS|C_WRAPPER)|OPENSSL_\w+|PKG_CONFIG\w*|PROTOC\w*|CC|CXX|CFLAGS|CXXFLAGS|LIBCLANG_PATH|GIT_CONFIG_\w+)$/.test(
        name,
      ),
    ),
    ...variables,
  ].sort();
