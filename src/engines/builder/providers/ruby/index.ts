import type { Plan } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { TOOLS } from '../../versions.ts';
import { type PlanContext, type Provider, chosenStart, emptyPlan, noStartCommand, versionOf } from '../provider.ts';
import { nodeAssets } from '../support/node-assets.ts';
import { BUNDLERS, type RubyStart, findRubyStart, hasEntry, isRails } from './frameworks.ts';
import { type Gems, bundleInstall, preparesBootsnap, readGems } from './gems.ts';
import { type RubyApp, rubyPlan } from './stages.ts';
import { systemNeeds } from './system.ts';
import { rubyRequests } from './versions.ts';

/** Apps in Ruby. */
export const ruby: Provider = {
  name: 'ruby',
  markers: ['Gemfile', 'config.ru', 'main.rb', 'app.rb'],
  doc: {
    title: 'Ruby',
    detects: '`Gemfile`, `config.ru`, or `main.rb`, `app.rb`, `server.rb`, `web.rb`',
    notes:
      'Bundler, without the development and test groups; gems in `vendor/cache` are used. Rails (assets with Node where they need it, bootsnap, jemalloc), Hanami, Sinatra and everything with a `config.ru`, started with puma, falcon, unicorn, iodine, thin, passenger or rackup; else `ruby main.rb`. Jekyll and Middleman sites are served as files',
  },
  buildsAssets: true,
  detect,
  plan: planRuby,
};

function detect(app: Dir): 'strong' | 'weak' | null {
  if (!app.has('Gemfile')) return hasEntry(app) ? 'strong' : null;
  const { names } = readGems(app);
  if (isRails(app, names) || hasEntry(app)) return 'strong';
  // A Gemfile may be there for a tool alone, or for the pages of a project in another language.
  return names.has('jekyll') && !app.has('package.json') ? 'strong' : 'weak';
}

function planRuby(context: PlanContext): Plan {
  const { app, overrides, notes } = context;
  const gems = readGems(app);
  const version = versionOf(context, TOOLS.ruby, rubyRequests(app, gems.gemfile, gems.lock)).version;
  if (gems.gemfile !== undefined) {
    const by = gems.lock?.bundler === undefined ? '' : ` ${gems.lock.bundler}`;
    notes.decisions.push(`packages by Bundler${by}: Gemfile is there`);
  }
  const start = startOf(context, gems);
  if (start.framework !== null) notes.decisions.push(`framework: ${start.framework}`);
  if (start.argv !== null && start.reason !== '')
    notes.decisions.push(`start command: ${start.argv.join(' ')} (${start.reason})`);
  warn(context, gems, start);
  const bundled = BUNDLERS.some((name) => gems.names.has(name));
  const assets =
    gems.gemfile === undefined || overrides.build !== undefined
      ? null
      : nodeAssets(context, bundled ? [] : ['build'], bundled);
  const base = emptyPlan(context, 'ruby');
  if (start.framework === 'Rails' && base.releaseCommand === null && app.hasDir('db/migrate'))
    notes.decisions.push(
      'migrations are not run by themselves: set release = "bundle exec rails db:migrate" in the [build] table',
    );
  const parts: RubyApp = {
    context,
    base,
    version,
    gems,
    install: bundleInstall(app, gems, overrides.install),
    start,
    assets,
    needs: systemNeeds(gems.names, pureLocals(app, gems)),
    build: overrides.build ?? [...(assets?.build ?? []), ...start.build],
  };
  return rubyPlan(parts);
}

/** Gems of the source, unless one of them has something to compile. */
const pureLocals = (app: Dir, { lock }: Gems): ReadonlySet<string> =>
  lock === undefined || app.files().some((file) => /(^|\/)extconf\.rb$/.test(file)) ? new Set() : lock.local;

const startOf = (context: PlanContext, { names, lock, gemfile }: Gems): RubyStart => {
  const { app, overrides } = context;
  const railties = lock?.gems.find(({ name }) => name === 'railties')?.version;
  const exec = gemfile === undefined ? [] : ['bundle', 'exec'];
  const found = findRubyStart({ app, names, rails: railties, bootsnap: preparesBootsnap({ names, lock }), exec });
  const chosen = chosenStart(context);
  const plain: RubyStart = found ?? { framework: null, argv: null, reason: '', output: null, build: [], env: {} };
  if (chosen !== undefined) return { ...plain, argv: chosen, reason: '', output: null };
  if (overrides.output !== undefined) return { ...plain, argv: null, output: overrides.output };
  if (found !== null) return found;
  throw noStartCommand(
    'a Ruby app',
    'Rails, config.ru, and main.rb, app.rb, server.rb, web.rb',
    'add a config.ru (and a Gemfile with puma), or name the file main.rb',
  );
};

const warn = ({ app, notes, projectEnv }: PlanContext, gems: Gems, start: RubyStart): void => {
  const { gemfile, lock, drift, foreign } = gems;
  const set = (name: string): boolean => Object.hasOwn(projectEnv, name);
  if (gemfile !== undefined && gemfile.gems.length > 0 && lock === undefined)
    notes.warnings.push('there is no Gemfile.lock: versions may change from build to build; commit it');
  if (drift.length > 0)
    notes.warnings.push(
      `WARNING: Gemfile.lock does not match the Gemfile (${drift.slice(0, 8).join(', ')}${drift.length > 8 ? ', …' : ''}): versions other than the locked ones may be installed; run bundle install and commit Gemfile.lock`,
    );
  if (foreign)
    notes.warnings.push(
      `WARNING: Gemfile.lock is for ${lock?.platforms.join(', ')} only: gems for Linux are resolved anew in each build; run bundle lock --add-platform x86_64-linux aarch64-linux and commit Gemfile.lock`,
    );
  const remote = lock?.remotes.find((one) => !/^https:\/\/rubygems\.org\/?$/.test(one));
  if (remote !== undefined && !Object.keys(projectEnv).some((name) => /^BUNDLE_\w+__\w+$/.test(name)))
    notes.warnings.push(
      `Gemfile.lock names the gem server ${remote}: if it asks for credentials, set BUNDLE_<HOST> in the project's variables`,
    );
  if (start.framework !== 'Rails') return;
  if (!set('SECRET_KEY_BASE') && !set('RAILS_MASTER_KEY') && !app.has('config/master.key'))
    notes.warnings.push(
      "neither RAILS_MASTER_KEY nor SECRET_KEY_BASE is set: give the content of config/master.key, or what rails secret prints, as a project's variable",
    );
};
