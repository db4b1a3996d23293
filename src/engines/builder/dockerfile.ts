import { invalidInput } from '#kernel/errors';
import { renderDockerfile } from './dockerfile-text.ts';
import type { ContextFile, Plan } from './plan.ts';
import { shellQuote } from './providers/support/shell.ts';

/** Variables that would break the tools of a build rather than configure the app. */
const NEVER_IN_BUILDS = new Set(['PATH', 'HOME', 'PWD', 'SHELL', 'IFS', 'LD_PRELOAD', 'LD_LIBRARY_PATH']);

/**
 * The generated files that join the user's own, which lie under `source/`. None for a Dockerfile of the user's own: its
 * context is the source itself.
 */
export const contextFiles = (plan: Plan, env: Record<string, string>, cacheScope: string): ContextFile[] => {
  if (plan.dockerfile !== null) return [];
  const installEnv = plan.installEnv === null ? env : pick(env, plan.installEnv);
  return [
    { path: 'berth/Dockerfile', content: renderDockerfile(plan, cacheScope) },
    { path: 'berth/env', content: renderBuildEnv(env) },
    { path: 'berth/install-env', content: renderBuildEnv(installEnv) },
    ...plan.files,
  ];
};

/** Variables as lines that a POSIX shell may source: sorted, each value one quoted word. */
export const renderBuildEnv = (env: Record<string, string>): string =>
  Object.entries(env)
    .filter(([name]) => !NEVER_IN_BUILDS.has(name))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${variableName(name)}=${shellQuote(withoutNul(name, value))}\n`)
    .join('');

const pick = (env: Record<string, string>, names: string[]): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => names.includes(name)));

const variableName = (name: string): string => {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name;
  throw invalidInput(`${JSON.stringify(name)} is no name for a variable`, 'use letters, digits and _');
};

const withoutNul = (name: string, value: string): string => {
  if (!value.includes('\0')) return value;
  throw invalidInput(`the value of ${name} holds a NUL byte`, 'set it again without the NUL byte');
};

export { renderDockerfile };
