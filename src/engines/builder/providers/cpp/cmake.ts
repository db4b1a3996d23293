import type { Dir } from '../../source-tree.ts';
import { boostPackages, packagesFor } from './system.ts';

/** What the CMakeLists.txt files of a project say, as far as it can be read without running them. */
export interface CmakeProject {
  /** The name that `project()` gives. */
  name: string;
  executables: string[];
  /** Targets of `install()` rules. */
  installed: string[];
  /** Debian packages of the libraries that it looks for. */
  packages: string[];
}

interface Command {
  name: string;
  words: string[];
}

/** Folders whose programs nobody deploys. */
const ASIDE =
  /(^|\/)(\.[^/]*|bench(mark)?s?|build|cmake|deps|docs?|examples?|extern(al)?|samples?|submodules|tests?|testing|third[_-]?party|unittests?|vcpkg|vendor)(\/|$)/i;

const MAX_FILES = 200;

/** Reads CMakeLists.txt, and those of the folders that it adds. */
export const readCmake = (app: Dir): CmakeProject => {
  const project: CmakeProject = { name: '', executables: [], installed: [], packages: [] };
  const names = new Set<string>();
  const variables = new Map<string, string>();
  const queue = [''];
  const seen = new Set<string>();
  for (let folder = queue.shift(); folder !== undefined; folder = queue.shift()) {
    if (seen.has(folder) || seen.size >= MAX_FILES) continue;
    seen.add(folder);
    const text = app.read(folder === '' ? 'CMakeLists.txt' : `${folder}/CMakeLists.txt`);
    for (const { name, words } of cmakeCommands(text ?? '')) {
      const expanded = words.map((word) => expand(word, variables));
      note(project, names, variables, { name, words: expanded });
      const added = name === 'add_subdirectory' ? expanded[0] : undefined;
      if (added === undefined || /[$"]|\.\./.test(added)) continue;
      const path = [folder, added.replace(/\/+$/, '')].filter((part) => part !== '').join('/');
      if (!ASIDE.test(path)) queue.push(path);
    }
  }
  project.packages.push(...packagesFor(names));
  project.packages = [...new Set(project.packages)].sort();
  return project;
};

const note = (project: CmakeProject, names: Set<string>, variables: Map<string, string>, command: Command): void => {
  const { name, words } = command;
  const [first = '', ...rest] = words;
  if (name === 'project') {
    if (project.name === '') project.name = first;
    variables.set('PROJECT_NAME', first);
    if (!variables.has('CMAKE_PROJECT_NAME')) variables.set('CMAKE_PROJECT_NAME', first);
  }
  if (name === 'set' && rest.length > 0 && (rest.length === 1 || rest[1] === 'CACHE'))
    variables.set(first, rest[0] ?? '');
  if (name === 'add_executable' && !rest.some((word) => /^(IMPORTED|ALIAS|EXCLUDE_FROM_ALL)$/.test(word)))
    project.executables.push(first);
  if (name === 'install' && first === 'TARGETS') project.installed.push(...until(rest, /^[A-Z_]{2,}$/));
  if (name === 'find_package') {
    if (first.toLowerCase() === 'boost')
      project.packages.push(...boostPackages(after(rest, /^(OPTIONAL_)?COMPONENTS$/)));
    else names.add(first);
  }
  if (/^pkg_(check_modules|search_module)$/.test(name))
    for (const word of rest) names.add(word.replace(/[<>=].*$/, ''));
  if (name === 'find_library') for (const word of rest) names.add(word);
  if (name === 'target_link_libraries' || name === 'link_libraries')
    for (const word of name === 'link_libraries' ? words : rest) names.add(word.replace(/^-l/, ''));
};

const until = (words: string[], stop: RegExp): string[] => {
  const end = words.findIndex((word) => stop.test(word));
  return end < 0 ? words : words.slice(0, end);
};

const after = (words: string[], start: RegExp): string[] => {
  const begin = words.findIndex((word) => start.test(word));
  return begin < 0 ? [] : words.slice(begin + 1);
};

const expand = (word: string, variables: ReadonlyMap<string, string>): string =>
  word.replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => variables.get(name) ?? whole);

/** A comment, a string, a bracket, or a word; the rest is white space. */
const TOKEN =
  /#\[(=*)\[[^]*?\]\1\]|#[^\n]*|\[(=*)\[(?<bracket>[^]*?)\]\2\]|"(?<quoted>(?:\\[^]|[^"\\])*)"|(?<paren>[()])|(?<word>[^\s()#"]+)/g;

/** The commands of a CMake file, in order, with comments gone. */
const cmakeCommands = (text: string): Command[] => {
  const commands: Command[] = [];
  let current: Command | undefined;
  let last = '';
  let depth = 0;
  for (const { groups = {} } of text.slice(0, 200_000).matchAll(TOKEN)) {
    const { paren, word } = groups;
    const value = groups['bracket'] ?? groups['quoted'] ?? word;
    if (paren === '(') {
      depth += 1;
      if (depth === 1) current = { name: last.toLowerCase(), words: [] };
    } else if (paren === ')') {
      depth = Math.max(0, depth - 1);
      if (depth === 0 && current) commands.push(current);
    } else if (value !== undefined) {
      if (depth === 0) last = value;
      else current?.words.push(...(word === undefined ? [value] : value.split(';')));
    }
  }
  return commands;
};
