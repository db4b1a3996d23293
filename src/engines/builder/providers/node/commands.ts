import semver from 'semver';
import type { CacheMount } from '../../plan.ts';
import { shellQuote } from '../support/shell.ts';
import type { Manager, ManagerName } from './package-manager.ts';

export interface InstallOptions {
  production: boolean;
  /** Takes the lock file to the letter. */
  frozen: boolean;
  /** The only package of a workspace that counts, with what it depends on. */
  member?: { name: string; path: string } | undefined;
}

/** How one package manager is spoken to. */
interface Dialect {
  caches: CacheMount[];
  install(options: InstallOptions): string;
  /** Drops development dependencies from an installed tree. */
  prune(frozen: boolean): string;
  /** Runs a script of one package of a workspace; `dir` is empty for the root. */
  run(script: string, dir: string): string;
}

const PNPM_STORE = '--store-dir /root/.local/share/pnpm/store';

const flag = (name: string, value: string): string => (value === '' ? '' : ` ${name} ${value}`);

const yarnRun: Dialect['run'] = (script, dir) => `yarn${flag('--cwd', dir)} run ${script}`;

const DIALECTS: Record<ManagerName, Dialect> = {
  npm: {
    caches: [{ name: 'npm', target: '/root/.npm' }],
    install: ({ production, frozen, member }) =>
      `npm ${frozen ? 'ci' : 'install'} ${production ? '--omit=dev' : '--include=dev'}${member ? ` --workspace ${member.path} --include-workspace-root` : ''} --no-audit --no-fund`,
    prune: () => 'npm prune --omit=dev --ignore-scripts --no-audit --no-fund',
    run: (script, dir) => `npm run ${script}${flag('--workspace', dir)}`,
  },
  pnpm: {
    caches: [{ name: 'pnpm', target: '/root/.local/share/pnpm/store' }],
    install: ({ production, frozen, member }) =>
      `pnpm${member ? ` --filter '{${member.path}}...'` : ''} install ${pnpmFrozen(frozen)} ${production ? '--prod' : '--prod=false'} ${PNPM_STORE}`,
    prune: (frozen) =>
      // Without the age, pnpm keeps what it dropped for a week, in case it is wanted again.
      `pnpm install --prod --ignore-scripts --prefer-offline ${pnpmFrozen(frozen)} ${PNPM_STORE} --config.modules-cache-max-age=0`,
    run: (script, dir) => `pnpm${flag('--dir', dir)} run ${script}`,
  },
  yarn: {
    caches: [{ name: 'yarn', target: '/usr/local/share/.cache/yarn', locked: true }],
    install: ({ production, frozen }) =>
      `yarn install ${frozen ? '--frozen-lockfile ' : ''}--non-interactive ${production ? '--production' : '--production=false'}`,
    prune: () => 'yarn install --production --ignore-scripts --prefer-offline --non-interactive',
    run: yarnRun,
  },
  'yarn-berry': {
    caches: [{ name: 'yarn-berry', target: '/root/.yarn/berry', locked: true }],
    install: ({ production, frozen, member }) =>
      production
        ? `yarn workspaces focus --production${member ? ` ${word(member.name)}` : ''}`
        : `yarn install ${frozen ? '--immutable' : '--no-immutable'}`,
    prune: () => 'yarn workspaces focus --all --production',
    run: yarnRun,
  },
  bun: {
    caches: [{ name: 'bun', target: '/root/.bun/install/cache' }],
    install: ({ production, frozen, member }) =>
      `bun install ${frozen ? '--frozen-lockfile' : '--no-save'}${production ? ' --production' : ''}${member ? ` --filter ./${member.path}` : ''}`,
    prune: (frozen) =>
      `find . -name node_modules -prune -exec rm -rf {} + && bun install --production --ignore-scripts ${frozen ? '--frozen-lockfile' : '--no-save'}`,
    run: (script, dir) => `bun run${flag('--cwd', dir)} ${script}`,
  },
};

/** Names of packages are plain, but nobody checked that of this one. */
function word(name: string): string {
  return /^[\w@./-]+$/.test(name) ? name : shellQuote(name);
}

function pnpmFrozen(frozen: boolean): string {
  return frozen ? '--frozen-lockfile' : '--no-frozen-lockfile';
}

export const cachesOf = (name: ManagerName): CacheMount[] => DIALECTS[name].caches;

export const installCommand = (manager: Manager, options: InstallOptions): string =>
  focused(manager, DIALECTS[manager.name].install(options));

export const pruneCommand = (manager: Manager, frozen: boolean): string =>
  focused(manager, DIALECTS[manager.name].prune(frozen));

/** Yarn 2 and 3 cannot leave development dependencies out without a plugin; yarn 4 does it for them, by the same lock file. */
const focused = ({ name, version }: Manager, command: string): string =>
  name === 'yarn-berry' && (semver.minVersion(version ?? '4')?.major ?? 4) < 4
    ? command.replace('yarn workspaces focus', "YARN_IGNORE_PATH=1 npx --yes '@yarnpkg/cli-dist@4' workspaces focus")
    : command;

export const runScript = ({ name }: Manager, script: string, dir: string): string => DIALECTS[name].run(script, dir);

const DRIFTED =
  'WARNING: npm ci refuses package-lock.json, as said above: versions other than the locked ones may be installed; run npm install and commit the lock file';

/**
 * The install as it is run. Only npm itself knows whether a lock file is complete: where it says no, and for that reason
 * alone, the packages are installed without it.
 */
export const forgivingInstall = (command: string): string => {
  if (!command.startsWith('npm ci ')) return command;
  const refused = `${command.replace('npm ci', 'npm ci --dry-run')} 2>&1 | grep -q EUSAGE`;
  return `${command} || { ${refused} && echo '${DRIFTED}' && ${command.replace('npm ci', 'npm install')}; }`;
};
