import type { Dir } from '../../source-tree.ts';
import { fieldsAt, readToml, textAt } from '../support/fields.ts';
import { type ScriptToken, blocksOf, scriptTokens } from './tokens.ts';

/** What a Gradle build script says, as far as it can be read without running it. */
export interface GradleScript {
  /** Ids of the plugins that it applies. */
  plugins: string[];
  /** Ids of the plugins that it applies to the projects below it. */
  inherited: string[];
  /** `group:artifact` of everything it names. */
  libraries: string[];
  mainClass: string | undefined;
  tokens: ScriptToken[];
}

/** The version catalogue of a build: gradle/libs.versions.toml. */
export interface Catalogue {
  versions: Map<string, string>;
  plugins: Map<string, string>;
  libraries: Map<string, string>;
}

export const SCRIPTS = ['build.gradle', 'build.gradle.kts'];
export const SETTINGS = ['settings.gradle', 'settings.gradle.kts'];

/** Accessors have dots where the names of the catalogue have dashes and underscores. */
const accessor = (name: string): string => name.replaceAll(/[-_]/g, '.');

export const readCatalogue = (workspace: Dir): Catalogue => {
  const file = readToml(workspace, 'gradle/libs.versions.toml');
  const idOf = (value: unknown, key: string): string | undefined =>
    typeof value === 'string' ? value.replace(/:[^:]*$/, '') : textAt(value, key);
  const entries = (table: string, read: (value: unknown) => string | undefined): Map<string, string> =>
    new Map(
      Object.entries(fieldsAt(file, table)).flatMap(([name, value]) => {
        const found = read(value);
        return found === undefined ? [] : [[accessor(name), found] as const];
      }),
    );
  return {
    versions: entries('versions', (value) => (typeof value === 'string' ? value : textAt(value, 'strictly'))),
    plugins: entries('plugins', (value) => idOf(value, 'id')),
    libraries: entries(
      'libraries',
      (value) => idOf(value, 'module') ?? `${textAt(value, 'group') ?? ''}:${textAt(value, 'name') ?? ''}`,
    ),
  };
};

/** The script of a project's folder; an empty one when there is none. */
export const readScript = (dir: Dir, catalogue: Catalogue): GradleScript => {
  const file = dir.firstOf(...SCRIPTS);
  return scriptOf(file === undefined ? undefined : dir.read(file), catalogue);
};

export const scriptOf = (source: string | undefined, catalogue: Catalogue): GradleScript => {
  const tokens = scriptTokens(source);
  const below = ['subprojects', 'allprojects'].flatMap((name) => blocksOf(tokens, name));
  const inherited = below.flatMap((block) => appliedPlugins(block));
  return {
    plugins: [
      ...blocksOf(tokens, 'plugins').flatMap((block) => listedPlugins(block, catalogue)),
      ...appliedPlugins(tokens),
    ],
    inherited,
    libraries: libraries(tokens, catalogue),
    mainClass: valueOf(tokens, ['mainClass', 'mainClassName']),
    tokens,
  };
};

const ASSIGNING = new Set(['=', '.', 'set', '(']);

/** The string that a name is set to: `name = "x"`, `name.set("x")`, `name "x"`. */
export const valueOf = (tokens: readonly ScriptToken[], names: readonly string[]): string | undefined => {
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'name' || !names.includes(token.text)) continue;
    const value = tokens.slice(index + 1, index + 5).find(({ text }) => !ASSIGNING.has(text));
    if (value?.kind === 'string') return value.text;
  }
  return undefined;
};

/** The entries of a `plugins` block: ids, Kotlin's short form, the catalogue's aliases and Gradle's own names. */
const listedPlugins = (block: readonly ScriptToken[], catalogue: Catalogue): string[] => {
  const found: { id: string; applied: boolean }[] = [];
  for (const [index, token] of block.entries()) {
    const next = block[index + 1]?.text === '(' ? block[index + 2] : block[index + 1];
    if (token.text === 'apply' && (block[index + 1]?.text === 'false' || next?.text === 'false')) {
      const last = found.at(-1);
      if (last) last.applied = false;
      continue;
    }
    const id = pluginId(block, index, next, catalogue);
    if (id !== undefined) found.push({ id, applied: true });
  }
  return found.filter(({ applied }) => applied).map(({ id }) => id);
};

const CORE = new Set(['application', 'java', 'groovy', 'scala', 'war']);

const pluginId = (
  block: readonly ScriptToken[],
  index: number,
  next: ScriptToken | undefined,
  catalogue: Catalogue,
): string | undefined => {
  const token = block[index];
  const previous = block[index - 1]?.text ?? '';
  if (token?.kind === 'string')
    return previous === '' || !/^[=(]$|^(id|kotlin|version)$/.test(previous) ? token.text : undefined;
  if (token?.kind !== 'name' || previous === '.') return undefined;
  if (token.text === 'id' && next?.kind === 'string') return next.text;
  if (token.text === 'kotlin' && next?.kind === 'string') return `org.jetbrains.kotlin.${next.text}`;
  if (token.text === 'alias') return catalogue.plugins.get(chainAfter(block, index, 'plugins'));
  return CORE.has(token.text) && !/^(id|version|=|\()$/.test(previous) ? token.text : undefined;
};

/** `libs.plugins.spring.boot` after a name, without what leads up to `part`. */
const chainAfter = (tokens: readonly ScriptToken[], index: number, part: string): string => {
  const start = tokens.findIndex((token, at) => at > index && token.text === part);
  const names: string[] = [];
  if (start < 0) return '';
  for (let at = start + 2; tokens[at]?.kind === 'name'; at += 2) {
    names.push(tokens[at]?.text ?? '');
    if (tokens[at + 1]?.text !== '.') break;
  }
  return names.join('.');
};

/** `apply plugin: 'x'` and `apply(plugin = "x")`. */
const appliedPlugins = (tokens: readonly ScriptToken[]): string[] =>
  tokens.flatMap((token, index) => {
    if (token.text !== 'apply' || token.kind !== 'name') return [];
    const words = tokens.slice(index + 1, index + 5).filter(({ text }) => text !== '(');
    return words[0]?.text === 'plugin' && words[2]?.kind === 'string' ? [words[2].text] : [];
  });

const libraries = (tokens: readonly ScriptToken[], catalogue: Catalogue): string[] => {
  const named = tokens.filter(({ kind, text }) => kind === 'string' && /^[\w.-]+:[\w.-]+(:|$)/.test(text));
  const catalogued = tokens.flatMap(({ text }, index) => {
    if (text !== 'libs' || tokens[index - 1]?.text === '.') return [];
    return catalogue.libraries.get(chainAfter(tokens, index - 1, 'libs')) ?? [];
  });
  return [...named.map(({ text }) => text), ...catalogued];
};

/** What a version expression stands for: a number, a string, or an entry of the catalogue. */
export const versionAt = (tokens: readonly ScriptToken[], index: number, catalogue: Catalogue): string | undefined => {
  const token = tokens[index];
  if (token?.kind === 'number') return token.text;
  if (token?.kind === 'string') return /^\d/.test(token.text) ? token.text : undefined;
  if (token?.text === 'libs' && tokens[index + 2]?.text === 'versions') {
    const chain = chainAfter(tokens, index, 'versions').replace(/\.(get|toInt|asProvider)$/, '');
    return catalogue.versions.get(chain);
  }
  return /^(?:VERSION|JVM)_(\d+(?:_\d+)?)$/.exec(token?.text ?? '')?.[1]?.replace('_', '.');
};
