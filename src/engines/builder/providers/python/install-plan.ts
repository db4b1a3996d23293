import type { CacheMount, ContextFile } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { shellQuote } from '../support/shell.ts';
import type { Installer } from './installers.ts';
import type { Requirements } from './requirements.ts';

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

export interface InstallInput {
  app: Dir;
  repo: Dir;
  installer: Installer;
  requirements: Requirements;
  /** Servers that the start command needs besides. */
  extra: string[];
  /** pip installs into an environment of its own, not into the image's Python. */
  staged: boolean;
}

/** A plan without anything in it yet. */
export const basicInstall = (app: Dir): InstallPlan => ({
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

export const quoted = (word: string): string => (/^[\w.=-]+$/.test(word) ? word : shellQuote(word));

export const extraCommand = (command: string, names: string[]): string[] =>
  names.length === 0 ? [] : [`${command} ${names.map(quoted).join(' ')}`];

export const driftWarning = (file: string, names: string[], remedy: string): string =>
  `WARNING: ${file} does not have ${names.slice(0, 10).join(', ')} as the manifest asks for it: other versions than the locked ones may be installed; ${remedy}`;
