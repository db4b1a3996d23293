/** A token of a build script in Groovy, Kotlin or Scala: comments are gone. */
export interface ScriptToken {
  kind: 'name' | 'string' | 'number' | 'punctuation';
  text: string;
}

const SCRIPT =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|(?<string>"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"|`[^`\n]*`)|(?<number>\d+(?:\.\d+)*)|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<punctuation>\S)/gu;

/** Build scripts are small: what comes after this much text is not looked at. */
const MAX_CHARACTERS = 200_000;

export const scriptTokens = (source: string | undefined): ScriptToken[] =>
  [...(source ?? '').slice(0, MAX_CHARACTERS).matchAll(SCRIPT)].flatMap(({ groups = {} }): ScriptToken[] => {
    const { string, number, name, punctuation } = groups;
    if (string !== undefined)
      return [{ kind: 'string', text: string.replaceAll(/^("""|'''|["'`])|("""|'''|["'`])$/g, '') }];
    if (number !== undefined) return [{ kind: 'number', text: number }];
    if (name !== undefined) return [{ kind: 'name', text: name }];
    return punctuation === undefined ? [] : [{ kind: 'punctuation', text: punctuation }];
  });

/** The tokens between the braces of every block of that name, at any depth. */
export const blocksOf = (tokens: readonly ScriptToken[], name: string): ScriptToken[][] => {
  const blocks: ScriptToken[][] = [];
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'name' && token.text === name && tokens[index + 1]?.text === '{') {
      blocks.push(tokens.slice(index + 2, closing(tokens, index + 1)));
    }
  }
  return blocks;
};

/** Where the bracket that opens at an index closes again. */
export const closing = (tokens: readonly ScriptToken[], open: number): number => {
  let depth = 0;
  for (let index = open; index < tokens.length; index += 1) {
    const { kind, text } = tokens[index] ?? { kind: 'punctuation', text: '' };
    if (kind !== 'punctuation') continue;
    if ('{(['.includes(text)) depth += 1;
    if ('})]'.includes(text)) depth -= 1;
    if (depth === 0) return index;
  }
  return tokens.length;
};
