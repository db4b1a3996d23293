import { APP_DIR, type CacheMount, type ContextFile, type Plan, type Stage, type Step } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { TOOLS } from '../../versions.ts';
import { safePath } from '../../dockerfile-text.ts';
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
} from '../provider.ts';
import { nodeTools } from '../support/node-tools.ts';
import { shellQuote } from '../support/shell.ts';
import { builtSite } from '../support/site-plan.ts';
import { sourceOf } from '../support/source.ts';
import { installStep } from '../support/steps.ts';
import { chooseProject } from './choose.ts';
import { type DotnetProject, PROJECT, closureOf, readProjects } from './projects.ts';
import { frameworkLine, frameworkRequest, looseGlobalJson, sdkRequest } from './versions.ts';

const REGISTRY = 'mcr.microsoft.com/dotnet';
const CACHES: CacheMount[] = [{ name: 'nuget', target: '/root/.nuget/packages' }];
const SOLUTION = /\.slnx?$/;
/** Files beside projects that a restore reads. */
const SHARED =
  /(^|\/)(Directory\.(Build|Packages)\.(props|targets)|nuget\.config|packages\.lock\.json|dotnet-tools\.json|global\.json)$/i;

/** Debian and Ubuntu name these libraries alike. */
const NATIVE: Record<string, string[]> = {
  'SkiaSharp.NativeAssets.Linux': ['libfontconfig1'],
  'System.Drawing.Common': ['libgdiplus'],
};

/** Apps in C#, F# and Visual Basic. */
export const dotnet: Provider = {
  name: 'dotnet',
  markers: ['*.csproj', '*.fsproj', '*.vbproj', '*.sln', '*.slnx'],
  doc: {
    title: '.NET',
    detects: '`*.csproj`, `*.fsproj`, `*.vbproj`, `*.sln`, `*.slnx`',
    notes:
      'the only web project, worker or program of the solution, or the one with the name of the service; Blazor WebAssembly is served as files; the SDK of `global.json` or `TargetFramework`, and its ASP.NET runtime; native AOT',
  },
  detect: (app) => (app.entries().some((name) => PROJECT.test(name) || SOLUTION.test(name)) ? 'strong' : null),
  plan: planDotnet,
};

interface DotnetApp {
  context: PlanContext;
  /** The folder of the solution: the app's, or one above it. */
  root: Dir;
  project: DotnetProject;
  sdk: string;
  runtime: string;
  closure: DotnetProject[];
  files: ContextFile[];
}

function planDotnet(context: PlanContext): Plan {
  const { app: folder, repo } = context;
  const root = solutionFolder(repo, folder);
  const projects = readProjects(root);
  const inside = folder.path.slice(root.path === '' ? 0 : root.path.length + 1);
  const project = chooseProject(context, projects, inside);
  const sdk = versionOf(context, TOOLS.dotnet, [sdkRequest(root), frameworkRequest(project)]).version;
  const runtime = frameworkLine(project) ?? sdk.split('.').slice(0, 2).join('.');
  const app: DotnetApp = {
    context,
    root,
    project,
    sdk,
    runtime,
    closure: closureOf(projects, project),
    files: looseGlobalJson(root),
  };
  const { overrides } = context;
  return overrides.output !== undefined || project.kind === 'wasm' ? sitePlan(app) : programPlan(app);
}

/** Projects beside the app's folder belong to it: the solution, or settings for all of them, lie above. */
const solutionFolder = (repo: Dir, app: Dir): Dir => {
  const parts = app.path === '' ? [] : app.path.split('/');
  for (let length = 0; length < parts.length; length += 1) {
    const dir = length === 0 ? repo : repo.dir(parts.slice(0, length).join('/'));
    if (dir.entries().some((name) => SOLUTION.test(name) || SHARED.test(name))) return dir;
  }
  return app;
};

const planOf = (app: DotnetApp): { plan: Plan; build: Stage } => {
  const { context, project, closure, files, sdk } = app;
  const { overrides, notes } = context;
  const plan = emptyPlan(context, 'dotnet');
  const manifests = manifestFiles(app);
  const locked = manifests.some(({ path }) => path.endsWith('packages.lock.json'));
  const path = shellQuote(project.path);
  const restore = locked
    ? `dotnet restore ${path} --locked-mode || { echo 'WARNING: packages.lock.json does not match the project: other versions may be installed; update it and commit it' >&2; dotnet restore ${path} --force-evaluate; }`
    : `dotnet restore ${path}`;
  const install = overrides.install ?? [restore];
  const build = overrides.build ?? [publish(app)];
  const node = closure.some(({ usesNode }) => usesNode);
  if (node) notes.decisions.push('Node is there for the build: a project runs npm');
  const native = closure.flatMap(({ packages }) => packages.flatMap((name) => NATIVE[name] ?? []));
  const apt = {
    build: aptList(plan.apt.build, project.nativeAot ? ['clang', 'zlib1g-dev'] : []),
    run: aptList(plan.apt.run, native),
  };
  const credentials = Object.keys(context.projectEnv).filter(
    (name) => /^(NUGET_|NuGet|VSS_NUGET_)/.test(name) || mentions(app, name),
  );
  const seesEnv = overrides.install !== undefined || credentials.length > 0;
  const global: Step[] = files.map((file) => ({ kind: 'copy', sources: [file.path], target: './global.json' }));
  const stage: Stage = {
    name: 'build',
    from: `${REGISTRY}/sdk:${sdk}`,
    steps: [
      ...aptSteps(apt.build),
      ...(node ? nodeTools(TOOLS.node.fallback) : []),
      { kind: 'workdir', path: APP_DIR },
      { kind: 'env', values: { DOTNET_CLI_TELEMETRY_OPTOUT: '1', DOTNET_NOLOGO: '1' } },
      { kind: 'copy', sources: ['berth/manifests/'], target: './' },
      ...global,
      ...installStep({ caches: CACHES, commands: install, env: seesEnv }),
      { kind: 'copy', sources: [`${safePath(sourceOf(app.root))}/`], target: './' },
      ...global,
      { kind: 'run', caches: CACHES, env: 'build', command: build.join(' && ') },
    ],
  };
  return {
    plan: {
      ...plan,
      framework: FRAMEWORKS[project.kind] ?? null,
      install,
      installEnv: overrides.install === undefined ? credentials.sort() : null,
      build,
      apt,
      files: [...files, ...manifests],
      remember: { dotnet: sdk },
    },
    build: stage,
  };
};

