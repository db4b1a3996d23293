import { invalidInput } from '#kernel/errors';
import { APP_PORT, type CopyStep, type Plan, type RunStep, SOURCE_PREFIX, type Stage, type Step } from './plan.ts';

const ENV_MOUNTS = {
  build: 'berth/env',
  install: 'berth/install-env',
} as const;

/**
 * The Dockerfile of a plan. It stays within what Docker 20.10's own frontend reads (no heredocs, no `COPY --link`, no
 * secrets, no `# syntax=`), and the same plan gives the same text. `cacheScope` keeps one service's caches its own.
 */
export const renderDockerfile = (plan: Plan, cacheScope: string): string => {
  const scope = cacheScope.toLowerCase().replace(/[^a-z0-9-]+/g, '-');
  const parts = plan.stages.map((stage) => renderStage(stage, scope));
  const start = plan.start.length === 0 ? '' : `EXPOSE ${APP_PORT}\nCMD ${jsonWords(plan.start)}\n`;
  return `${parts.join('\n')}${start}`;
};

const renderStage = (stage: Stage, scope: string): string => {
  const lines = [
    `FROM ${imageName(stage.from)} AS ${stage.name}`,
    ...stage.steps.map((step) => renderStep(step, scope)),
  ];
  return `${lines.join('\n')}\n`;
};

const renderStep = (step: Step, scope: string): string => {
  if (step.kind === 'copy') return renderCopy(step);
  if (step.kind === 'run') return renderRun(step, scope);
  if (step.kind === 'env') return renderEnv(step.values);
  return step.kind === 'workdir' ? `WORKDIR ${safePath(step.path)}` : `USER ${userName(step.name)}`;
};

const userName = (name: string): string => name.split(':').map(safePath).join(':');

const renderCopy = ({ from, sources, target, owned }: CopyStep): string => {
  const flags = [...(from === undefined ? [] : [`--from=${imageName(from)}`]), ...(owned ? ['--chown=1000:1000'] : [])];
  return ['COPY', ...flags, ...sources.map(safePath), safePath(target)].join(' ');
};

const renderRun = ({ command, caches = [], env }: RunStep, scope: string): string => {
  const mounts = caches.map(
    ({ name, target, locked }) =>
      `--mount=type=cache,id=berth-${scope}-${name},target=${safePath(target)}${locked ? ',sharing=locked' : ''} `,
  );
  if (env === undefined) return `RUN ${mounts.join('')}${shellForm(command)}`;
  const bind = `--mount=type=bind,source=${ENV_MOUNTS[env]},target=/run/berth/env `;
  return `RUN ${mounts.join('')}${bind}${shellForm(`set -a && . /run/berth/env && set +a && ${command}`)}`;
};

/**
 * A plain command stays readable. Anything that a Dockerfile parser could take for more than one line of shell
 * (newlines, continuations, heredocs, flags, JSON) goes through the exec form, where it is one inert string.
 */
const shellForm = (command: string): string =>
  /^[A-Za-z./][\x20-\x7e]*$/.test(command) && !command.includes('<<') && !command.includes('\\')
    ? command
    : jsonWords(['/bin/sh', '-c', command]);

/** Newer frontends look for heredocs before they read JSON, so `<` is escaped too. */
const jsonWords = (words: string[]): string => JSON.stringify(words).replaceAll('<', '\\u003c');

const renderEnv = (values: Record<string, string>): string => {
  const pairs = Object.entries(values)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${name}=${envValue(value)}`);
  return `ENV ${pairs.join(' ')}`;
};

/** `$PATH` may be extended; nothing else in a value is special. */
const envValue = (value: string): string => {
  if (/^[A-Za-z0-9_./:@=,-]+$/.test(value)) return value;
  if (/[\n\r\0]/.test(value)) throw invalidInput('a generated variable holds a line break', 'report this as a bug');
  return `"${value.replaceAll(/["\\`]/g, '\\$&').replaceAll(/\$(?!PATH\b)/g, '\\$')}"`;
};

/** Paths from a listing reach `COPY`, which expands variables and globs: only plain ones may pass. */
export const safePath = (path: string): string => {
  if (/^[A-Za-z0-9._/@+=~,-]+$/.test(path) && !/(^|\/)\.\.(\/|$)/.test(path) && !path.startsWith('-')) return path;
  throw invalidInput(
    `the path ${JSON.stringify(path.replace(new RegExp(`^${SOURCE_PREFIX}/`), ''))} cannot be used in a build`,
    'use letters, digits and . _ - @ + = ~ , in the names of the app folder and of its manifests',
  );
};

const imageName = (name: string): string => {
  if (/^[a-z0-9][a-z0-9./:_-]*$/.test(name)) return name;
  throw invalidInput(`${JSON.stringify(name)} is no image name`, 'check the version that the source asks for');
};
