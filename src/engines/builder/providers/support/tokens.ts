/** A token of source code: comments are gone, and a string is told apart from a name. */
export interface Token {
  kind: 'name' | 'string' | 'punctuation';
  text: string;
  /** Whether only whitespace precedes it on its line, and none of that: a statement at the outermost level. */
  leftmost: boolean;
}

const JAVASCRIPT =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(?<string>'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`)|(?<name>[\p{L}_$][\p{L}\p{N}_$]*)|(?<punctuation>\S)/gu;

const PYTHON =
  /#[^\n]*|(?<string>[rRbBuUfF]{0,2}(?:"""(?:\\[\s\S]|[^\\])*?(?:"""|$)|'''(?:\\[\s\S]|[^\\])*?(?:'''|$)|"(?:\\[\s\S]|[^"\\\n])*"|'(?:\\[\s\S]|[^'\\\n])*'))|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<punctuation>\S)/gu;

/** Config files are small: what comes after this much text is not looked at. */
const MAX_CHARACTERS = 200_000;

export const javascriptTokens = (source: string): Token[] => tokens(source, JAVASCRIPT, /^.|.$/gs);

export const pythonTokens = (source: string): Token[] =>
  tokens(source, PYTHON, /^[a-zA-Z]{0,2}("""|'''|"|')|("""|'''|"|')$/g);

const tokens = (source: string, pattern: RegExp, quotes: RegExp): Token[] => {
  const text = source.slice(0, MAX_CHARACTERS);
  const found: Token[] = [];
  for (const match of text.matchAll(pattern)) {
    const { string, name, punctuation } = match.groups ?? {};
    const leftmost = match.index === 0 || text[match.index - 1] === '\n';
    if (string !== undefined) found.push({ kind: 'string', text: string.replace(quotes, ''), leftmost });
    else if (name !== undefined) found.push({ kind: 'name', text: name, leftmost });
    else if (punctuation !== undefined) found.push({ kind: 'punctuation', text: punctuation, leftmost });
  }
  return found;
};

/** The first literal value of `key: value`, wherever it stands: `output: 'export'`, `ssr: false`. */
export const literalOf = (source: string | undefined, key: string): string | undefined => {
  if (source === undefined) return undefined;
  const list = javascriptTokens(source);
  for (const [index, token] of list.entries()) {
    const value = list[index + 2];
    if (token.text === key && token.kind !== 'punctuation' && list[index + 1]?.text === ':' && value) {
      if (value.kind !== 'punctuation' && list[index + 3]?.text !== '?' && list[index + 3]?.text !== '.')
        return value.text;
    }
  }
  return undefined;
};

/** Whether a name is called: `adapter(...)`. */
export const mentions = (source: string | undefined, name: string): boolean =>
  source !== undefined && javascriptTokens(source).some((token) => token.kind !== 'punctuation' && token.text === name);
