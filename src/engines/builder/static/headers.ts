/** Headers that a `_headers` file sets on the paths it names. */
export interface HeaderRule {
  path: string;
  headers: [name: string, value: string][];
}

/** Headers that belong to the connection or to the server. */
const REFUSED = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'date',
  'server',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Reads a `_headers` file: a path at the margin, its headers indented below. */
export const parseHeaders = (text: string): { rules: HeaderRule[]; warnings: string[] } => {
  const rules: HeaderRule[] = [];
  const warnings: string[] = [];
  const skip = (line: number, why: string): void => void warnings.push(`_headers:${line} is left out: ${why}`);
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    if (!/^\s/.test(line)) {
      const path = line.trim().replace(/^https?:\/\/[^/]+/, '');
      rules.push({ path: path === '' ? '/' : path, headers: [] });
      continue;
    }
    const [, name = '', value = ''] = /^\s+([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) skip(index + 1, 'it is no header');
    else if (REFUSED.has(name.toLowerCase())) skip(index + 1, `${name} is set by the server`);
    else if (/[^\t\x20-\x7e\x80-\uffff]/.test(value)) skip(index + 1, 'its value holds a control character');
    else rules.at(-1)?.headers.push([name, value]);
  }
  return { rules: rules.filter((rule) => rule.headers.length > 0 && rule.path.startsWith('/')), warnings };
};
