import type { Dir } from '../../source-tree.ts';

/** What a Gemfile says, as far as it can be read without running it. */
export interface Gemfile {
  gems: GemLine[];
  /** The words of its `ruby` line. */
  ruby: RubyLine | undefined;
  /** It runs code or reads files, so that its text is not all there is to it. */
  dynamic: boolean;
  /** Its dependencies are those of the package that the source itself is. */
  gemspec: boolean;
  /** Names of variables that it reads. */
  variables: string[];
}

export interface GemLine {
  name: string;
  /** The requirements, as written. */
  requirements: string[];
  groups: string[];
  /** Inside an `if` or the like: it may or may not count. */
  conditional: boolean;
}

export interface RubyLine {
  requirements: string[];
  file: string | undefined;
  engine: string | undefined;
  line: number;
}

interface Block {
  groups: string[];
  conditional: boolean;
}

/** Reads the Gemfile line by line; blocks of groups are followed, everything else that is code is noted. */
export const readGemfile = (app: Dir): Gemfile | undefined => {
  const text = app.read('Gemfile');
  if (text === undefined) return undefined;
  const found: Gemfile = { gems: [], ruby: undefined, dynamic: false, gemspec: false, variables: variablesOf(text) };
  const blocks: Block[] = [];
  for (const { code, line } of statements(text)) readStatement(found, blocks, code, line);
  return found;
};

const readStatement = (found: Gemfile, blocks: Block[], code: string, line: number): void => {
  const conditional = blocks.some((block) => block.conditional) || /\s(if|unless)\s/.test(code);
  if (
    /^(eval_gemfile|instance_eval|eval|require|require_relative|load|Dir|File|plugin)\b|\bFile\.(read|exist)/.test(code)
  )
    found.dynamic = true;
  if (/^gemspec\b/.test(code)) found.gemspec = true;
  const gem = /^gem[\s(]+(['"])([\w.-]+)\1(.*)$/.exec(code);
  if (gem) {
    const [, , name = '', rest = ''] = gem;
    const groups = [...blocks.flatMap((block) => block.groups), ...inlineGroups(rest)];
    found.gems.push({ name, requirements: requirementsOf(rest), groups, conditional });
  }
  if (/^ruby[\s(]+['":f]/.test(code)) found.ruby ??= rubyLine(code, line);
  if (/^end\b/.test(code)) blocks.pop();
  else if (/^(if|unless|case|while|until|begin|def)\b/.test(code)) blocks.push({ groups: [], conditional: true });
  else if (/\bdo\s*(\|[^|]*\|)?$/.test(code))
    blocks.push({
      groups: /^group\b/.test(code) ? symbols(code) : [],
      conditional: !/^(group|source|platforms?|git|github|path)\b/.test(code),
    });
};

/** Lines without comments; one that ends in a comma or a backslash goes on in the next. */
const statements = (text: string): { code: string; line: number }[] => {
  const found: { code: string; line: number }[] = [];
  let open: { code: string; line: number } | undefined;
  for (const [index, raw] of text.slice(0, 200_000).split(/\r?\n/).entries()) {
    const code = withoutComment(raw).trim();
    if (code === '') continue;
    open = open === undefined ? { code, line: index + 1 } : { code: `${open.code} ${code}`, line: open.line };
    if (/[,\\]$/.test(code)) continue;
    found.push(open);
    open = undefined;
  }
  if (open !== undefined) found.push(open);
  return found;
};

const withoutComment = (line: string): string =>
  /^(?:[^#'"]|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")*/.exec(line)?.[0] ?? '';

/** The strings right after the name: `"~> 7.1", ">= 7.1.2"`; options come after them. */
const requirementsOf = (rest: string): string[] => {
  const found: string[] = [];
  const pattern = /\s*,\s*(?:\[\s*)?(['"])([^'"\n]*)\1(?!\s*=>)\]?/gy;
  for (let match = pattern.exec(rest); match !== null; match = pattern.exec(rest)) found.push((match[2] ?? '').trim());
  return found.flatMap((text) => text.split(',')).map((text) => text.trim());
};

const inlineGroups = (rest: string): string[] => {
  const value = /(?:\bgroups?:|:groups?\s*=>)\s*(\[[^\]]*\]|%[iw]\[[^\]]*\]|:\w+|['"]\w+['"])/.exec(rest)?.[1];
  return value === undefined ? [] : symbols(value);
};

const symbols = (text: string): string[] => {
  const list = /%[iw]\[([^\]]*)\]/.exec(text)?.[1];
  if (list !== undefined) return list.split(/\s+/).filter((name) => name !== '');
  return [...text.matchAll(/:(\w+)|['"](\w+)['"]/g)].map(([, symbol, word]) => symbol ?? word ?? '');
};

const rubyLine = (code: string, line: number): RubyLine => {
  const rest = code.replace(/^ruby\s*\(?\s*/, ', ');
  return {
    requirements: requirementsOf(rest),
    file: /\bfile(?::|\s*=>)\s*['"]([^'"]+)['"]/.exec(rest)?.[1],
    engine: /\bengine(?::|\s*=>)\s*['"]([^'"]+)['"]/.exec(rest)?.[1],
    line,
  };
};

const variablesOf = (text: string): string[] => [
  ...new Set([...text.matchAll(/\bENV(?:\.fetch\(|\[)\s*['"]([A-Z_][A-Z0-9_]*)['"]/g)].map(([, name = '']) => name)),
];

/** Gems that only development and tests have: an install for production leaves them out. */
export const developmentOnly = ({ gems }: Gemfile): Set<string> => {
  const inDevelopment = ({ groups }: GemLine): boolean =>
    groups.length > 0 && groups.every((group) => group === 'development' || group === 'test');
  const needed = new Set(gems.filter((gem) => !inDevelopment(gem)).map(({ name }) => name));
  return new Set(gems.map(({ name }) => name).filter((name) => !needed.has(name)));
};
