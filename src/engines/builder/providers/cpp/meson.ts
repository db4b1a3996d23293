import type { Dir } from '../../source-tree.ts';
import { type Token, pythonTokens } from '../support/tokens.ts';
import { boostPackages, packagesFor } from './system.ts';

/** What the meson.build files of a project say. */
export interface MesonProject {
  name: string;
  /** Path of each program below the build folder. */
  executables: { name: string; path: string; installed: boolean }[];
  packages: string[];
}

const ASIDE = /(^|\/)(bench(mark)?s?|docs?|examples?|samples?|subprojects|tests?)(\/|$)/i;
const MAX_FILES = 200;
/** Stands for `meson.project_name()`; no variable can have this name. */
const PROJECT_NAME = 'meson.project_name';

/** Reads meson.build, and those of its `subdir()`s. */
export const readMeson = (app: Dir): MesonProject => {
  const project: MesonProject = { name: '', executables: [], packages: [] };
  const names = new Set<string>();
  const variables = new Map<string, string>();
  const queue = [''];
  for (let read = 0; queue.length > 0 && read < MAX_FILES; read += 1) {
    const folder = queue.shift() ?? '';
    const inside = (path: string): string => (folder === '' ? path : `${folder}/${path}`);
    for (const call of mesonCalls(app.read(inside('meson.build')) ?? '', variables)) {
      const { name, first, texts, tokens } = call;
      if (name === 'project' && project.name === '') project.name = first;
      if (name === 'subdir' && !ASIDE.test(inside(first))) queue.push(inside(first));
      if (name === 'executable' && first !== '')
        project.executables.push({ name: first, path: inside(first), installed: isTrue(tokens, 'install') });
      if (name === 'dependency') {
        if (first === 'boost') project.packages.push(...boostPackages(texts.slice(1)));
        else names.add(first);
      }
      if (name === 'find_library') names.add(first);
    }
  }
  project.packages = [...new Set([...project.packages, ...packagesFor(names)])].sort();
  return project;
};

interface Call {
  name: string;
  /** The first argument, when it is a string or a variable that holds one. */
  first: string;
  texts: string[];
  tokens: Token[];
}

/** Meson's comments, strings and names are those of Python. */
const mesonCalls = (text: string, variables: Map<string, string>): Call[] => {
  const tokens = pythonTokens(text);
  const calls: Call[] = [];
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    const value = tokens[index + 2];
    if (token.kind === 'name' && next?.text === '=' && value?.kind === 'string') variables.set(token.text, value.text);
    if (token.kind !== 'name' || next?.text !== '(') continue;
    const inner = argumentsFrom(tokens, index + 2);
    const first = firstArgument(inner, variables);
    if (token.text === 'project') variables.set(PROJECT_NAME, first);
    calls.push({
      name: token.text,
      first,
      texts: inner.filter(({ kind }) => kind === 'string').map((one) => one.text),
      tokens: inner,
    });
  }
  return calls;
};

const argumentsFrom = (tokens: Token[], start: number): Token[] => {
  let depth = 1;
  for (let index = start; index < tokens.length; index += 1) {
    const { kind, text } = tokens[index] ?? { kind: 'name', text: '' };
    if (kind === 'punctuation' && text === '(') depth += 1;
    if (kind === 'punctuation' && text === ')') depth -= 1;
    if (depth === 0) return tokens.slice(start, index);
  }
  return tokens.slice(start);
};

const firstArgument = (tokens: Token[], variables: ReadonlyMap<string, string>): string => {
  const [first] = tokens;
  if (first === undefined) return '';
  if (first.kind === 'string') return first.text;
  // meson.project_name()
  if (first.text === 'meson' && tokens[2]?.text === 'project_name') return variables.get(PROJECT_NAME) ?? '';
  return variables.get(first.text) ?? '';
};

const isTrue = (tokens: Token[], key: string): boolean =>
  tokens.some(
    (token, index) => token.text === key && tokens[index + 1]?.text === ':' && tokens[index + 2]?.text === 'true',
  );
