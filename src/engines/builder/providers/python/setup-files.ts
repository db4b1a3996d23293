import type { Dir } from '../../source-tree.ts';
import { type Fields, fieldsAt, readToml, textsOf } from '../support/fields.ts';
import { pythonTokens } from '../support/tokens.ts';

/**
 * What a package in the source needs, as its pyproject.toml, setup.cfg or setup.py lists it; null when only running its
 * build would tell.
 */
export const dependenciesOf = (dir: Dir): string[] | null => {
  const file = readToml(dir, 'pyproject.toml');
  const project = fieldsAt(file, 'project');
  if (textsOf(project['dynamic']).includes('dependencies'))
    return fromRequirementFiles(dir, file) ?? fromSetupFiles(dir);
  if (file?.['project'] !== undefined) return textsOf(project['dependencies']);
  if (fieldsAt(file, 'tool')['poetry'] !== undefined) return null;
  return dir.has('setup.py') || dir.has('setup.cfg') ? fromSetupFiles(dir) : [];
};

/** `dynamic = ["dependencies"]` of setuptools, which reads them from files. */
const fromRequirementFiles = (dir: Dir, file: Fields | undefined): string[] | null => {
  const named: unknown = fieldsAt(file, 'tool', 'setuptools', 'dynamic', 'dependencies')['file'];
  const files = typeof named === 'string' ? [named] : textsOf(named);
  if (files.length === 0 || !files.every((path) => dir.has(path))) return null;
  return files.flatMap((path) => requirementsIn((dir.read(path) ?? '').split(/\r?\n/)));
};

const requirementsIn = (lines: string[]): string[] =>
  lines.map((line) => line.replace(/(^|\s)#.*$/, '').trim()).filter((line) => line !== '');

const fromSetupFiles = (dir: Dir): string[] | null => {
  const [config, script] = [dir.read('setup.cfg') ?? '', dir.read('setup.py') ?? ''];
  if (!`${config}${script}`.includes('install_requires'))
    return dir.has('setup.py') || dir.has('setup.cfg') ? [] : null;
  return fromSetupConfig(config) ?? fromSetupScript(script);
};

/** `install_requires =` of `[options]`, on one line or on the indented ones below. */
const fromSetupConfig = (text: string): string[] | null => {
  const section = /^\[options\]$([\s\S]*?)(?=^\[|$(?![\s\S]))/m.exec(text)?.[1];
  const value = /^install_requires[ \t]*[=:](.*(?:\r?\n(?:[ \t]+.*|[ \t]*))*)/m.exec(section ?? '')?.[1];
  if (value === undefined || /^\s*file:/.test(value)) return null;
  return requirementsIn(value.split(/\r?\n/));
};

/** `install_requires=[...]` with nothing but strings in it. */
const fromSetupScript = (text: string): string[] | null => {
  const tokens = pythonTokens(text);
  const at = tokens.findIndex(
    ({ kind, text: name }, index) =>
      kind === 'name' &&
      name === 'install_requires' &&
      tokens[index + 1]?.text === '=' &&
      tokens[index + 2]?.text === '[',
  );
  if (at < 0) return null;
  const end = tokens.findIndex((token, index) => index > at && token.kind === 'punctuation' && token.text === ']');
  const items = tokens.slice(at + 3, end < 0 ? undefined : end).filter(({ text: item }) => item !== ',');
  return items.every(({ kind }) => kind === 'string') ? items.map(({ text: item }) => item) : null;
};
