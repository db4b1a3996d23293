import type { RunStep, Stage } from '#engines/builder/plan';
import { type Files, type Given, packageJson, planOf } from './support.ts';

export const composerJson = (more: Record<string, unknown> = {}): string => packageJson({ name: 'acme/shop', ...more });

/** An app with a front controller, with more of its composer.json. */
export const phpApp = (more: Record<string, unknown> = {}, files: Files = {}): Files => ({
  'composer.json': composerJson(more),
  'public/index.php': '<?php',
  ...files,
});

export interface Locked {
  [name: string]: { version?: string; require?: Record<string, string>; provide?: Record<string, string>; path?: true };
}

export const composerLock = (packages: Locked): string =>
  packageJson({
    packages: Object.entries(packages).map(([name, { path, ...rest }]) => ({
      name,
      version: '1.0.0',
      dist: { type: path ? 'path' : 'zip' },
      ...rest,
    })),
    'packages-dev': [],
  });

export const stage = (files: Files, name: string, given?: Given): Stage | undefined =>
  planOf(files, given).stages.find((one) => one.name === name);

export const commands = (files: Files, name: string, given?: Given): string[] =>
  (stage(files, name, given)?.steps ?? [])
    .filter((step): step is RunStep => step.kind === 'run')
    .map((step) => step.command);

export const laravel = (files: Files = {}, more: Record<string, unknown> = {}): Files =>
  phpApp(
    { require: { php: '^8.2', 'laravel/framework': '^12.0' }, ...more },
    {
      'composer.lock': composerLock({
        'laravel/framework': { version: 'v12.1.0', require: { php: '^8.2', 'ext-mbstring': '*' } },
      }),
      artisan: '#!/usr/bin/env php',
      'public/.htaccess': '',
      'resources/views/a.blade.php': '',
      ...files,
    },
  );

export const symfony = (
  files: Files = {},
  require: Record<string, string> = {},
  more: Record<string, unknown> = {},
): Files =>
  phpApp({ require: { 'symfony/framework-bundle': '7.2.*', ...require }, ...more }, { 'bin/console': '', ...files });
