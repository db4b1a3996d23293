import { planBuild } from '#engines/builder/detect';
import { contextFiles } from '#engines/builder/dockerfile';
import type { Plan } from '#engines/builder/plan';
import type { SourceTree } from '#engines/builder/source-tree';
import { BerthError } from '#kernel/errors';

export type Files = Record<string, string>;

export interface Given {
  env?: Record<string, string>;
  remembered?: Record<string, string>;
  service?: string;
}

/** A tree from memory. */
export const treeOf = (contents: Files): SourceTree => ({
  files: Object.keys(contents).sort(),
  read: (path) => (Object.hasOwn(contents, path) ? contents[path] : undefined),
});

export const planOf = (files: Files, { env = {}, remembered = {}, service = 'web' }: Given = {}): Plan =>
  planBuild(treeOf(files), { projectEnv: env, remembered, serviceName: service });

/** The Dockerfile that a source gets. */
export const dockerfileOf = (files: Files, given: Given = {}): string =>
  fileOf(planOf(files, given), 'berth/Dockerfile', given.env);

export const fileOf = (plan: Plan, path: string, env: Record<string, string> = {}): string =>
  contextFiles(plan, env, 'shop-web').find((file) => file.path === path)?.content ?? '';

/** The error that planning a source throws. */
export const refusal = (files: Files, given: Given = {}): BerthError => {
  try {
    planOf(files, given);
  } catch (error) {
    if (error instanceof BerthError) return error;
    throw error;
  }
  throw new Error('the plan was expected to be refused');
};

export const packageJson = (value: Record<string, unknown>): string => JSON.stringify(value, null, 2);

/** A Node app that starts, with more of its package.json. */
export const nodeApp = (more: Record<string, unknown> = {}, files: Files = {}): Files => ({
  'package.json': packageJson({ scripts: { start: 'node server.js' }, ...more }),
  'server.js': '',
  ...files,
});
