import { shellQuote } from '../support/shell.ts';
import {
  type InstallInput,
  type InstallPlan,
  MAKE_VENV,
  PIP_CACHE,
  VENV,
  basicInstall,
  driftWarning,
  extraCommand,
  pipInstall,
  quoted,
  venvInstall,
} from './install-plan.ts';
import { lockedNames, missingFrom, poetryLocals } from './lock-file.ts';
import { resolvePath } from './requirement-files.ts';
import { inRepo } from './requirements.ts';

/** What a manager without a plan of drift of its own says at build time, when only it can tell. */
const outdated = (file: string, remedy: string): string =>
  `echo ${shellQuote(`WARNING: ${file} was not written after the last change of its manifest: packages may get other versions; ${remedy}`)}`;

export const planPoetry = ({ app, repo, installer, requirements, extra }: InstallInput): InstallPlan => {
  const { lockFile } = installer;
  const missing = lockFile === null ? [] : missingFrom(lockedNames(app, lockFile), requirements.names);
  const locals = lockFile === null ? { folders: [], files: [] } : poetryLocals(app);
  const inSource = (paths: string[]): string[] => paths.flatMap((path) => resolvePath(app.path, path) ?? []);
  const folders = inSource(locals.folders);
  // To write a lock file anew, it asks the packages of the source what they need.
  const manifests = folders.flatMap((folder) =>
    ['pyproject.toml', 'setup.py', 'setup.cfg'].map((file) => `${folder}/${file}`),
  );
  const wholeSource = lockFile === null && requirements.local.length > 0;
  const install = `poetry install --only main --no-root${folders.length > 0 ? ' --no-directory' : ''} --no-interaction`;
  const lock = installer.version?.startsWith('1.') ? 'poetry lock --no-update' : 'poetry lock';
  const remedy = 'run poetry lock and commit it';
  const relocked = `${lock} --no-interaction && ${install}`;
  return {
    ...basicInstall(app),
    tool: `${pipInstall} ${quoted(installer.pinned)}`,
    files: [
      inRepo(app, 'pyproject.toml'),
      ...(lockFile === null ? [] : [inRepo(app, lockFile)]),
      ...requirements.files,
      ...inSource(locals.files),
      ...manifests.filter((path) => repo.has(path)),
    ],
    wholeSource,
    local: folders.map((path) => ({ path, extras: '', editable: false, needs: false })),
    caches: [{ name: 'poetry', target: '/root/.cache/pypoetry', locked: true }, PIP_CACHE],
    env: { POETRY_VIRTUALENVS_CREATE: 'false', VIRTUAL_ENV: VENV },
    commands: [
      MAKE_VENV,
      lockFile === null ? install : `(${install} || (${outdated(lockFile, remedy)} && ${relocked}))`,
      ...extraCommand(venvInstall, extra),
    ],
    warnings: missing.length === 0 ? [] : [driftWarning('poetry.lock', missing, remedy)],
  };
};

export const planPdm = ({ app, installer, requirements, extra }: InstallInput): InstallPlan => {
  const missing = missingFrom(lockedNames(app, 'pdm.lock'), requirements.names);
  const remedy = 'run pdm lock and commit it';
  const install = 'pdm install --prod --no-self --no-editable';
  return {
    ...basicInstall(app),
    // Its own lock: without it, a new release of a dependency breaks the tool.
    tool: `${pipInstall} ${quoted(installer.pinned.replace(/^pdm/, 'pdm[locked]'))}`,
    files: ['pyproject.toml', 'pdm.lock'].map((file) => inRepo(app, file)),
    wholeSource: requirements.local.length > 0,
    caches: [{ name: 'pdm', target: '/root/.cache/pdm', locked: true }, PIP_CACHE],
    env: { PDM_CHECK_UPDATE: 'false', VIRTUAL_ENV: VENV },
    commands: [
      MAKE_VENV,
      `(pdm lock --check || ${outdated('pdm.lock', remedy)})`,
      install,
      ...extraCommand(venvInstall, extra),
    ],
    warnings: missing.length === 0 ? [] : [driftWarning('pdm.lock', missing, remedy)],
  };
};

export const planPipenv = ({ app, installer, requirements, extra }: InstallInput): InstallPlan => {
  const { lockFile } = installer;
  const missing = lockFile === null ? [] : missingFrom(lockedNames(app, lockFile), requirements.names);
  const remedy = 'run pipenv lock and commit it';
  const relock = `(pipenv verify || (${outdated('Pipfile.lock', remedy)} && pipenv lock))`;
  return {
    ...basicInstall(app),
    tool: `${pipInstall} ${quoted(installer.pinned)}`,
    files: ['Pipfile', ...(lockFile === null ? [] : [lockFile])]
      .map((file) => inRepo(app, file))
      .concat(requirements.files),
    wholeSource: requirements.local.length > 0,
    caches: [{ name: 'pipenv', target: '/root/.cache/pipenv', locked: true }, PIP_CACHE],
    env: { PIPENV_VERBOSITY: '-1', VIRTUAL_ENV: VENV },
    commands: [
      MAKE_VENV,
      ...(lockFile === null ? ['pipenv install --skip-lock'] : [relock, 'pipenv sync']),
      ...extraCommand(venvInstall, extra),
    ],
    warnings: missing.length === 0 ? [] : [driftWarning('Pipfile.lock', missing, remedy)],
  };
};
