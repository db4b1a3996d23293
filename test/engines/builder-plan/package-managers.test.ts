import { describe, expect, test } from 'bun:test';
import { type Files, nodeApp, packageJson, planOf, refusal } from './support.ts';

const dependencies = { express: '^5.0.0' };
const build = {
  scripts: { build: 'tsc', start: 'node dist/a.js' },
  dependencies,
  devDependencies: { typescript: '^5.0.0' },
};
const npmLock = packageJson({ packages: { '': { dependencies } } });
const pnpmLock = (version: string): string =>
  `lockfileVersion: '${version}'\n\nimporters:\n\n  .:\n    dependencies:\n      express:\n        specifier: ^5.0.0\n        version: 5.1.0\n\npackages:\n\n  express@5.1.0:\n    resolution: {integrity: x}\n`;
const yarnLock = '# yarn lockfile v1\n\n\nexpress@^5.0.0:\n  version "5.1.0"\n';
const berryLock = '__metadata:\n  version: 8\n\n"express@npm:^5.0.0":\n  version: 5.1.0\n';
const bunLock = '{ "lockfileVersion": 1, "workspaces": { "": { "dependencies": { "express": "^5.0.0", }, }, }, }';

describe('the package manager and its version', () => {
  const cases: [string, Record<string, unknown>, Files, ...(string | null)[]][] = [
    ['nothing', {}, {}, 'npm', null],
    ['package-lock.json', {}, { 'package-lock.json': npmLock }, 'npm', null],
    ['pnpm-lock.yaml of version 5', {}, { 'pnpm-lock.yaml': 'lockfileVersion: 5.4\n' }, 'pnpm', '7'],
    ['pnpm-lock.yaml of version 6', {}, { 'pnpm-lock.yaml': pnpmLock('6.0') }, 'pnpm', '8'],
    ['pnpm-lock.yaml of version 9', {}, { 'pnpm-lock.yaml': pnpmLock('9.0') }, 'pnpm', '9'],
    [
      'pnpm-lock.yaml of version 9, with settings of pnpm 10',
      { pnpm: { onlyBuiltDependencies: ['esbuild'] } },
      { 'pnpm-lock.yaml': pnpmLock('9.0') },
      'pnpm',
      '10',
    ],
    [
      'pnpm-lock.yaml and engines.pnpm',
      { engines: { pnpm: '>=9.5' } },
      { 'pnpm-lock.yaml': pnpmLock('9.0') },
      'pnpm',
      '>=9.5.0',
    ],
    ['yarn.lock', {}, { 'yarn.lock': yarnLock }, 'yarn', '1.22.22'],
    ['yarn.lock in the newer format', {}, { 'yarn.lock': berryLock }, 'yarn-berry', '4'],
    ['.yarnrc.yml alone', {}, { '.yarnrc.yml': 'enableGlobalCache: false\n' }, 'yarn-berry', '4'],
    ['.yarnrc.yml', {}, { 'yarn.lock': '', '.yarnrc.yml': '' }, 'yarn-berry', '4'],
    ['bun.lock', {}, { 'bun.lock': bunLock }, 'bun', '1.4.5'],
    ['bun.lockb', {}, { 'bun.lockb': '' }, 'bun', '1.4.5'],
    ['packageManager with a hash', { packageManager: 'pnpm@9.15.0+sha512.abc' }, {}, 'pnpm', '9.15.0'],
    [
      'packageManager before the lock file',
      { packageManager: 'pnpm@10.1.0' },
      { 'package-lock.json': npmLock },
      'pnpm',
      '10.1.0',
    ],
    ['packageManager of yarn 4', { packageManager: 'yarn@4.5.0' }, {}, 'yarn-berry', '4.5.0'],
    ['packageManager of yarn 1', { packageManager: 'yarn@1.22.19' }, {}, 'yarn', '1.22.19'],
    ['packageManager without a version', { packageManager: 'yarn' }, {}, 'yarn', '1.22.22'],
    ['packageManager of npm', { packageManager: 'npm@10.8.2' }, {}, 'npm', '10.8.2'],
    ['packageManager of the npm that Node brings', { packageManager: 'npm@11.2.0' }, {}, 'npm', null],
    [
      'packageManager of npm, on an older Node',
      { packageManager: 'npm@11.2.0', engines: { node: '22' } },
      {},
      'npm',
      '11.2.0',
    ],
    [
      'a lock file that the npm of an old Node cannot read',
      { engines: { node: '14' } },
      { 'package-lock.json': packageJson({ lockfileVersion: 3, packages: { '': { dependencies } } }) },
      'npm',
      '8',
    ],
    [
      'devEngines',
      { devEngines: { packageManager: { name: 'pnpm', version: '^10.1.0', onFail: 'download' } } },
      {},
      'pnpm',
      '>=10.1.0 <11.0.0-0',
    ],
    ['devEngines without a version', { devEngines: { packageManager: { name: 'yarn' } } }, {}, 'yarn', '1.22.22'],
    [
      'settings of pnpm without packages',
      {},
      { 'pnpm-lock.yaml': pnpmLock('9.0'), 'pnpm-workspace.yaml': 'minimumReleaseAge: 1440\n' },
      'pnpm',
      '10',
    ],
    ['yarn.lock of yarn 3', {}, { 'yarn.lock': berryLock.replace('version: 8', 'version: 6') }, 'yarn-berry', '3'],
    ['yarn.lock of yarn 2', {}, { 'yarn.lock': berryLock.replace('version: 8', 'version: 4') }, 'yarn-berry', '2'],
    [
      'yarnPath',
      {},
      { 'yarn.lock': berryLock, '.yarnrc.yml': 'yarnPath: .yarn/releases/yarn-4.5.0.cjs\n' },
      'yarn-berry',
      '4.5.0',
    ],
    ['scripts that call bun', { scripts: { start: 'bun run server.ts' } }, {}, 'bun', '1.4.5'],
  ];

  test.each(cases)('%s', (_title, more, files, ...wanted) => {
    const manager = planOf(nodeApp({ dependencies, ...more }, files)).packageManager;
    expect([manager?.name, manager?.version] as unknown[]).toEqual(wanted);
  });

  test.each(['hatch@1.0.0', 'pnpm@not-a-version', 'pnpm@9 && curl evil', 'pnpm@$(id)'])(
    'packageManager %s is refused',
    (text) => {
      const error = refusal(nodeApp({ packageManager: text }));
      expect(error.message).toContain('package.json:5: packageManager');
      expect(error.kind).toBe('INVALID_INPUT');
    },
  );
});

