import { APP_DIR, type Stage, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import { DROP_MODULES } from '../support/node-assets.ts';
import { sourceOf } from '../support/source.ts';
import type { PhpApp } from './app.ts';
import { COMPOSER_CACHE } from './install.ts';

/** Installs the packages and builds the app, where Composer, PHP with its extensions and Node are at hand. */
export const buildStage = (app: PhpApp, seesEnv: boolean): Stage => {
  const { context, composer, files, install, framework, assets, build } = app;
  const source: Step = { kind: 'copy', sources: [`${safePath(sourceOf(context.app))}/`], target: './' };
  const whole = files?.wholeSource !== null || context.overrides.install !== undefined;
  const composerSteps: Step[] =
    composer === undefined && context.overrides.install === undefined
      ? []
      : [
          { kind: 'copy', from: 'composer:2', sources: ['/usr/bin/composer'], target: '/usr/local/bin/composer' },
          {
            kind: 'env',
            values: {
              COMPOSER_ALLOW_SUPERUSER: '1',
              COMPOSER_CACHE_DIR: COMPOSER_CACHE.target,
              COMPOSER_NO_INTERACTION: '1',
            },
          },
        ];
  const packages: Step[] =
    install.packages.length === 0
      ? []
      : [
          ...(whole ? [source] : manifestSteps(app)),
          {
            kind: 'run',
            caches: [COMPOSER_CACHE],
            command: install.packages.join(' && '),
            ...(seesEnv ? { env: 'install' as const } : {}),
          },
        ];
  const commands = [...install.finish, ...build, ...(assets === null ? [] : [DROP_MODULES])];
  return {
    name: 'build',
    from: 'php',
    steps: [
      ...composerSteps,
      { kind: 'workdir', path: APP_DIR },
      ...packages,
      ...(assets?.bring ?? []),
      ...(whole && install.packages.length > 0 ? [] : [source]),
      ...(framework?.env === undefined ? [] : [{ kind: 'env', values: framework.env } as const]),
      ...buildSteps(commands),
    ],
  };
};

const buildSteps = (commands: string[]): Step[] =>
  commands.length === 0
    ? []
    : [{ kind: 'run', caches: [COMPOSER_CACHE], env: 'build', command: commands.join(' && ') }];

const manifestSteps = ({ context, files }: PhpApp): Step[] => {
  const folder = safePath(sourceOf(context.app));
  const nested: Step[] = [{ kind: 'copy', sources: ['berth/manifests/'], target: './' }];
  return [
    { kind: 'copy', sources: (files?.files ?? []).map((file) => `${folder}/${safePath(file)}`), target: './' },
    ...(files?.folders ?? []).map((path): Step => ({
      kind: 'copy',
      sources: [`${folder}/${safePath(path)}/`],
      target: `./${safePath(path)}/`,
    })),
    ...((files?.generated.length ?? 0) > 0 ? nested : []),
  ];
};
