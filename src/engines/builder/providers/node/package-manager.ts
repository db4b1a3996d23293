import semver from 'semver';
import { invalidInput } from '#kernel/errors';
import type { PackageManagerChoice } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { fieldsAt, placeOf, textAt } from '../support/fields.ts';
import { pnpmLockVersion } from './lock-file.ts';
import type { Manifest } from './manifest.ts';

export type ManagerName = 'npm' | 'pnpm' | 'yarn' | 'yarn-berry' | 'bun';

export interface Manager extends PackageManagerChoice {
  name: ManagerName;
  /** Version or range to install from npm; null when the image brings it. */
  version: string | null;
}

/** Versions taken when the source names none. */
const DEFAULTS = { pnpm: '9', yarn: '1.22.22', 'yarn-berry': '4', bun: '1.4.5' } as const;

/** The `packageManager` field, then the lock file, then npm. */
export const choosePackageManager = (
  workspace: Dir,
  manifest: Manifest,
  remembered: Record<string, string>,
): Manager => {
  const usual = (name: keyof typeof DEFAULTS): string => rememberedVersion(name, remembered) ?? DEFAULTS[name];
  const lockFile =
    workspace.firstOf(
      'pnpm-lock.yaml',
      'bun.lock',
      'bun.lockb',
      'yarn.lock',
      'package-lock.json',
      'npm-shrinkwrap.json',
    ) ?? null;
  const declared = declaredManager(workspace, manifest, usual);
  if (declared) return { ...declared, lockFile: matchingLock(workspace, declared.name) };
  if (lockFile === null && /\bbun\b/.test(Object.values(manifest.scripts).join('\n'))) {
    return { name: 'bun', version: usual('bun'), lockFile, reason: 'the scripts call bun' };
  }
  const reason = lockFile === null ? 'no lock file names another one' : `${lockFile} is there`;
  const yarnPath = yarnRelease(workspace);
  if (lockFile === 'pnpm-lock.yaml')
    return { name: 'pnpm', version: pnpmVersion(workspace, manifest, usual('pnpm')), lockFile, reason };
  if (lockFile === 'yarn.lock') {
    return isBerry(workspace)
      ? {
          name: 'yarn-berry',
          version: yarnPath ?? berryVersion(workspace) ?? usual('yarn-berry'),
          lockFile,
          reason: yarnPath === undefined ? `${lockFile} is in the newer format` : 'yarnPath in .yarnrc.yml says so',
        }
      : { name: 'yarn', version: usual('yarn'), lockFile, reason };
  }
  if (lockFile === 'bun.lock' || lockFile === 'bun.lockb') {
    return { name: 'bun', version: enginesRange(manifest, 'bun') ?? usual('bun'), lockFile, reason };
  }
  if (lockFile === null && workspace.has('.yarnrc.yml'))
    return { name: 'yarn-berry', version: yarnPath ?? usual('yarn-berry'), lockFile, reason: '.yarnrc.yml is there' };
  return { name: 'npm', version: null, lockFile, reason };
};

/** Kept from an earlier deploy; in semver's own spelling, because it reaches a command. */
const rememberedVersion = (name: keyof typeof DEFAULTS, remembered: Record<string, string>): string | undefined => {
  const range = semver.validRange(remembered[name]) ?? undefined;
  // An older pnpm cannot read the lock files for which the default is asked.
  const tooOld = name === 'pnpm' && range !== undefined && (semver.minVersion(range)?.major ?? 0) < 9;
  if (range === undefined || range === '*' || tooOld) return undefined;
  return /^\d+$/.test(remembered[name] ?? '') ? remembered[name] : range;
};

const LOCKS: Record<ManagerName, string[]> = {
  npm: ['package-lock.json', 'npm-shrinkwrap.json'],
  pnpm: ['pnpm-lock.yaml'],
  yarn: ['yarn.lock'],
  'yarn-berry': ['yarn.lock'],
  bun: ['bun.lock', 'bun.lockb'],
};

const matchingLock = (workspace: Dir, name: ManagerName): string | null => workspace.firstOf(...LOCKS[name]) ?? null;