describe('installs', () => {
  test.each([
    ['npm', { 'package-lock.json': npmLock }, 'npm ci --omit=dev --no-audit --no-fund'],
    ['npm without a lock file', {}, 'npm install --omit=dev --no-audit --no-fund'],
    [
      'pnpm',
      { 'pnpm-lock.yaml': pnpmLock('9.0') },
      'pnpm install --frozen-lockfile --prod --store-dir /root/.local/share/pnpm/store',
    ],
    ['yarn', { 'yarn.lock': yarnLock }, 'yarn install --frozen-lockfile --non-interactive --production'],
    ['newer yarn', { 'yarn.lock': berryLock }, 'yarn workspaces focus --production'],
    [
      'yarn 3',
      { 'yarn.lock': berryLock.replace('version: 8', 'version: 6') },
      "YARN_IGNORE_PATH=1 npx --yes '@yarnpkg/cli-dist@4' workspaces focus --production",
    ],
    ['bun', { 'bun.lock': bunLock }, 'bun install --frozen-lockfile --production'],
  ])('for production only, where nothing is built: %s', (_title, files, command) => {
    expect(planOf(nodeApp({ dependencies }, files as Files)).install).toEqual([command]);
  });

  test.each([
    [
      'npm',
      {},
      'npm install --include=dev --no-audit --no-fund',
      'npm prune --omit=dev --ignore-scripts --no-audit --no-fund',
    ],
    [
      'pnpm',
      { packageManager: 'pnpm@9.15.0' },
      'pnpm install --no-frozen-lockfile --prod=false --store-dir /root/.local/share/pnpm/store',
      'pnpm install --prod --ignore-scripts --prefer-offline --no-frozen-lockfile --store-dir /root/.local/share/pnpm/store --config.modules-cache-max-age=0',
    ],
    [
      'yarn',
      { packageManager: 'yarn@1.22.22' },
      'yarn install --non-interactive --production=false',
      'yarn install --production --ignore-scripts --prefer-offline --non-interactive',
    ],
    [
      'newer yarn',
      { packageManager: 'yarn@4.5.0' },
      'yarn install --no-immutable',
      'yarn workspaces focus --all --production',
    ],
  ])('everything for a build, pruned in a stage of its own: %s', (_title, more, install, prune) => {
    const plan = planOf(nodeApp({ ...build, ...more }));
    const run = plan.stages.find((stage) => stage.name === 'production')?.steps.at(-1);
    expect(plan.install).toEqual([install]);
    expect(run?.kind === 'run' ? run.command : undefined).toBe(prune);
    expect(plan.stages.map((stage) => stage.name)).toEqual(['deps', 'production', 'build', 'runtime']);
  });

  test('without dependencies nothing is installed', () => {
    const plan = planOf(nodeApp());
    expect({ install: plan.install, steps: plan.stages[0]?.steps.map((step) => step.kind) }).toEqual({
      install: [],
      steps: ['copy', 'workdir', 'env', 'user'],
    });
  });
});

