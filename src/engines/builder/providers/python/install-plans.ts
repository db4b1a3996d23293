import type { CacheMount, ContextFile } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { shellQuote } from '../support/shell.ts';
import type { Installer, InstallerName } from './installers.ts';
import {
  type LockedLocal,
  lockedNames,
  missingFrom,
  neededLocals,
  poetryLocals,
  uvDrift,
  uvLocals,
} from './lock-file.ts';
import { folderOf, resolvePath } from './requirement-files.ts';
import { REQUIREMENT_FILES, type Requirements, inRepo } from './requirements.ts';

/** A package of the source, which pip installs after everything that it needs. */
export interface LocalInstall {
  /** Its folder inside the source. */
  path: string;
  extras: string;
  editable: boolean;
  /** What it needs is not known before it is built, so pip has to look. */
  needs: boolean;
}

export interface InstallPlan {
  /** Brings the installer into the image; null when pip is all it takes. */
  tool: string | null;
  commands: string[];
  /** Folder of the source in which they run. */
  folder: string;
  /** Files that the install reads, and folders (which end with a slash), as paths inside the source. */
  files: string[];
  /** It cannot leave out packages of the source: it needs all of it. */
  wholeSource: boolean;
  local: LocalInstall[];
  generated: ContextFile[];
  caches: CacheMount[];
  env: Record<string, string>;
  warnings: string[];
}

export const VENV = '/opt/venv';
export const PIP_CACHE: CacheMount = { name: 'pip', target: '/root/.cache/pip' };
const PIP_FLAGS = '--root-user-action=ignore --disable-pip-version-check';
export const pipInstall = `pip install ${PIP_FLAGS}`;
/** The pip of the image installs into the environment, which then needs none of its own. */
export const venvInstall = `pip --python ${VENV}/bin/python install ${PIP_FLAGS}`;
export const MAKE_VENV = `python -m venv --without-pip ${VENV}`;

interface Input {
  app: Dir;
  repo: Dir;
  installer: Installer;
  requirements: Requirements;
  /** Servers that the start command needs besides. */
  extra: string[];
  /** pip installs into an environment of its own, not into the image's Python. */
  staged: boolean;
}

export const planInstall = (input: Input): InstallPlan => PLANS[input.installer.name](input);

const basic = (app: Dir): InstallPlan => ({
  tool: null,
  commands: [],
  folder: app.path,
  files: [],
  wholeSource: false,
  local: [],
  generated: [],
  caches: [PIP_CACHE],
  env: {},
  warnings: [],
});

const planPip = ({ app, requirements, extra, staged }: Input): InstallPlan => {
  const base = basic(app);
  const { lines, local, changed, hashed } = requirements;
  const install = staged ? venvInstall : pipInstall;
  const named = app.firstOf(...REQUIREMENT_FILES);
  const all = [...lines.map(({ text }) => text), ...(named === undefined ? extra : [])];
  const generate = named === undefined || changed;
  const file = generate ? 'requirements.berth.txt' : named;
  // A requirement without a hash, beside others with one, would be refused.
  const apart = hashed && extra.length > 0;
  const servers = named === undefined || apart ? [] : extra;
  const commands = [
    ...(all.length === 0 && servers.length === 0 ? [] : [[`${install} -r ${file}`, ...servers].join(' ')]),
    ...(apart ? [[install, ...extra].join(' ')] : []),
  ];
  const content = all.map((line) => `${line}\n`).join('');
  return {
    ...base,
    commands,
    files: generate ? requirements.files : [...requirements.lists, ...requirements.files],
    local: local.map(({ path, extras, editable, needs }) => ({ path, extras, editable, needs: needs === null })),
    generated: generate && commands.length > 0 ? [{ path: 'berth/requirements.berth.txt', content }] : [],
    warnings: requirements.warnings,
  };
};

