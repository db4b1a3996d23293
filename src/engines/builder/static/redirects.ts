/** One rule of a `_redirects` file. */
export interface Redirect {
  /** A path, possibly with `:name` segments and a `*` at its end. */
  from: string;
  to: string;
  status: number;
  /** Applies even where a file exists (`301!`). */
  force: boolean;
}

const STATUSES = new Set([200, 301, 302, 303, 307, 308, 404, 410]);

/** Reads a `_redirects` file; lines that cannot be carried out become warnings, never guesses. */
export const parseRedirects = (text: string): { rules: Redirect[]; warnings: string[] } => {
  const rules: Redirect[] = [];
  const warnings: string[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const words = line
      .replace(/(^|\s)#.*$/, '')
      .trim()
      .split(/\s+/);
    if (words[0] === '') continue;
    const rule = ruleOf(words);
    if (typeof rule === 'string') warnings.push(`_redirects:${index + 1} is left out: ${rule}`);
    else if (rules.length < MAX_RULES) rules.push(rule);
  }
  return { rules, warnings };
};

const MAX_RULES = 2000;

const ruleOf = (words: string[]): Redirect | string => {
  const [from = '', to, status = '301', ...conditions] = words;
  const code = Number(/^(\d{3})!?$/.exec(status)?.[1] ?? Number.NaN);
  if (to === undefined) return 'it names no target';
  if (!from.startsWith('/')) return 'its source must be a path of this site';
  if (!STATUSES.has(code)) return `the status ${status} is not supported`;
  if (conditions.length > 0) return 'conditions (country, language, query) are not supported';
  if (!to.startsWith('/') && !/^https?:\/\//.test(to)) return 'its target must be a path or an http address';
  if (code === 200 && !to.startsWith('/')) return 'a status of 200 to another host would make the site a proxy';
  if (/\*./.test(from)) return 'a * may stand at the end only';
  const names = from.split('/').filter((segment) => segment.startsWith(':'));
  if (new Set(names).size < names.length || names.includes(':splat')) return 'a placeholder is used twice';
  return { from, to, status: code, force: status.endsWith('!') };
};

/** A source path as an RE2 expression; every other character is literal. */
export const pathExpression = (path: string): string => {
  const segments = path
    .replace(/\/+$/, '')
    .split('/')
    .map((segment) => {
      if (segment === '*') return '(?P<splat>.*)';
      const name = /^:([A-Za-z_]\w*)$/.exec(segment)?.[1];
      return name === undefined ? literal(segment) : `(?P<${name}>[^/]+)`;
    });
  const joined = segments.join('/');
  return joined.endsWith('/(?P<splat>.*)')
    ? `^${joined.slice(0, -'/(?P<splat>.*)'.length)}(?:/(?P<splat>.*))?$`
    : `^${joined}/?$`;
};

const literal = (text: string): string => {
  const prefix = text.endsWith('*') ? text.slice(0, -1) : text;
  return `${prefix.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}${prefix === text ? '' : '(?P<splat>.*)'}`;
};
