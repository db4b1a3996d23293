import type { Plan } from '../../plan.ts';
import type { PlanContext } from '../provider.ts';
import type { NodeAssets } from '../support/node-assets.ts';
import type { Composer, ComposerFiles } from './composer.ts';
import type { Extensions } from './extensions.ts';
import type { PhpFramework } from './frameworks.ts';
import type { ComposerInstall } from './install.ts';

/** What runs: Apache over a folder, or a program that the user names. */
export type PhpServer = { kind: 'apache'; root: string } | { kind: 'own'; start: string[] } | { kind: 'files' };

/** Everything that is known about a PHP app before its image is laid out. */
export interface PhpApp {
  context: PlanContext;
  base: Plan;
  version: string;
  composer: Composer | undefined;
  files: ComposerFiles | undefined;
  install: ComposerInstall;
  framework: PhpFramework | null;
  extensions: Extensions;
  assets: NodeAssets | null;
  server: PhpServer;
  build: string[];
  /** Whether Composer fetches anything. */
  downloads: boolean;
}