const FRAMEWORKS: Partial<Record<DotnetProject['kind'], string>> = { web: 'ASP.NET Core', wasm: 'Blazor WebAssembly' };

/** Restores once more where something is missing: the packages lie in a cache, which may have been dropped. */
const publish = ({ project, runtime }: DotnetApp): string => {
  const several =
    project.frameworks.length > 1
      ? ` --framework ${shellQuote(project.frameworks.find((name) => name.includes(runtime)) ?? '')}`
      : '';
  const form = project.nativeAot ? '' : ' --self-contained false -p:UseAppHost=false -p:PublishSingleFile=false';
  return `dotnet publish ${shellQuote(project.path)} -c Release${several}${project.kind === 'wasm' ? '' : form} -o /out`;
};

const manifestFiles = ({ root, closure }: DotnetApp): ContextFile[] => {
  const folders = new Set(closure.map(({ path }) => path.replace(/[^/]*$/, '')));
  return root
    .files()
    .filter((file) => closure.some(({ path }) => path === file) || (SHARED.test(file) && isAbove(file, folders)))
    .map((path) => ({ path: `berth/manifests/${safePath(path)}`, content: root.read(path) ?? '' }));
};

const isAbove = (file: string, folders: ReadonlySet<string>): boolean => {
  const place = file.replace(/(\.config\/)?[^/]*$/, '');
  return [...folders].some((folder) => folder.startsWith(place));
};

/** NuGet.config refers to variables as `%NAME%`. */
const mentions = ({ root }: DotnetApp, name: string): boolean =>
  root.entries().some((file) => /^nuget\.config$/i.test(file) && (root.read(file) ?? '').includes(`%${name}%`));

const programPlan = (app: DotnetApp): Plan => {
  const { context, project } = app;
  const { overrides } = context;
  const { plan, build } = planOf(app);
  const chosen = chosenStart(context);
  if (chosen === undefined && overrides.build !== undefined)
    throw noStartCommand(
      'a .NET app with a build command of its own',
      '[build] start',
      `set start to what it leaves, such as "dotnet out/${project.name}.dll"`,
    );
  const base = baseImage(app);
  const own = overrides.build !== undefined;
  const runtime = runtimeOf(
    base,
    'app',
    chosen === undefined || project.kind !== 'web' ? {} : { ASPNETCORE_URLS: 'http://0.0.0.0:8080' },
  );
  return {
    ...plan,
    start: chosen ?? startOf(app),
    runtime,
    stages: [
      build,
      {
        name: 'runtime',
        from: base,
        steps: [
          { kind: 'run', command: USER },
          ...aptSteps(plan.apt.run),
          { kind: 'workdir', path: APP_DIR },
          { kind: 'copy', from: 'build', sources: [own ? `${APP_DIR}/` : '/out/'], target: './', owned: true },
          { kind: 'env', values: runtime.env },
          { kind: 'user', name: 'app' },
        ],
      },
    ],
  };
};

/** These images have an `app` of another number, and those on Ubuntu have a user 1000 already. */
const USER =
  'for user in app ubuntu; do userdel -r "$user" 2>/dev/null || true; done; useradd --uid 1000 --create-home --shell /usr/sbin/nologin app && install -d -o app -g app /app';

const baseImage = ({ project, closure, runtime }: DotnetApp): string => {
  if (project.nativeAot) return `${REGISTRY}/runtime-deps:${runtime}`;
  const asp = closure.some(({ kind, aspNet }) => kind === 'web' || aspNet);
  return `${REGISTRY}/${asp ? 'aspnet' : 'runtime'}:${runtime}`;
};

const startOf = ({ project, runtime }: DotnetApp): string[] => {
  const argv = project.nativeAot ? [`./${project.assembly}`] : ['dotnet', `${project.assembly}.dll`];
  if (project.kind !== 'web') return argv;
  const command = argv.map((word) => (/^[\w./-]+$/.test(word) ? word : shellQuote(word))).join(' ');
  // From .NET 8 on the ports have a variable of their own, which gives way to addresses that the user sets.
  return Number(runtime.split('.')[0]) >= 8
    ? ['/bin/sh', '-c', `ASPNETCORE_HTTP_PORTS="\${PORT:-8080}" exec ${command}`]
    : ['/bin/sh', '-c', `ASPNETCORE_URLS="\${ASPNETCORE_URLS:-http://0.0.0.0:\${PORT:-8080}}" exec ${command}`];
};

const sitePlan = (app: DotnetApp): Plan => {
  const { context, root, project } = app;
  const { overrides, notes } = context;
  const { plan, build } = planOf(app);
  const place = project.path.replace(/[^/]*$/, '');
  return builtSite(plan, {
    stages: [build],
    output: overrides.output ?? '/out/wwwroot',
    rules: [root.dir(`${place}wwwroot`), root],
    fallback: overrides.spa === false ? null : 'index.html',
    notes,
  });
};
