import { APP_DIR, type Plan, type Stage } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { aptList, runtimeOf } from '../provider.ts';
import { textAt } from '../support/fields.ts';
import { servedSite, siteFolder } from '../support/site-plan.ts';
import { SERVE, serverFiles, settingsFile } from './apache.ts';
import type { PhpApp } from './app.ts';
import { buildStage } from './build-stage.ts';
import type { Composer } from './composer.ts';
import { answersAll } from './frameworks.ts';
import { extensionStage, imageEnv, runtimeStage, slimStage } from './image.ts';
import { composerVariables } from './install.ts';

/** Lays out the image of a PHP app. */
export const phpPlan = (app: PhpApp): Plan => {
  const { context, base, version, framework, assets, server, install, build } = app;
  const image = `php:${version}-${server.kind === 'apache' ? 'apache' : 'cli'}`;
  const own = context.overrides.install !== undefined;
  const installEnv = own ? null : [...composerVariables(context.projectEnv), ...(assets?.installEnv ?? [])].sort();
  const apt = {
    build: aptList(base.apt.build, app.extensions.apt, app.downloads ? ['git', 'unzip'] : []),
    run: base.apt.run,
  };
  const plan: Plan = {
    ...base,
    framework: framework?.name ?? null,
    packageManager:
      app.composer === undefined
        ? null
        : { name: 'composer', version: null, lockFile: app.composer.lockFile, reason: 'composer.json is there' },
    install: [...(assets?.install ?? []), ...install.packages, ...install.finish],
    build,
    installEnv,
    apt,
    remember: { php: version, ...assets?.remember },
  };
  const seesEnv = installEnv === null || installEnv.length > 0;
  const built = server.kind === 'files' || install.packages.length > 0 || build.length > 0 || assets !== null;
  const before = [
    ...(assets === null ? [] : [assets.stage]),
    extensionStage(app, image, apt.build),
    ...(built ? [buildStage(app, seesEnv)] : []),
  ];
  if (server.kind === 'files') return filesPlan(app, plan, before);
  const runtime = runtimeOf(image, 'app', { ...framework?.env, ...imageEnv(server.kind === 'apache') });
  const last = runtimeStage(app, { apt: apt.run, built, env: runtime.env });
  return {
    ...plan,
    runtime,
    start: server.kind === 'own' ? server.start : ['/bin/sh', SERVE],
    files: [...generated(app), ...(server.kind === 'apache' ? siteSettings(app, server.root) : [settingsFile(false)])],
    stages: [slimStage(image), ...before, last],
  };
};

const generated = ({ files }: PhpApp): Plan['files'] => files?.generated ?? [];

const siteSettings = (app: PhpApp, root: string): Plan['files'] => {
  const { context, composer, framework } = app;
  const site = {
    root: root === '' ? '' : safePath(root),
    answersAll: answersAll(context.app, root, composer, framework),
    hidden: root === '' ? privateFolders(composer) : [],
  };
  return serverFiles(site, root !== '' && framework !== null, framework?.start ?? []);
};

/** Folders of packages and classes: PHP reads them, visitors do not. */
const privateFolders = (composer: Composer | undefined): string[] => {
  const autoload = composer?.raw['autoload'];
  const classes = ['psr-4', 'psr-0'].flatMap((kind) => foldersOf(autoload, kind));
  const vendor = textAt(composer?.raw, 'config', 'vendor-dir') ?? 'vendor';
  const all = ['bin', 'node_modules', vendor, ...classes].map((path) => path.replace(/^(\.\/)+|\/+$/g, ''));
  return [...new Set(all)].filter((path) => /^[\w-]+(\/[\w-]+)*$/.test(path)).sort();
};

const foldersOf = (autoload: unknown, kind: string): string[] => {
  const map: unknown = typeof autoload === 'object' && autoload !== null ? Reflect.get(autoload, kind) : undefined;
  if (typeof map !== 'object' || map === null) return [];
  return Object.values(map).flatMap((value: unknown) =>
    typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [],
  );
};

const filesPlan = (app: PhpApp, plan: Plan, before: Stage[]): Plan => {
  const { overrides, notes } = app.context;
  const folder = siteFolder(overrides.output ?? '');
  const path = [APP_DIR, safePath(folder)].filter((part) => part !== '').join('/');
  notes.decisions.push(`static site: the build leaves it in ${folder}`);
  return servedSite(
    { ...plan, files: generated(app) },
    {
      stages: before,
      from: { stage: 'build', path },
      folder,
      rules: app.context.app,
      fallback: overrides.spa === true ? 'index.html' : null,
      warnings: notes.warnings,
    },
  );
};
