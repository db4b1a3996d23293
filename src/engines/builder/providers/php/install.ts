import type { CacheMount } from '../../plan.ts';
import type { Composer } from './composer.ts';

export const COMPOSER_CACHE: CacheMount = { name: 'composer', target: '/root/.cache/composer' };

export interface ComposerInstall {
  /** Brings the packages; needs the manifests only, unless the whole source is there. */
  packages: string[];
  /** Once the source is there: the autoloader, and the scripts of composer.json. */
  finish: string[];
}

const QUIET = '--no-dev --no-progress';

/** How the packages are installed: first without the source, then what reads it. */
export const composerInstall = (composer: Composer | undefined, own: string[] | undefined): ComposerInstall => {
  if (own !== undefined) return { packages: own, finish: [] };
  if (composer === undefined) return { packages: [], finish: [] };
  const finish = `composer install ${QUIET} --optimize-autoloader`;
  // Only what the lock file lacks is resolved, and the rest stays as it is locked.
  if (composer.drift.length > 0)
    return {
      packages: [`composer update ${QUIET} --optimize-autoloader --with-dependencies ${composer.drift.join(' ')}`],
      finish: [],
    };
  return { packages: [`composer install ${QUIET} --no-autoloader --no-scripts`], finish: [finish] };
};

/** Names of variables that open private repositories, as far as the project has them. */
export const composerVariables = (projectEnv: Record<string, string>): string[] =>
  Object.keys(projectEnv).filter((name) => /^(COMPOSER_AUTH|COMPOSER_[A-Z_]*TOKEN|GITHUB_TOKEN)$/.test(name));
