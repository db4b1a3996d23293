import type { Dir } from '../../source-tree.ts';

/** What mix.exs says, as far as it can be read without running it. */
export interface MixProject {
  app: string | undefined;
  /** The requirement on Elixir itself: `~> 1.15`. */
  elixir: string | undefined;
  releases: string[];
  dependencies: ReadonlySet<string>;
  /** Aliases, and every other key: `assets.deploy`. */
  keys: ReadonlySet<string>;
  /** Where the apps of an umbrella lie. */
  appsPath: string | undefined;
}

interface Token {
  kind: 'key' | 'string' | 'atom' | 'name' | 'punctuation';
  text: string;
}

const TOKEN =
  /#[^\n]*|(?:"""[^]*?"""|'''[^]*?''')|"(?<string>(?:\\[^]|[^"\\])*)"(?<quoted>:(?=\s))?|(?<key>[A-Za-z_]\w*[?!]?):(?=\s)|:(?<atom>[A-Za-z_][\w@]*[?!]?)|(?<name>[A-Za-z_][\w.]*[?!]?)|(?<punctuation>\S)/g;

const tokensOf = (source: string): Token[] => {
  const tokens: Token[] = [];
  for (const { groups = {} } of source.slice(0, 200_000).matchAll(TOKEN)) {
    const { string, quoted, key, atom, name, punctuation } = groups;
    if (string !== undefined) tokens.push({ kind: quoted === undefined ? 'string' : 'key', text: string });
    else if (key !== undefined) tokens.push({ kind: 'key', text: key });
    else if (atom !== undefined) tokens.push({ kind: 'atom', text: atom });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (punctuation !== undefined) tokens.push({ kind: 'punctuation', text: punctuation });
  }
  return tokens;
};

export const readMix = (dir: Dir, path = 'mix.exs'): MixProject => {
  const tokens = tokensOf(dir.read(path) ?? '');
  const after = (key: string, kind: Token['kind']): string | undefined => {
    const index = tokens.findIndex((token) => token.kind === 'key' && token.text === key);
    const next = tokens[index + 1];
    return index >= 0 && next?.kind === kind ? next.text : undefined;
  };
  const dependencies = tokens.flatMap((token, index) =>
    token.kind === 'atom' && tokens[index - 1]?.text === '{' && tokens[index + 1]?.text === ',' ? [token.text] : [],
  );
  return {
    app: after('app', 'atom'),
    elixir: after('elixir', 'string'),
    releases: releasesOf(tokens),
    dependencies: new Set(dependencies),
    keys: new Set(tokens.flatMap(({ kind, text }) => (kind === 'key' ? [text] : []))),
    appsPath: after('apps_path', 'string'),
  };
};

/** The names in `releases: [name: [...]]`, or in the function that the key calls. */
const releasesOf = (tokens: Token[]): string[] => {
  const key = tokens.findIndex(({ kind, text }) => kind === 'key' && text === 'releases');
  if (key < 0) return [];
  const called = tokens[key + 1];
  if (called?.kind !== 'name') return keysAt(tokens, key + 1);
  const definition = tokens.findIndex(
    ({ text }, index) => text === called.text && ['def', 'defp'].includes(tokens[index - 1]?.text ?? ''),
  );
  const list = tokens.findIndex(({ text }, index) => index > definition && text === '[');
  return definition < 0 ? [] : keysAt(tokens, list);
};

/** The keys of the list that opens here, without those of lists inside it. */
const keysAt = (tokens: Token[], start: number): string[] => {
  const keys: string[] = [];
  let depth = 0;
  for (const { kind, text } of tokens.slice(start)) {
    if (kind === 'punctuation' && /^[[({]$/.test(text)) depth += 1;
    if (kind === 'punctuation' && /^[\])}]$/.test(text)) depth -= 1;
    if (depth === 0) break;
    if (kind === 'key' && depth === 1) keys.push(text);
  }
  return keys;
};

/** Variables without which config/runtime.exs raises. */
export const neededVariables = (source: string | undefined): string[] => {
  const tokens = tokensOf(source ?? '');
  const names = tokens.flatMap((token, index) => {
    const name = tokens[index + 2];
    if (name?.kind !== 'string' || tokens[index + 1]?.text !== '(') return [];
    if (token.text === 'System.fetch_env!') return [name.text];
    // System.get_env("X") || raise
    const after = tokens
      .slice(index + 3, index + 7)
      .map(({ text }) => text)
      .join(' ');
    return token.text === 'System.get_env' && after === ') | | raise' ? [name.text] : [];
  });
  return [...new Set(names)];
};

/** Elixir's requirements as semver ranges: `~> 1.15` allows all of 1.x from there on, `~> 1.15.2` all of 1.15. */
export const elixirRange = (written: string): string =>
  written
    .trim()
    .replace(/-otp-\d+$/, '')
    .replaceAll(/~>\s*(\d+)\.(\d+)(\.\d+\S*)?/g, (_whole, major: string, minor: string, patch?: string) =>
      patch === undefined
        ? `>=${major}.${minor}.0 <${Number(major) + 1}.0.0`
        : `>=${major}.${minor}${patch} <${major}.${Number(minor) + 1}.0`,
    )
    .replaceAll(/==\s*/g, '')
    .replaceAll(/\s+and\s+/g, ' ')
    .replaceAll(/\s+or\s+/g, ' || ');
