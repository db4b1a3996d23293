import { planPdm, planPipenv, planPoetry } from './install-managers.ts';
import {
  type InstallInput,
  type InstallPlan,
  VENV,
  basicInstall,
  driftWarning,
  extraCommand,
  pipInstall,
  quoted,
  venvInstall,
} from './install-plan.ts';
import type { InstallerName } from './installers.ts';
import { type LockedLocal, neededLocals, uvDrift, uvLocals } from './lock-file.ts';
import { folderOf, resolvePath } from './requirement-files.ts';
import { REQUIREMENT_FILES } from './requirements.ts';

/** How the packages of an app are installed. */
export const planInstall = (input: InstallInput): InstallPlan => PLANS[input.installer.name](input);

const planPip = ({ app, requirements, extra, staged }: InstallInput): InstallPlan => {
  const base = basicInstall(app);
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

const planUv = ({ app, repo, installer, extra }: InstallInput): InstallPlan => {
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
    ...basicInstall(app),
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

const PLANS: Record<InstallerName, (input: InstallInput) => InstallPlan> = {
  pip: planPip,
  uv: planUv,
  poetry: planPoetry,
  pdm: planPdm,
  pipenv: planPipenv,
};
