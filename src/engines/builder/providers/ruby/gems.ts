import type { CacheMount } from '../../plan.ts';
import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { type Gemfile, developmentOnly, readGemfile } from './gemfile.ts';
import { type GemLock, isVendored, lockDrift, locksLinux, readGemLock } from './lock-file.ts';

/** Everything that is known about the gems of an app. */
export interface Gems {
  gemfile: Gemfile | undefined;
  lock: GemLock | undefined;
  /** Gems that production gets, as far as the files say. */
  names: ReadonlySet<string>;
  drift: string[];
  /** The lock file has no gems for Linux. */
  foreign: boolean;
}

export const readGems = (app: Dir): Gems => {
  const gemfile = readGemfile(app);
  const lock = gemfile === undefined ? undefined : readGemLock(app);
  const without = gemfile === undefined ? new Set<string>() : developmentOnly(gemfile);
  const all = [...(lock?.names ?? []), ...(gemfile?.gems ?? []).map(({ name }) => name)];
  return {
    gemfile,
    lock,
    names: new Set(all.filter((name) => !without.has(name))),
    drift: gemfile === undefined || lock === undefined ? [] : lockDrift(gemfile, lock),
    foreign: lock !== undefined && !locksLinux(lock),
  };
};

/** Downloaded gems, and what was compiled of them. */
export const GEM_CACHE: CacheMount = { name: 'gems', target: '/root/.bundle/cache' };
export const BUNDLE_PATH = '/usr/local/bundle';

export interface BundleInstall {
  commands: string[];
  /** Files and folders of the source that the install reads, unless it needs all of it. */
  files: string[];
  folders: string[];
  wholeSource: string | null;
  env: Record<string, string>;
}

const VERSION_FILES = ['.ruby-version', '.tool-versions'];

/** How gems are installed, from as little of the source as possible. */
export const bundleInstall = (app: Dir, gems: Gems, own: string[] | undefined): BundleInstall => {
  const { gemfile, lock, drift, foreign } = gems;
  const frozen = lock !== undefined && drift.length === 0 && !foreign;
  const env = {
    ...(frozen ? { BUNDLE_DEPLOYMENT: '1' } : {}),
    BUNDLE_PATH,
    BUNDLE_WITHOUT: 'development:test',
  };
  const none = { commands: own ?? [], files: [], folders: [], wholeSource: null, env };
  if (own !== undefined) return { ...none, wholeSource: 'the install command may read it' };
  if (gemfile === undefined) return { ...none, env: {} };
  const paths = localPaths(app, lock);
  const local = lock !== undefined && isVendored(app, lock) ? ' --local' : '';
  const platforms = foreign ? ['bundle lock --add-platform x86_64-linux aarch64-linux'] : [];
  return {
    commands: [
      ...platforms,
      `bundle install${local}`,
      `rm -rf ${BUNDLE_PATH}/ruby/*/cache ${BUNDLE_PATH}/ruby/*/bundler/gems/*/.git`,
      ...(preparesBootsnap(gems) ? ['bundle exec bootsnap precompile --gemfile'] : []),
    ],
    files: ['Gemfile', 'Gemfile.lock', ...VERSION_FILES].filter((name) => app.has(name)),
    folders: [...(app.hasDir('vendor/cache') ? ['vendor/cache'] : []), ...paths.filter((path) => path !== '')],
    wholeSource: sourceReason(gemfile, frozen || lock === undefined, paths),
    env,
  };
};

/** Since 1.6 bootsnap can be asked to compile ahead of time. */
export const preparesBootsnap = ({ names, lock }: Pick<Gems, 'names' | 'lock'>): boolean => {
  const version = lock?.gems.find(({ name }) => name === 'bootsnap')?.version ?? '1.18';
  const [major = 1, minor = 0] = version.split('.').map(Number);
  return names.has('bootsnap') && (major > 1 || minor >= 6);
};

const sourceReason = (gemfile: Gemfile, asLocked: boolean, paths: string[]): string | null => {
  if (!asLocked) return 'the lock file is written anew';
  if (gemfile.gemspec || paths.includes('')) return 'the source is a gem itself';
  return gemfile.dynamic ? 'the Gemfile reads other files' : null;
};

/** Folders of gems that lie in the source; an empty one is the app itself. */
const localPaths = (app: Dir, lock: GemLock | undefined): string[] =>
  (lock?.paths ?? []).map((written) => {
    const path = written.replace(/^(\.\/)+|\/+$/g, '').replace(/^\.$/, '');
    if (!path.startsWith('/') && !path.split('/').includes('..') && (path === '' || app.hasDir(path))) return path;
    throw invalidInput(
      `Gemfile.lock takes a gem from ${JSON.stringify(written.slice(0, 100))}, which is no folder of the app`,
      'move it into the folder of the app, or add a Dockerfile at the root that holds both',
    );
  });

/** Names of variables that open private gem servers, as far as the project has them. */
export const gemVariables = ({ gemfile }: Gems, projectEnv: Record<string, string>): string[] => {
  const usual = Object.keys(projectEnv).filter((name) => /^BUNDLE_\w+__\w+$|^BUNDLE_MIRROR/.test(name));
  const named = (gemfile?.variables ?? []).filter((name) => Object.hasOwn(projectEnv, name));
  return [...new Set([...usual, ...named])].sort();
};
