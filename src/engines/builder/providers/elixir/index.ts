import { invalidInput } from '#kernel/errors';
import type { CacheMount, Plan, Step } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { TOOLS, type VersionRequest, nodeRange } from '../../versions.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import { safePath } from '../../dockerfile-text.ts';
import { type PlanContext, type Provider, noStartCommand, versionOf } from '../provider.ts';
import { chooseProgram } from '../support/choose.ts';
import { compiledPlan } from '../support/compiled-plan.ts';
import { placeOf } from '../support/fields.ts';
import { nodeTools } from '../support/node-tools.ts';
import { type MixProject, elixirRange, neededVariables, readMix } from './mix.ts';

const CACHES: CacheMount[] = [{ name: 'hex', target: '/root/.hex' }];
const RELEASE = '/out/release';

/** Apps in Elixir, as releases. */
export const elixir: Provider = {
  name: 'elixir',
  markers: ['mix.exs'],
  doc: {
    title: 'Elixir',
    detects: '`mix.exs`',
    notes:
      'a release: the only one of mix.exs, or the one with the name of the service, else of the app; umbrellas that define one. Phoenix with `mix assets.deploy` (npm too, when there is `assets/package.json`) and `PHX_SERVER`; variables that `config/runtime.exs` insists on are named while planning; OTP from `.tool-versions`',
  },
  detect: (app) => (app.has('mix.exs') ? 'strong' : null),
  plan: planElixir,
};

function planElixir(context: PlanContext): Plan {
  const { app, overrides, notes } = context;
  const mix = readMix(app);
  const image = imageOf(context, mix);
  const own = overrides.build !== undefined;
  const release = own ? '' : releaseOf(context, mix);
  // The release of an app that defines none has no name to ask for.
  const named = mix.releases.length > 0 ? ` ${release}` : '';
  const phoenix = usesPhoenix(app, mix);
  const assets = own ? [] : assetCommands(app, mix);
  warnAboutVariables(context);
  const fetches = needsFetching(app, mix);
  if (fetches && !app.has('mix.lock'))
    notes.warnings.push('there is no mix.lock: versions may change from build to build; commit it');
  const node = app.has('assets/package.json');
  // A dependency that lies in the source must be there when it is fetched.
  const local = fetches && mix.keys.has('path');
  const copies: Step[] = [
    { kind: 'copy', from: 'build', sources: [own ? '/app/' : `${RELEASE}/`], target: './', owned: true },
  ];
  return compiledPlan(context, {
    provider: 'elixir',
    framework: phoenix ? 'Phoenix' : null,
    image: image.name,
    caches: node ? [...CACHES, { name: 'npm', target: '/root/.npm' }] : CACHES,
    before: node ? nodeTools(TOOLS.node.fallback) : [],
    env: { LANG: 'C.UTF-8', MIX_ENV: 'prod' },
    install:
      local || !fetches
        ? null
        : { manifests: manifestsOf(app, mix), commands: installCommands(app, mix), env: hexVariables(context) },
    build: [
      ...(local ? installCommands(app, mix) : []),
      'mix compile',
      ...assets,
      `mix release${named} --overwrite --path ${RELEASE}`,
    ],
    start: [`/app/bin/${release}`, 'start'],
    endings: [],
    outputs: { copies, programs: own ? '/app' : RELEASE },
    runtimeEnv: { LANG: 'C.UTF-8', MIX_ENV: 'prod', ...(phoenix ? { PHX_SERVER: 'true' } : {}) },
    remember: { elixir: image.version },
  });
}

const usesPhoenix = (app: Dir, mix: MixProject): boolean =>
  withMembers(app, mix).some(({ dependencies }) => dependencies.has('phoenix'));

/** An app of Elixir alone needs no package manager, which would itself be fetched. */
const needsFetching = (app: Dir, mix: MixProject): boolean =>
  app.has('assets/package.json') ||
  app.read('mix.lock')?.includes('{:') === true ||
  withMembers(app, mix).some(({ dependencies, keys }) => dependencies.size > 0 || keys.has('assets.setup'));

const withMembers = (app: Dir, mix: MixProject): MixProject[] => [
  mix,
  ...membersOf(app, mix).map((path) => readMix(app, path)),
];

/** mix.exs of each app of an umbrella. */
const membersOf = (app: Dir, { appsPath }: MixProject): string[] => {
  if (appsPath === undefined) return [];
  const prefix = `${appsPath.replace(/^\.\/|\/+$/g, '')}/`;
  return app.files().filter((file) => file.startsWith(prefix) && /^[^/]+\/mix\.exs$/.test(file.slice(prefix.length)));
};

