import type { Plan } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { type PlanContext, type Provider, aptList, chosenStart, emptyPlan, runtimeOf } from '../provider.ts';
import { BARE_BASE, BINARY, COMPILED_BASE, ownBuildNeedsStart } from '../support/compiled.ts';
import { gitCredentials } from '../support/git-credentials.ts';
import { manifestFiles } from '../support/steps.ts';
import { type GoApp, bareness, buildCommands, programsOf } from './app.ts';
import { cgoOf } from './cgo.ts';
import { goLayout } from './layout.ts';
import { moduleSource } from './modules.ts';
import { holdsMain } from './packages.ts';
import { goStages } from './stages.ts';
import { goVersion } from './version.ts';

/** Apps in Go. */
export const go: Provider = {
  name: 'go',
  markers: ['go.mod', 'go.work', 'main.go'],
  doc: {
    title: 'Go',
    detects: '`go.mod`, `go.work`, `main.go`, or a `root` with a main package inside a module',
    notes:
      'the root package, else the one main package under `cmd/`, or the one with the name of the service or the module; programs that a Procfile or the release command names are built too. Workspaces, local `replace`, `vendor/`; static binaries (cgo where a module or the code needs it); a newer toolchain that go.mod asks for is fetched by Go itself',
  },
  detect,
  plan: planGo,
};

function detect(app: Dir, repo: Dir): 'strong' | null {
  if (app.firstOf('go.mod', 'go.work', 'main.go') !== undefined) return 'strong';
  const parts = app.path.split('/');
  const inModule =
    app.path !== '' && parts.some((_part, index) => repo.has([...parts.slice(0, index), 'go.mod'].join('/')));
  return inModule && holdsMain(app) ? 'strong' : null;
}

function planGo(context: PlanContext): Plan {
  const { overrides, projectEnv } = context;
  const empty = emptyPlan(context, 'go');
  const start = chosenStart(context);
  if (overrides.build !== undefined && start === undefined) throw ownBuildNeedsStart('a Go app');
  const app = gather(context, { start: start ?? [], release: empty.releaseCommand ?? [], apt: empty.apt.run });
  const credentials = gitCredentials(projectEnv);
  const early = overrides.install === undefined;
  const install = overrides.install ?? (app.modules.download ? ['go mod download'] : []);
  const plan: Plan = {
    ...empty,
    install,
    build: overrides.build ?? buildCommands(app, projectEnv),
    start: start ?? [app.programs?.built[0]?.place ?? BINARY],
    runtime: runtimeOf(app.bare ? BARE_BASE : COMPILED_BASE, 'app', { GIN_MODE: 'release' }),
    apt: { build: aptList(empty.apt.build, app.cgo.apt), run: empty.apt.run },
    installEnv: early ? [...privateNames(projectEnv), ...credentials.variables].sort() : null,
    files: early && install.length > 0 ? manifestFiles(app.layout.context, app.modules.manifests) : [],
    remember: { go: app.version },
  };
  return { ...plan, stages: goStages(context, app, plan, credentials) };
}

interface Wanted {
  start: string[];
  release: string[];
  /** Debian packages at run time. */
  apt: string[];
}

const gather = (context: PlanContext, wanted: Wanted): GoApp => {
  const { app, repo, overrides, projectEnv, notes } = context;
  const layout = goLayout(repo, app, projectEnv);
  const version = goVersion(context, layout);
  const modules = moduleSource(layout);
  const cgo = cgoOf(layout, projectEnv);
  notes.decisions.push(...modules.decisions, ...(cgo.reason === '' ? [] : [cgo.reason]));
  notes.warnings.push(...modules.warnings);
  if (layout.strayWork) notes.warnings.push('go.work does not list this module: it is built without the workspace');
  const programs = overrides.build === undefined ? programsOf(context, layout, wanted.start, wanted.release) : null;
  const found = { layout, version, modules, cgo, programs, home: programs?.main.module ?? app };
  const { bare, reason } = bareness(found, wanted);
  notes.decisions.push(reason);
  return { ...found, bare };
};

/** Variables that say where modules come from, and with which credentials. */
const privateNames = (projectEnv: Record<string, string>): string[] =>
  Object.keys(projectEnv).filter((name) =>
    /^(GO(?:PRIVATE|PROXY|NOPROXY|NOSUMDB|NOSUMCHECK|SUMDB|FLAGS|TOOLCHAIN|AUTH|INSECURE|WORK)|NETRC|GIT_CONFIG_\w+)$/.test(
      name,
    ),
  );
