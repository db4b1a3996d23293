import { APP_DIR, type Step } from '../../plan.ts';
import { safePath } from '../../dockerfile-text.ts';
import type { Dir } from '../../source-tree.ts';
import { sourceOf } from '../support/source.ts';
import { type InstallPlan, MAKE_VENV, VENV } from './install-plan.ts';
import type { PythonApp } from './layout.ts';
import { folderOf, relativePath } from './requirement-files.ts';

/** The folder of the source that lies in /app: the app's own, or all of it when the app needs something beside. */
export const topOf = (app: Dir, { files, local, folder }: InstallPlan): string => {
  const within = (path: string): boolean => app.path === '' || path === app.path || path.startsWith(`${app.path}/`);
  return [folder, ...files, ...local.map(({ path }) => path)].every(within) ? app.path : '';
};

/** Installs what the manifests ask for. */
export const installSteps = (app: PythonApp): Step[] => {
  const { context, commands, install, installEnv, staged } = app;
  const own = context.overrides.install !== undefined;
  const venv = !staged ? [] : own ? [`python -m venv ${VENV}`] : install.tool === null ? [MAKE_VENV] : [];
  const command = [...venv, ...commands].join(' && ');
  if (command === '') return [];
  const seesEnv = installEnv === null || installEnv.length > 0;
  return [
    ...manifestCopies(app),
    { kind: 'run', caches: install.caches, command, ...(seesEnv ? { env: 'install' as const } : {}) },
  ];
};

/** What the install reads, as little as possible: it runs again only when one of these changes. */
const manifestCopies = ({ context, install }: PythonApp): Step[] => {
  const { app, repo, overrides } = context;
  const top = topOf(app, install);
  const workdir = relativePath(top, install.folder);
  const move: Step[] = workdir === '' ? [] : [{ kind: 'workdir', path: `${APP_DIR}/${safePath(workdir)}` }];
  const generated = install.generated.map(({ path }): Step => ({ kind: 'copy', sources: [path], target: './' }));
  if (install.wholeSource || overrides.install !== undefined) {
    return [{ kind: 'copy', sources: [`${safePath(sourceOf(repo, top))}/`], target: './' }, ...move, ...generated];
  }
  const folders = new Map<string, string[]>();
  for (const file of new Set(install.files)) {
    const folder = file.endsWith('/') ? file.slice(0, -1) : folderOf(file);
    folders.set(folder, [...(folders.get(folder) ?? []), safePath(sourceOf(repo, file))]);
  }
  const copies = [...folders].map(([folder, sources]): Step => {
    const way = relativePath(top, folder);
    return { kind: 'copy', sources, target: way === '' ? './' : `./${safePath(way)}/` };
  });
  return [...copies, ...move, ...generated];
};
