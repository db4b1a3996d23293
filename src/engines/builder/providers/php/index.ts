import type { Plan } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { TOOLS } from '../../versions.ts';
import { type PlanContext, type Provider, chosenStart, emptyPlan, noStartCommand, versionOf } from '../provider.ts';
import { nodeAssets } from '../support/node-assets.ts';
import { type Composer, composerFiles, downloads, isPackage, readComposer, remoteRepositories } from './composer.ts';
import { planExtensions } from './extensions.ts';
import { type PhpFramework, documentRoot, recognisePhp, usualExtensions } from './frameworks.ts';
import { composerInstall } from './install.ts';
import type { PhpApp, PhpServer } from './app.ts';
import { phpPlan } from './stages.ts';
import { phpRequests } from './versions.ts';

/** Apps in PHP, served by Apache. */
export const php: Provider = {
  name: 'php',
  markers: ['composer.json', 'index.php'],
  doc: {
    title: 'PHP',
    detects: '`composer.json`, `index.php`',
    notes:
      'Composer; extensions from `ext-*` of composer.json and composer.lock, and those that a framework needs. Apache serves `public/`, `web/` or another folder with an `index.php`, else the source without its private files; `.htaccess` works. Laravel, Symfony, WordPress, Drupal, CakePHP, CodeIgniter, Yii, Slim and others get their caches and settings. A `build` script of package.json builds the assets. `php.ini` at the root is read',
  },
  buildsAssets: true,
  detect,
  plan: planPhp,
};

function detect(app: Dir): 'strong' | 'weak' | null {
  const composer = readComposer(app);
  if (composer === undefined && !app.has('index.php')) return null;
  // Some repositories keep a composer.json for tools alone.
  return documentRoot(app, composer, recognisePhp(app, composer)) === undefined ? 'weak' : 'strong';
}

function planPhp(context: PlanContext): Plan {
  const { app, overrides, notes, projectEnv } = context;
  const composer = readComposer(app);
  const version = versionOf(context, TOOLS.php, phpRequests(app, composer)).version;
  const framework = recognisePhp(app, composer);
  if (framework !== null) notes.decisions.push(`framework: ${framework.name}`);
  const extensions = planExtensions(app, composer, usualExtensions(composer, framework, projectEnv));
  if (extensions.names.length > 0)
    notes.decisions.push(
      `extensions: ${extensions.names.map((name) => `${name} (${extensions.reasons.get(name) ?? ''})`).join(', ')}`,
    );
  const assets = nodeAssets(context, ['build', 'production', 'prod']);
  const files = composer === undefined ? undefined : composerFiles(app, composer);
  warn(context, composer, framework);
  if (files?.wholeSource) notes.decisions.push(`the source is copied before the install: ${files.wholeSource}`);
  const server = serverOf(context, composer, framework);
  const own = composer === undefined ? [] : (framework?.build?.(app, composer) ?? []);
  const base = emptyPlan(context, 'php');
  const [folder, migrate] = framework?.migrations ?? ['', ''];
  if (base.releaseCommand === null && folder !== '' && app.hasDir(folder))
    notes.decisions.push(`migrations are not run by themselves: set release = "${migrate}" in the [build] table`);
  const parts: PhpApp = {
    context,
    base,
    version,
    composer,
    files,
    install: composerInstall(composer, overrides.install),
    framework,
    extensions,
    assets,
    server,
    build: overrides.build ?? [...(assets?.build ?? []), ...own],
    downloads: composer !== undefined && downloads(composer),
  };
  return phpPlan(parts);
}

const serverOf = (context: PlanContext, composer: Composer | undefined, framework: PhpFramework | null): PhpServer => {
  const { app, overrides, procfile, notes } = context;
  const root = documentRoot(app, composer, framework);
  const asked = overrides.start === undefined ? procfile['web'] : overrides.start;
  const heroku = herokuRoot(asked);
  if (heroku !== undefined) {
    notes.decisions.push(`start command: Apache serves ${heroku === '' ? 'the app' : heroku}, as the web process asks`);
    return { kind: 'apache', root: heroku };
  }
  const start = chosenStart(context);
  if (start !== undefined) {
    return start[0] === 'apache2-foreground' ? { kind: 'apache', root: root ?? '' } : { kind: 'own', start };
  }
  if (overrides.output !== undefined) return { kind: 'files' };
  if (root === undefined) {
    throw noStartCommand(
      'a PHP app',
      'index.php in the app, public, web and similar folders',
      'add an index.php to the folder that is to be served',
    );
  }
  notes.decisions.push(
    `start command: Apache serves ${root === '' ? 'the app' : root} (${root === '' ? '' : `${root}/`}index.php is there)`,
  );
  return { kind: 'apache', root };
};

/** `vendor/bin/heroku-php-apache2 public/` as the folder that it names. */
const herokuRoot = (command: string | string[] | undefined): string | undefined => {
  const words = (typeof command === 'string' ? command.trim().split(/\s+/) : command) ?? [];
  if (!/(^|\/)heroku-(php|hhvm)-(apache2|nginx)$/.test(words[0] ?? '')) return undefined;
  const last = words.at(-1) ?? '';
  const isRoot = words.length > 1 && !last.startsWith('-') && !/^-[CcFfil]$/.test(words.at(-2) ?? '');
  return isRoot ? last.replace(/^\.?\/+|\/+$/g, '').replace(/^\.$/, '') : '';
};

const warn = (
  { app, notes, projectEnv }: PlanContext,
  composer: Composer | undefined,
  framework: PhpFramework | null,
): void => {
  if (composer === undefined) return;
  const { lockFile, drift, requires } = composer;
  if (lockFile === null && Object.keys(requires).some(isPackage))
    notes.warnings.push('there is no composer.lock: versions may change from build to build; commit it');
  if (drift.length > 0)
    notes.warnings.push(
      `WARNING: composer.lock does not match composer.json (${drift.slice(0, 8).join(', ')}${drift.length > 8 ? ', …' : ''}): these are resolved anew in each build; run composer update with these names and commit composer.lock`,
    );
  const remote = remoteRepositories(composer);
  if (remote.length > 0 && !Object.hasOwn(projectEnv, 'COMPOSER_AUTH') && !app.has('auth.json'))
    notes.warnings.push(
      `composer.json names the repository ${remote[0]}: if it asks for credentials, set COMPOSER_AUTH in the project's variables`,
    );
  if (framework?.name === 'Laravel' && !Object.hasOwn(projectEnv, 'APP_KEY') && !app.has('.env'))
    notes.warnings.push('APP_KEY is not set: make one with php artisan key:generate --show, and set it as a variable');
};
