import { invalidInput } from '#kernel/errors';
import { APP_DIR, type CacheMount, type Plan } from '../plan.ts';
import type { Dir } from '../source-tree.ts';
import { TOOLS } from '../versions.ts';
import { safePath } from '../dockerfile-text.ts';
import {
  type PlanContext,
  type Provider,
  aptSteps,
  chosenStart,
  emptyPlan,
  noStartCommand,
  runtimeOf,
  versionOf,
} from './provider.ts';
import { assetCopies } from './support/assets.ts';
import { BINARY, COMPILED_BASE, compiledOutputs, compiledRuntime } from './support/compiled.ts';
import { sourceOf } from './support/source.ts';

const CACHES: CacheMount[] = [
  { name: 'go-build', target: '/root/.cache/go-build' },
  { name: 'go-mod', target: '/go/pkg/mod' },
];

/** Modules that need a C compiler. */
const CGO =
  /^\s*(?:require\s+)?(github\.com\/(?:mattn\/go-sqlite3|confluentinc\/confluent-kafka-go(?:\/v2)?|h2non\/bimg|davidbyttow\/govips(?:\/v2)?|DataDog\/zstd|marcboeker\/go-duckdb(?:\/v2)?))\s/m;

/** Apps in Go. */
export const go: Provider = {
  name: 'go',
  markers: ['go.mod', 'go.work', 'main.go'],
  doc: {
    title: 'Go',
    detects: '`go.mod`, `go.work`, `main.go`',
    notes:
      'the root package, else the one main package under `cmd/`, or the one with the name of the service; static binaries (cgo where a module needs it); another toolchain that go.mod asks for is fetched by Go itself',
  },
  detect: (app) => (app.firstOf('go.mod', 'go.work', 'main.go') === undefined ? null : 'strong'),
  plan: planGo,
};

function planGo(context: PlanContext): Plan {
  const { app, overrides, notes } = context;
  const plan = emptyPlan(context, 'go');
  const version = versionOf(context, TOOLS.go, []).version;
  const manifest = app.read('go.mod') ?? '';
  const asked = /^toolchain go(\S+)|^go (\d\S*)/m.exec(manifest);
  if (asked)
    notes.decisions.push(
      `go.mod asks for Go ${asked[1] ?? asked[2]}: Go ${version} takes it, or fetches that toolchain`,
    );
  const cgo = CGO.exec(manifest)?.[1];
  if (cgo !== undefined) notes.decisions.push(`cgo is on: ${cgo} needs it`);
  const start = chosenStart(context) ?? [BINARY];
  const build = overrides.build ?? [buildCommand(app, packageOf(context), cgo !== undefined)];
  const runtime = runtimeOf(COMPILED_BASE, 'app', { GIN_MODE: 'release' });
  const privateModules = Object.keys(context.projectEnv).filter((name) =>
    /^(GOPRIVATE|GOPROXY|GONOSUMDB|GONOSUMCHECK|GOFLAGS|GOTOOLCHAIN)$/.test(name),
  );
  const outputs = compiledOutputs(overrides.build !== undefined, assetCopies(app, ['.go', '.mod', '.sum', '.work']));
  return {
    ...plan,
    build,
    start,
    runtime,
    installEnv: privateModules.sort(),
    remember: { go: version },
    stages: [
      {
        name: 'build',
        from: `golang:${version}`,
        steps: [
          ...aptSteps(plan.apt.build),
          { kind: 'workdir', path: APP_DIR },
          { kind: 'copy', sources: [`${safePath(sourceOf(app))}/`], target: './' },
          { kind: 'run', caches: CACHES, env: 'build', command: [...(overrides.install ?? []), ...build].join(' && ') },
        ],
      },
      compiledRuntime(plan.apt.run, outputs, runtime.env),
    ],
  };
}

const buildCommand = (app: Dir, target: string, cgo: boolean): string => {
  // Without a module Go would not build: one is made up for a lone main.go.
  const init = app.has('go.mod') || app.has('go.work') ? '' : 'go mod init app && go mod tidy && ';
  return `${init}CGO_ENABLED=${cgo ? 1 : 0} go build -trimpath -tags timetzdata -ldflags "-s -w" -o /out/app ${target}`;
};

/** The package to build, as `go build` names it. */
const packageOf = ({ app, serviceName, notes }: PlanContext): string => {
  if (isMain(app, '')) return '.';
  const found = mainFolders(app);
  const chosen = found.length === 1 ? found[0] : found.find((folder) => folder.replace(/^.*\//, '') === serviceName);
  if (chosen !== undefined) {
    notes.decisions.push(
      `package ./${chosen}: ${found.length === 1 ? 'the only main package' : 'it has the name of the service'}`,
    );
    return `./${safePath(chosen)}`;
  }
  if (found.length === 0) {
    throw noStartCommand(
      'a Go module',
      'a main package at the root and below',
      'add a package main, or set root to the folder of the app',
    );
  }
  const list = found
    .slice(0, 20)
    .map((folder) => `./${folder}`)
    .join(', ');
  throw invalidInput(
    `this module has several main packages: ${list}`,
    `name the service after one of them, or set build = "go build -o app ./cmd/<name>" and start = "./app" in the [build] table of berth.toml`,
  );
};

/** Folders with a main package: those under cmd/ when there are any, else all. */
const mainFolders = (app: Dir): string[] => {
  const folders = app
    .files()
    .filter(
      (file) =>
        file.endsWith('.go') && !/(^|\/)(vendor|testdata|examples?|_[^/]*|\.[^/]*)\//.test(file) && file.includes('/'),
    )
    .map((file) => file.replace(/\/[^/]*$/, ''));
  const mains = [...new Set(folders)].filter((folder) => isMain(app, folder));
  const commands = mains.filter((folder) => /^cmd(\/|$)/.test(folder));
  return commands.length > 0 ? commands : mains;
};

const isMain = (app: Dir, folder: string): boolean => {
  const prefix = folder === '' ? '' : `${folder}/`;
  const files = (folder === '' ? app.entries() : app.dir(folder).entries()).filter(
    (name) => name.endsWith('.go') && !name.endsWith('_test.go'),
  );
  return files.some((name) => isMainFile(app.read(`${prefix}${name}`) ?? ''));
};

/** The package clause comes after comments; a file that no build includes does not count. */
const isMainFile = (source: string): boolean => {
  if (/^\/\/go:build\s+ignore\b/m.test(source)) return false;
  const code = source.slice(0, 100_000).replaceAll(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, '');
  return /^\s*package\s+main\b/.test(code);
};
