import { safePath } from '../../dockerfile-text.ts';
import type { CacheMount, ContextFile, Step } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { sourceOf } from './source.ts';

const isNested = (path: string): boolean => path.includes('/');

/** Copies what an install reads to the working directory, each file to its place. */
export const manifestCopies = (root: Dir, manifests: readonly string[]): Step[] => {
  const top = manifests.filter((path) => !isNested(path)).map((path) => safePath(sourceOf(root, path)));
  const steps: Step[] = top.length === 0 ? [] : [{ kind: 'copy', sources: top, target: './' }];
  if (manifests.some(isNested)) steps.push({ kind: 'copy', sources: ['berth/manifests/'], target: './' });
  return steps;
};

/** Manifests in folders are repeated below `berth/`, so that one COPY keeps their places. */
export const manifestFiles = (root: Dir, manifests: readonly string[]): ContextFile[] =>
  manifests
    .filter(isNested)
    .map((path) => ({ path: `berth/manifests/${safePath(path)}`, content: root.read(path) ?? '' }));

interface Install {
  caches: CacheMount[];
  commands: readonly string[];
  /** Whether it sees the variables of private registries. */
  env: boolean;
}

/** The step that installs dependencies; none without commands. */
export const installStep = ({ caches, commands, env }: Install): Step[] =>
  commands.length === 0
    ? []
    : [{ kind: 'run', caches, command: commands.join(' && '), ...(env ? { env: 'install' } : {}) }];