const planUv = ({ app, repo, installer, extra }: Input): InstallPlan => {
  const folder = app.has('uv.lock') ? app.path : folderOf(installer.lockFile ?? '');
  const root = folder === '' ? repo : repo.dir(folder);
  const locals = uvLocals(root);
  const self = locals.find(({ path }) => resolvePath(folder, path) === app.path);
  const needed = self === undefined ? [] : neededLocals(locals, self);
  const members = locals.filter(({ path }) => path !== '');
  const drift = uvDrift(root);
  const skip = [
    '--no-install-project',
    ...members.map(({ name }) => `--no-install-package ${name}`),
    ...(self === undefined || self.path === '' ? [] : [`--package ${self.name}`]),
  ];
  const sync = ['uv sync', ...(drift.length > 0 ? [] : ['--frozen']), '--no-dev --no-editable', ...skip].join(' ');
  const manifests = ['uv.lock', 'pyproject.toml', ...members.map(({ path }) => `${path}/pyproject.toml`)];
  return {
    ...basic(app),
    folder,
    tool: `${pipInstall} ${quoted(installer.pinned)}`,
    files: manifests.flatMap((path) => resolvePath(folder, path) ?? []).filter((path) => repo.has(path)),
    local: needed.filter(isInstalled(self)).map(({ path }) => ({
      path: resolvePath(folder, path) ?? '',
      extras: '',
      editable: false,
      needs: false,
    })),
    caches: [{ name: 'uv', target: '/root/.cache/uv' }],
    env: {
      UV_COMPILE_BYTECODE: '1',
      UV_LINK_MODE: 'copy',
      UV_PROJECT_ENVIRONMENT: VENV,
      UV_PYTHON: '/usr/local/bin/python3',
      UV_PYTHON_DOWNLOADS: 'never',
    },
    commands: [sync, ...extraCommand(`uv pip install --python ${VENV}/bin/python`, extra)],
    warnings: drift.length === 0 ? [] : [driftWarning('uv.lock', drift, 'run uv lock and commit it')],
  };
};

/** The app itself is installed where it has to be, which its layout decides; what it needs always is. */
const isInstalled =
  (self: LockedLocal | undefined) =>
  (item: LockedLocal): boolean =>
    item !== self && !item.virtual;

const driftWarning = (file: string, names: string[], remedy: string): string =>
  `WARNING: ${file} does not have ${names.slice(0, 10).join(', ')} as the manifest asks for it: other versions than the locked ones may be installed; ${remedy}`;

/** What a manager without a plan of drift of its own says at build time, when only it can tell. */
const outdated = (file: string, remedy: string): string =>
  `echo ${shellQuote(`WARNING: ${file} was not written after the last change of its manifest: packages may get other versions; ${remedy}`)}`;

const planPoetry = ({ app, installer, requirements, extra }: Input): InstallPlan => {
  const { lockFile } = installer;
  const missing = lockFile === null ? [] : missingFrom(lockedNames(app, lockFile), requirements.names);
  const folders = lockFile === null ? [] : poetryLocals(app).flatMap((path) => resolvePath(app.path, path) ?? []);
  const wholeSource = lockFile === null && requirements.local.length > 0;
  const install = `poetry install --only main --no-root${folders.length > 0 ? ' --no-directory' : ''} --no-interaction`;
  const lock = installer.version?.startsWith('1.') ? 'poetry lock --no-update' : 'poetry lock';
  const remedy = 'run poetry lock and commit it';
  const relocked = `${lock} --no-interaction && ${install}`;
  return {
    ...basic(app),
    tool: `${pipInstall} ${quoted(installer.pinned)}`,
    files: [
      inRepo(app, 'pyproject.toml'),
      ...(lockFile === null ? [] : [inRepo(app, lockFile)]),
      ...requirements.files,
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

const planPdm = ({ app, installer, requirements, extra }: Input): InstallPlan => {
  const missing = missingFrom(lockedNames(app, 'pdm.lock'), requirements.names);
  const remedy = 'run pdm lock and commit it';
  const install = 'pdm install --prod --no-self --no-editable';
  return {
    ...basic(app),
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

const planPipenv = ({ app, installer, requirements, extra }: Input): InstallPlan => {
  const { lockFile } = installer;
  const missing = lockFile === null ? [] : missingFrom(lockedNames(app, lockFile), requirements.names);
  const remedy = 'run pipenv lock and commit it';
  const relock = `(pipenv verify || (${outdated('Pipfile.lock', remedy)} && pipenv lock))`;
  return {
    ...basic(app),
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

const PLANS: Record<InstallerName, (input: Input) => InstallPlan> = {
  pip: planPip,
  uv: planUv,
  poetry: planPoetry,
  pdm: planPdm,
  pipenv: planPipenv,
};

const quoted = (word: string): string => (/^[\w.=-]+$/.test(word) ? word : shellQuote(word));

const extraCommand = (command: string, names: string[]): string[] =>
  names.length === 0 ? [] : [`${command} ${names.map(quoted).join(' ')}`];
