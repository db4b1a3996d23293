import type { Dir } from '../../source-tree.ts';

const MAX_SOURCES = 2000;
const COMMENTS = /\/\*[\s\S]*?\*\/|\/\/[^\n]*/g;

/** Classes with a `main` method among the sources of a module, by their full names. */
export const mainClasses = (module: Dir): string[] =>
  module
    .files()
    .filter((file) => /^src\/main\/(java|kotlin)\/.*\.(java|kt)$/.test(file))
    .slice(0, MAX_SOURCES)
    .flatMap((file) => mainClassOf(file, module.read(file) ?? ''))
    .filter((name) => CLASS_NAME.test(name));

/** What Java allows in names, as far as ASCII goes: it reaches a command. */
export const CLASS_NAME = /^[A-Za-z_][\w$]*(\.[A-Za-z_][\w$]*)*$/;

const mainClassOf = (file: string, source: string): string[] => {
  if (!source.includes('main')) return [];
  const code = source.replaceAll(COMMENTS, '');
  const name = /([^/]+)\.\w+$/.exec(file)?.[1] ?? '';
  const found = file.endsWith('.kt') ? kotlinClass(code, name) : javaClass(code, name);
  if (found === undefined) return [];
  const inPackage = /^\s*package\s+([\w.]+)/m.exec(code)?.[1];
  return [inPackage === undefined ? found : `${inPackage}.${found}`];
};

const javaClass = (code: string, name: string): string | undefined =>
  /\bstatic\s+(?:final\s+)?void\s+main\s*\(\s*(?:final\s+)?String\b/.test(code) ? name : undefined;

const kotlinClass = (code: string, name: string): string | undefined => {
  if (/^(?:suspend\s+)?fun\s+main\s*\(/m.test(code)) {
    const named = /@file:JvmName\(\s*"([^"]+)"/.exec(code)?.[1];
    return named ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}Kt`;
  }
  if (!/@JvmStatic\s+fun\s+main\s*\(/.test(code)) return undefined;
  return /^(?:\w+\s+)*(?:class|object)\s+(\w+)/m.exec(code)?.[1];
};
