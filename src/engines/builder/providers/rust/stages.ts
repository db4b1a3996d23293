import { APP_DIR, type CacheMount, type CopyStep, type Plan, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import type { Dir } from '../../source-tree.ts';
import { type PlanContext, aptSteps } from '../provider.ts';
import { assetCopies } from '../support/assets.ts';
import { compiledRuntime } from '../support/compiled.ts';
import { textAt } from '../support/fields.ts';
import type { GitCredentials } from '../support/git-credentials.ts';
import { gatherLibraries, libraryCopies, programsIn } from '../support/shared-libraries.ts';
import { sourceOf } from '../support/source.ts';
import type { RustApp } from './app.ts';

const REGISTRY: CacheMount[] = [
  { name: 'cargo-registry', target: '/usr/local/cargo/registry' },
  { name: 'cargo-git', target: '/usr/local/cargo/git' },
];

export const rustStages = (context: PlanContext, app: RustApp, plan: Plan, credentials: GitCredentials): Stage[] => {
  const { toolchain, system, programs } = app;
  const full = system.unknown.length > 0;
  const outputs = programs === null ? ownOutputs(app) : programOutputs(context, app);
  return [
    {
      name: 'build',
      from: `rust:${toolchain.image}${full ? '' : '-slim'}`,
      steps: buildSteps(context, app, plan, credentials),
    },
    compiledRuntime(plan.apt.run, [...outputs, ...(system.shared ? libraryCopies() : [])], plan.runtime?.env ?? {}),
  ];
};

const buildSteps = (context: PlanContext, app: RustApp, plan: Plan, credentials: GitCredentials): Step[] => {
  const { overrides } = context;
  const { layout, programs, system } = app;
  const home = workdirOf(app);
  const caches = [...REGISTRY, { name: 'cargo-target', target: `${home}/target`, locked: true }];
  const seesEnv = plan.installEnv === null || plan.installEnv.length > 0;
  const prepare = [...credentials.commands, ...imageToolchain(app)];
  const runInstall = (commands: string[]): Step => ({
    kind: 'run',
    caches,
    command: [...prepare, ...commands].join(' && '),
    ...(seesEnv ? { env: 'install' as const } : {}),
  });
  const source: Step = { kind: 'copy', sources: [`${safePath(sourceOf(layout.context))}/`], target: `${APP_DIR}/` };
  const early = plan.files.length === 0 ? [] : earlySteps(runInstall([tolerant(plan.build)]));
  const own = overrides.install === undefined || overrides.install.length === 0 ? [] : [runInstall(overrides.install)];
  const gather = system.shared ? gatherLibraries(programs === null ? programsIn('/out') : '/out/*') : [];
  return [
    ...aptSteps(plan.apt.build),
    ...rustupSteps(app),
    ...environment(app, credentials),
    { kind: 'workdir', path: home },
    ...early,
    source,
    ...own,
    {
      kind: 'run',
      caches,
      env: 'build',
      command: [...prepare, touch(home), ...plan.build, ...outcome(app), ...gather].join(' && '),
    },
  ];
};

const earlySteps = (run: Step): Step[] => [{ kind: 'copy', sources: ['berth/manifests/'], target: `${APP_DIR}/` }, run];

/** Odd sources may need more than their manifests: then the step with the sources does it all, or says what is wrong. */
const tolerant = (build: string[]): string =>
  `{ ${build.join(' && ')} || echo 'the dependencies are built together with the sources'; }`;

/** cargo looks at times, and all files of an upload bear the same one: the app's own crates are always compiled anew. */
const touch = (home: string): string => `find ${APP_DIR} -path ${home}/target -prune -o -type f -exec touch {} +`;

/** Keeps rustup from fetching a second toolchain beside the image's, whatever rust-toolchain.toml says. */
const imageToolchain = ({ toolchain }: RustApp): string[] =>
  toolchain.channel === null
    ? [`export RUSTUP_TOOLCHAIN="$(rustup toolchain list 2>/dev/null | head -n 1 | cut -d ' ' -f 1)"`]
    : [];

const rustupSteps = ({ toolchain: { channel, targets } }: RustApp): Step[] => {
  const added = targets.map((target) => `--target ${target}`).join(' ');
  if (channel !== null) {
    const command = `rustup toolchain install ${channel} --profile minimal --no-self-update${added === '' ? '' : ` ${added}`}`;
    return [{ kind: 'run', command }];
  }
  return targets.length === 0 ? [] : [{ kind: 'run', command: `rustup target add ${targets.join(' ')}` }];
};

const environment = (app: RustApp, credentials: GitCredentials): Step[] => {
  const { toolchain, config, sqlxOffline, lock } = app;
  const values: Record<string, string> = {
    ...(toolchain.channel === null ? {} : { RUSTUP_TOOLCHAIN: toolchain.channel }),
    ...(sqlxOffline ? { SQLX_OFFLINE: 'true' } : {}),
    ...(textAt(config, 'build', 'target-dir') === undefined ? {} : { CARGO_TARGET_DIR: `${workdirOf(app)}/target` }),
    ...(usesGitTool(lock.fromGit, credentials) ? { CARGO_NET_GIT_FETCH_WITH_CLI: 'true' } : {}),
  };
  return Object.keys(values).length === 0 ? [] : [{ kind: 'env', values }];
};

/** cargo's own git knows no credentials: the program does. */
export const usesGitTool = (fromGit: boolean, { commands }: GitCredentials): boolean => fromGit && commands.length > 0;

/** Takes what was built out of the cache that target is. */
const outcome = ({ programs, config }: RustApp): string[] => {
  const target = textAt(config, 'build', 'target');
  const folder = ['target', ...(target === undefined ? [] : [safePath(target)]), 'release'].join('/');
  if (programs !== null)
    return ['mkdir -p /out', ...programs.map(({ binary, output }) => `cp ${folder}/${binary.name} /out/${output}`)];
  return [
    'mkdir -p /out/target',
    "find target -mindepth 2 -maxdepth 3 -type f -perm -u+x ! -path '*/deps/*' ! -path '*/build/*' -exec cp --parents -t /out {} +",
    '{ [ ! -d target/site ] || cp -r --parents target/site /out; }',
  ];
};

const ownOutputs = (app: RustApp): Step[] => [
  { kind: 'copy', from: 'build', sources: [`${workdirOf(app)}/`], target: './', owned: true },
  { kind: 'copy', from: 'build', sources: ['/out/target/'], target: './target/', owned: true },
];

/** The programs, and the files that they may open by a relative path: of the workspace, and of their own package. */
const programOutputs = ({ app: folder }: PlanContext, { programs, layout }: RustApp): Step[] => {
  const copies = (programs ?? []).map(({ output, place }): CopyStep => ({
    kind: 'copy',
    from: 'build',
    sources: [`/out/${output}`],
    target: place,
  }));
  const dirs = [layout.root.dir, programs?.[0]?.binary.crate.dir ?? folder];
  const folders = [...new Map(dirs.map((dir) => [dir.path, dir])).values()];
  return [...copies, ...folders.flatMap((dir) => assetCopies(dir, ['.rs']))];
};

const workdirOf = ({ layout: { context, root } }: RustApp): string => {
  const inside = below(context, root.dir);
  return inside === '' ? APP_DIR : `${APP_DIR}/${safePath(inside)}`;
};

const below = (outer: Dir, inner: Dir): string =>
  inner.path === outer.path ? '' : inner.path.slice(outer.path === '' ? 0 : outer.path.length + 1);