const imageOf = (context: PlanContext, mix: MixProject): { name: string; version: string } => {
  const { app, notes, overrides } = context;
  const written = mix.elixir;
  const declared: VersionRequest | null =
    written === undefined
      ? null
      : { range: elixirRange(written), written, source: `elixir in ${placeOf(app, 'mix.exs', /^\s*elixir:/)}` };
  const file = toolVersionRequest(app, { names: ['elixir'], files: ['.elixir-version'], range: elixirRange });
  const { version } = versionOf(context, TOOLS.elixir, [declared, file]);
  const otp = toolVersionRequest(app, { names: ['erlang'], files: ['.erlang-version'], range: nodeRange });
  const major = /^\d+/.exec(otp?.range ?? '')?.[0] ?? /-otp-(\d+)$/.exec(file?.written ?? '')?.[1];
  if (major === undefined || overrides.version !== undefined) return { name: `elixir:${version}`, version };
  notes.decisions.push(`Erlang/OTP ${major}: ${otp?.source ?? file?.source ?? ''} says so`);
  return { name: `elixir:${version}-otp-${major}`, version };
};

/** Names reach commands and paths: nothing but what mix itself allows. */
const NAME = /^[a-z_][a-z0-9_]*$/;

const releaseOf = (context: PlanContext, mix: MixProject): string => {
  if (mix.releases.length === 0 && mix.appsPath !== undefined)
    throw invalidInput(
      'this umbrella defines no release',
      'add releases: [web: [applications: [web: :permanent]]] to project/0 in mix.exs, or set root to one of its apps',
    );
  if (mix.releases.length === 0 && mix.appsPath === undefined && !mix.keys.has('mod'))
    throw noStartCommand(
      'an Elixir project',
      'mod: in application/0 of mix.exs',
      'add mod: {MyApp.Application, []} to application/0',
    );
  const names = mix.releases.length > 0 ? mix.releases : mix.app === undefined ? [] : [mix.app];
  return chooseProgram(
    context,
    names.filter((name) => NAME.test(name)),
    {
      where: 'mix.exs',
      what: 'release',
      own: mix.app === undefined ? undefined : { name: mix.app, reason: 'it has the name of the app' },
      none: {
        title: 'an Elixir project',
        tried: 'app: and releases: in mix.exs',
        ways: 'add app: to project/0 in mix.exs',
      },
    },
  );
};

/** Dependencies are compiled with the settings of config/, but those for run time. */
const manifestsOf = (app: Dir, mix: MixProject): string[] => [
  'mix.exs',
  ...(app.has('mix.lock') ? ['mix.lock'] : []),
  ...membersOf(app, mix),
  ...app.files().filter((file) => /^config\/[^/]+\.exs$/.test(file) && !/\/(dev|test|runtime)\.exs$/.test(file)),
  ...['assets/package.json', 'assets/package-lock.json'].filter((file) => app.has(file)),
];

const installCommands = (app: Dir, mix: MixProject): string[] => {
  const get = 'mix deps.get --only prod';
  const drift = `{ echo 'WARNING: mix.lock does not match mix.exs: other versions may be installed; run mix deps.get and commit it' >&2; ${get}; }`;
  const npm = app.has('assets/package.json')
    ? [`npm ${app.has('assets/package-lock.json') ? 'ci' : 'install'} --prefix assets --no-audit --no-fund`]
    : [];
  return [
    'mix local.hex --force',
    'mix local.rebar --force',
    app.has('mix.lock') ? `{ ${get} --check-locked || ${drift}; }` : get,
    'mix deps.compile',
    ...(mix.keys.has('assets.setup') ? ['mix assets.setup'] : []),
    ...npm,
  ];
};

const assetCommands = (app: Dir, mix: MixProject): string[] => {
  const folders = [
    ...(mix.keys.has('assets.deploy') ? [''] : []),
    ...membersOf(app, mix)
      .filter((path) => readMix(app, path).keys.has('assets.deploy'))
      .map((path) => path.replace(/\/mix\.exs$/, '')),
  ];
  if (folders.length > 0)
    return folders.map((folder) =>
      folder === '' ? 'mix assets.deploy' : `(cd ${safePath(folder)} && mix assets.deploy)`,
    );
  return mix.dependencies.has('phoenix') && app.hasDir('priv/static') ? ['mix phx.digest'] : [];
};

const hexVariables = ({ projectEnv }: PlanContext): string[] =>
  Object.keys(projectEnv)
    .filter((name) => /^(HEX_\w+|\w+_AUTH_KEY|OBAN_\w+)$/.test(name))
    .sort();

const warnAboutVariables = ({ app, projectEnv, notes }: PlanContext): void => {
  const source = app.read('config/runtime.exs');
  const missing = neededVariables(source).filter((name) => !Object.hasOwn(projectEnv, name));
  if (missing.length > 0)
    notes.warnings.push(
      `config/runtime.exs needs ${missing.join(', ')} at run time: set ${missing.length === 1 ? 'it' : 'them'} as variables${missing.includes('SECRET_KEY_BASE') ? ' (mix phx.gen.secret makes a SECRET_KEY_BASE)' : ''}`,
    );
  if (source?.includes('PHX_HOST') === true && !Object.hasOwn(projectEnv, 'PHX_HOST'))
    notes.warnings.push(
      'PHX_HOST is not set: until it is the domain of the app, Phoenix makes wrong links and refuses websockets',
    );
};
