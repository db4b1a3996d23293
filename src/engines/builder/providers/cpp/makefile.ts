import type { Dir } from '../../source-tree.ts';
import { packagesFor } from './system.ts';

/** The programs that a Makefile links. */
export interface MakeProject {
  file: string;
  executables: string[];
  packages: string[];
}

const COMPILER = /(^|[\s@-])(\$[({](CC|CXX|LD|CPP|COMPILER)[)}]|g?cc|gcc-\d+|[gc]\+\+|g\+\+-\d+|clang(\+\+)?)\s/;
const SOURCE = /^([^/]+|(src|source|lib|app)\/.+)\.(c|cc|cpp|cxx|c\+\+|C)$/;

/** A Makefile that clearly builds a program from C or C++, or null: most Makefiles are a list of chores. */
export const readMakefile = (app: Dir): MakeProject | null => {
  const file = app.firstOf('GNUmakefile', 'Makefile', 'makefile');
  const text = file === undefined ? undefined : app.read(file);
  if (file === undefined || text === undefined || !app.files().some((path) => SOURCE.test(path))) return null;
  const lines = text
    .slice(0, 200_000)
    .replaceAll(/\\\r?\n/g, ' ')
    .split(/\r?\n/);
  const variables = variablesOf(lines);
  const executables = linked(lines, variables).filter((name) => !/(^|[/_-])tests?([/_-]|$)|[$%]/.test(name));
  if (executables.length === 0) return null;
  const flags = [...text.matchAll(/(?:^|\s)-l(\w[\w+.-]*)/g)].map(([, name = '']) => name);
  const modules = [...text.matchAll(/pkg-config[^\n)`]*?\s((?:[a-z][\w+.-]*\s*)+)[)`]/g)].flatMap(([, names = '']) =>
    names.trim().split(/\s+/),
  );
  return { file, executables: [...new Set(executables)], packages: packagesFor([...flags, ...modules]) };
};

const variablesOf = (lines: string[]): Map<string, string> => {
  const variables = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = /^(?:export\s+|override\s+)?([\w.-]+)\s*(?:[:?]{0,2}=)\s*([^#]*)/.exec(line) ?? [];
    if (name !== undefined && value !== undefined && !variables.has(name)) variables.set(name, value.trim());
  }
  return variables;
};

const expand = (text: string, variables: ReadonlyMap<string, string>, depth = 0): string =>
  depth > 5
    ? text
    : text.replaceAll(/\$[({]([\w.-]+)[)}]/g, (whole, name: string) => {
        const value = variables.get(name);
        return value === undefined ? whole : expand(value, variables, depth + 1);
      });

/** Targets whose recipe calls the compiler to link: with `-o`, and without `-c`. */
const linked = (lines: string[], variables: ReadonlyMap<string, string>): string[] => {
  const found: string[] = [];
  let targets: string[] = [];
  for (const line of lines) {
    if (!line.startsWith('\t')) {
      const rule = /^([^\s:=#][^:=#]*):(?!=)/.exec(line)?.[1];
      if (rule !== undefined) targets = expand(rule, variables).trim().split(/\s+/);
      else if (line.trim() !== '' && !line.startsWith('#')) targets = [];
      continue;
    }
    if (!COMPILER.test(line) || /\s-(c|E|S|shared|M+)\s/.test(line)) continue;
    const output = /\s-o\s*(\S+)/.exec(line)?.[1];
    if (output === undefined) continue;
    const [only] = targets;
    found.push(
      ...(output === '$@'
        ? targets.length === 1 && only !== undefined
          ? [only]
          : []
        : [expand(output, variables).replaceAll('$@', only ?? '$@')]),
    );
  }
  return found;
};