const declaredManager = (
  workspace: Dir,
  manifest: Manifest,
  usual: (name: keyof typeof DEFAULTS) => string,
): Omit<Manager, 'lockFile'> | undefined => {
  const field = textAt(manifest.raw, 'packageManager') === undefined ? 'devEngines' : 'packageManager';
  const text = textAt(manifest.raw, 'packageManager') ?? developmentEngine(manifest);
  if (text === undefined) return undefined;
  const place = placeOf(workspace, 'package.json', new RegExp(`"${field}"`));
  const [, name = '', version = ''] = /^(\w+)(?:@([^+]+)(?:\+\S*)?)?$/.exec(text) ?? [];
  if (!['npm', 'pnpm', 'yarn', 'bun'].includes(name) || (version !== '' && semver.validRange(version) === null)) {
    throw invalidInput(
      `${place}: ${field} ${JSON.stringify(text.slice(0, 80))} is not understood`,
      'write npm, pnpm, yarn or bun with a version, such as "pnpm@9.15.0"',
    );
  }
  const reason = `${field} in ${place} says so`;
  const berry = name === 'yarn' && (version === '' ? isBerry(workspace) : (semver.minVersion(version)?.major ?? 1) > 1);
  const known = (berry ? 'yarn-berry' : name) as ManagerName;
  // semver's own spelling: what reaches the command is never the text as written.
  const exact =
    version === '' ? (known === 'npm' ? null : usual(known)) : (semver.valid(version) ?? semver.validRange(version));
  return { name: known, version: exact, reason };
};

/** npm's newer way to name a package manager: `{ "name": "pnpm", "version": "^10" }`. */
const developmentEngine = ({ raw }: Manifest): string | undefined => {
  const declared = fieldsAt(raw, 'devEngines')['packageManager'];
  const first: unknown = Array.isArray(declared) ? declared[0] : declared;
  const name = textAt(first, 'name');
  const version = textAt(first, 'version');
  return name === undefined || version === undefined ? name : `${name}@${version}`;
};

/** The release that lies in the source: `yarnPath: .yarn/releases/yarn-4.5.0.cjs`. */
const yarnRelease = (workspace: Dir): string | undefined =>
  /^yarnPath:.*\/yarn-(\d+\.\d+\.\d+)\.c?js/m.exec(workspace.read('.yarnrc.yml') ?? '')?.[1];

/** A newer yarn would rewrite the lock file of an older one, and refuses to when it is frozen. */
const berryVersion = (workspace: Dir): string | undefined => {
  const format = Number(/^__metadata:\s+version: (\d+)/m.exec(workspace.read('yarn.lock') ?? '')?.[1] ?? Number.NaN);
  if (format <= 4) return '2';
  return format <= 6 ? '3' : undefined;
};

const isBerry = (workspace: Dir): boolean =>
  workspace.has('.yarnrc.yml') || /^__metadata:/m.test(workspace.read('yarn.lock') ?? '');

const pnpmVersion = (workspace: Dir, manifest: Manifest, usual: string): string => {
  const lock = pnpmLockVersion(workspace.read('pnpm-lock.yaml') ?? '');
  if (lock < 6) return '7';
  if (lock < 9) return '8';
  const asked = enginesRange(manifest, 'pnpm');
  if (asked !== undefined) return asked;
  const file = workspace.read('pnpm-workspace.yaml') ?? '';
  const settings = `${file}\n${JSON.stringify(manifest.raw['pnpm'] ?? '')}`;
  // Since pnpm 10 install scripts run only for the packages that these settings list, and the file may hold settings alone.
  const newer = /onlyBuiltDependencies|allowBuilds|ignoredBuiltDependencies/.test(settings);
  return newer || (file.trim() !== '' && !/^packages:/m.test(file)) ? '10' : usual;
};

const enginesRange = (manifest: Manifest, name: string): string | undefined => {
  const text = textAt(manifest.raw, 'engines', name);
  return text === undefined ? undefined : (semver.validRange(text) ?? undefined);
};

/** The npm that the images of a Node line bring. */
const bundledNpm = (node: number): number | undefined => {
  if (node >= 24) return node < 26 ? 11 : undefined;
  if (node >= 18) return node === 19 ? 9 : 10;
  return node >= 15 ? (node === 15 ? 7 : 8) : 6;
};

/** Leaves npm as the image has it where that is of the same line, and takes a newer one for a lock file that needs it. */
export const fitToImage = (manager: Manager, nodeVersion: string, lockVersion: number): Manager => {
  if (manager.name !== 'npm') return manager;
  const bundled = bundledNpm(semver.coerce(nodeVersion)?.major ?? 0);
  if (bundled === undefined) return manager;
  if (manager.version === null)
    return lockVersion >= 3 && bundled < 7
      ? { ...manager, version: '8', reason: `${manager.reason}, in a format that npm ${bundled} cannot read` }
      : manager;
  return semver.intersects(`${bundled}.x`, manager.version) ? { ...manager, version: null } : manager;
};

/** How the package manager gets into the image, from npm at its version; undefined when it is there already. */
export const toolInstall = ({ name, version }: Manager): string | undefined => {
  if (version === null) return undefined;
  const pack = name === 'yarn-berry' ? '@yarnpkg/cli-dist' : name;
  // --force: the official images bring a yarn of their own in the same place.
  return `npm install --global --force --no-audit --no-fund --loglevel=error '${pack}@${version}'`;
};