describe('a lock file that does not match package.json', () => {
  test.each([
    ['npm', 'package-lock.json', packageJson({ packages: { '': { dependencies: { express: '^4.0.0' } } } })],
    ['npm, a missing entry', 'package-lock.json', packageJson({ packages: { '': {} } })],
    ['pnpm', 'pnpm-lock.yaml', pnpmLock('9.0').replace('specifier: ^5.0.0', 'specifier: ^4.0.0')],
    ['yarn', 'yarn.lock', yarnLock.replace('^5', '^4')],
    ['newer yarn', 'yarn.lock', berryLock.replace('^5', '^4')],
    ['bun', 'bun.lock', bunLock.replace('^5', '^4')],
  ])('is warned of, and not taken to the letter: %s', (_title, name, text) => {
    const plan = planOf(nodeApp({ dependencies }, { [name]: text }));
    expect(plan.warnings[0]).toBe(
      `WARNING: ${name} does not match package.json (express): versions other than the locked ones may be installed; update the lock file and commit it`,
    );
    expect(plan.install.join()).not.toMatch(/npm ci| --frozen|--immutable$/);
  });

  test.each([
    ['npm', 'package-lock.json', npmLock],
    ['pnpm', 'pnpm-lock.yaml', pnpmLock('9.0')],
    ['yarn', 'yarn.lock', yarnLock],
    ['newer yarn', 'yarn.lock', berryLock],
    ['bun', 'bun.lock', bunLock],
  ])('one that does match gives no warning: %s', (_title, name, text) => {
    expect(planOf(nodeApp({ dependencies }, { [name]: text })).warnings).toEqual([]);
  });
});

describe('a private registry', () => {
  const npmrc = (text: string): Files => nodeApp({ dependencies }, { '.npmrc': text });

  test('its variables reach the install, and no others', () => {
    const plan = planOf(npmrc('//npm.example.com/:_authToken=${NPM_TOKEN}\n'), {
      env: { NPM_TOKEN: 's3cret', DATABASE_URL: 'x' },
    });
    expect(plan.installEnv).toEqual(['NPM_TOKEN']);
  });

  test.each([
    ['.npmrc', 'registry=https://npm.example.com\n//npm.example.com/:_authToken=${NPM_TOKEN}\n', '.npmrc:2'],
    ['.yarnrc.yml', 'npmAuthToken: "${NPM_TOKEN}"\n', '.yarnrc.yml:1'],
    [
      'bunfig.toml',
      '[install.scopes]\nours = { token = "$NPM_TOKEN", url = "https://npm.example.com" }\n',
      'bunfig.toml:2',
    ],
  ])('without the variable that %s names, the deploy says which', (file, text, place) => {
    const error = refusal(nodeApp({ dependencies }, { [file]: text }));
    expect(error.kind).toBe('INVALID_INPUT');
    expect(error.message).toBe(
      `${place} needs the variable NPM_TOKEN to install packages, and the project has none of that name`,
    );
    expect(error.hint).toContain('berth env set NPM_TOKEN=');
  });

  test.each([
    ['a comment', '# //npm.example.com/:_authToken=${NPM_TOKEN}\n'],
    ['a default', '//npm.example.com/:_authToken=${NPM_TOKEN-}\n'],
    ['an optional one', '//npm.example.com/:_authToken=${NPM_TOKEN?}\n'],
    ['one that every image has', 'cache=${HOME}/.npm\n'],
  ])('%s needs no variable', (_title, text) => {
    expect(planOf(npmrc(text)).installEnv).toEqual([]);
  });

  test('an app without packages needs none', () => {
    expect(planOf(nodeApp({}, { '.npmrc': '//x/:_authToken=${NPM_TOKEN}\n' })).install).toEqual([]);
  });
});
