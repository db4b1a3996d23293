import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import type { PlanContext } from '../provider.ts';
import { type Fields, fieldsAt, isFields, placeOf, readToml, textAt } from '../support/fields.ts';
import type { Installer } from './installers.ts';
import type { Requirements } from './requirements.ts';

/** A variable that the address of an index or of a package reads. */
interface Wanted {
  name: string;
  place: string;
}

/**
 * Names of the project variables that choose or open a package index, which are all that an install sees. One that the
 * manifests read and the project does not have ends the build before it begins.
 */
export const indexVariables = (context: PlanContext, installer: Installer, requirements: Requirements): string[] => {
  const { app, projectEnv, notes, overrides } = context;
  const has = (name: string): boolean => Object.hasOwn(projectEnv, name);
  const wanted = [...variablesOf(app, installer, requirements), ...uvCredentials(app, installer)];
  const missing = wanted.find(({ name }) => !has(name));
  if (missing !== undefined && overrides.install === undefined) throw missingVariable(missing);
  const optional = poetryCredentials(app, installer).filter(({ name }) => !has(name));
  for (const { name, place } of optional) {
    notes.decisions.push(
      `packages come from the index in ${place} too: when it is private, set ${name} and its password`,
    );
  }
  const usual = Object.keys(projectEnv).filter((name) => /^(PIP_|UV_|POETRY_|PDM_|PIPENV_)/.test(name));
  return [...new Set([...wanted.map(({ name }) => name), ...usual])].filter(has).sort();
};

const missingVariable = ({ name, place }: Wanted): Error =>
  invalidInput(
    `${place} reads the variable ${name} to install packages, and the project does not have it`,
    `set it, then deploy again: berth env set ${name}=<value>`,
  );

/** `${NAME}` in the requirements, and in the addresses of indexes that pipenv and pdm expand. */
const variablesOf = (app: Dir, { name: installer }: Installer, { lines }: Requirements): Wanted[] => {
  const inLines = lines.flatMap(({ text, place }) => namesIn(text, /\$\{([A-Z0-9_]+)\}/g, place));
  if (installer === 'pipenv') {
    const sources = indexesOf(readToml(app, 'Pipfile')?.['source']);
    return [...inLines, ...urlVariables(app, 'Pipfile', sources, /\$\{?([A-Za-z_]\w*)\}?/g)];
  }
  if (installer !== 'pdm') return inLines;
  const sources = indexesOf(fieldsAt(readToml(app, 'pyproject.toml'), 'tool', 'pdm')['source']);
  return [...inLines, ...urlVariables(app, 'pyproject.toml', sources, /\$\{([A-Za-z_]\w*)\}/g)];
};

const indexesOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

const urlVariables = (app: Dir, file: string, indexes: Fields[], pattern: RegExp): Wanted[] =>
  indexes.flatMap((index) => {
    const url = textAt(index, 'url') ?? '';
    const place = placeOf(app, file, new RegExp(`^\\s*url\\s*=.*${escape(url)}`));
    return namesIn(url, pattern, place);
  });

const namesIn = (text: string, pattern: RegExp, place: string): Wanted[] =>
  [...text.matchAll(pattern)].map(([, name = '']) => ({ name, place }));

const escape = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');

/** uv has credentials of a named index in variables; with `authenticate = "always"` it cannot do without. */
const uvCredentials = (app: Dir, { name: installer }: Installer): Wanted[] =>
  installer !== 'uv'
    ? []
    : indexesOf(fieldsAt(readToml(app, 'pyproject.toml'), 'tool', 'uv')['index'])
        .filter((index) => index['authenticate'] === 'always' && !/\/\/[^/]*@/.test(textAt(index, 'url') ?? ''))
        .flatMap((index) => {
          const name = textAt(index, 'name') ?? '';
          const place = placeOf(app, 'pyproject.toml', new RegExp(`^\\s*name\\s*=\\s*["']${escape(name)}["']`));
          const prefix = `UV_INDEX_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
          return ['USERNAME', 'PASSWORD'].map((part) => ({ name: `${prefix}_${part}`, place }));
        });

const poetryCredentials = (app: Dir, { name: installer }: Installer): Wanted[] =>
  installer !== 'poetry'
    ? []
    : indexesOf(fieldsAt(readToml(app, 'pyproject.toml'), 'tool', 'poetry')['source'])
        .filter((index) => textAt(index, 'url') !== undefined)
        .map((index) => {
          const name = textAt(index, 'name') ?? '';
          const place = placeOf(app, 'pyproject.toml', new RegExp(`^\\s*name\\s*=\\s*["']${escape(name)}["']`));
          return { name: `POETRY_HTTP_BASIC_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_USERNAME`, place };
        });
