import type { Dir } from '../../source-tree.ts';
import { javascriptTokens } from '../support/tokens.ts';
import { type Manifest, hasDependency, script } from './manifest.ts';
import { toolInstall } from './package-manager.ts';
import { findStart } from './start.ts';

/** Whether an app without a framework is run by Bun rather than by Node. */
export const usesBun = (manager: string, manifest: Manifest, dir: Dir): boolean => {
  const start = script(manifest, 'start');
  if (start !== undefined) return /^(bunx? |bun$)/.test(start.replace(/^(cross-env )?(\w+=\S+ )*/, ''));
  if (hasDependency(manifest, 'tsx') || hasDependency(manifest, 'ts-node')) return false;
  const typed = hasDependency(manifest, '@types/bun') || hasDependency(manifest, 'bun-types');
  return manager === 'bun' || typed || callsBun(dir, findStart(dir, manifest, 'bun')?.argv[1]);
};

/** `Bun.serve(…)` and the like in the file that is started. */
const callsBun = (dir: Dir, entry: string | undefined): boolean => {
  const source = entry === undefined ? undefined : dir.read(entry);
  if (source?.includes('Bun.') !== true) return false;
  const tokens = javascriptTokens(source);
  return tokens.some(({ kind, text }, index) => kind === 'name' && text === 'Bun' && tokens[index + 1]?.text === '.');
};

/** Puts Bun into a stage that another package manager installs in. */
export const BUN_INSTALL = toolInstall({ name: 'bun', version: '1', lockFile: null, reason: '' }) ?? '';
