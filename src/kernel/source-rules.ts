/** Directory names that never belong to a source, at any depth. */
export const ALWAYS_EXCLUDED: readonly string[] = ['.git', 'node_modules', '.service', '__pycache__', '.venv'];

/** Name of the file at the source root that lists further prefixes. */
export const IGNORE_FILE = '.serviceignore';

/** Says whether a path, relative to the source root and with `/` between its parts, stays out of the upload. */
export type Ignore = (relativePath: string) => boolean;

/**
 * Builds the rule from the text of `.serviceignore`: one prefix a line, compared with the beginning of the path as it
 * is. `dist/` means the directory alone; `dist` also `dist-old` and `dist.zip`.
 */
export const createIgnore = (serviceignoreText: string): Ignore => {
  const prefixes = parsePrefixes(serviceignoreText);
  return (relativePath) => {
    const path = relativePath.endsWith('/') ? relativePath.slice(0, -1) : relativePath;
    if (hasExcludedPart(path)) return true;
    return prefixes.some((prefix) => path.startsWith(prefix) || `${path}/` === prefix);
  };
};

export const hasExcludedPart = (path: string): boolean =>
  path.split('/').some((part) => ALWAYS_EXCLUDED.includes(part));

const parsePrefixes = (text: string): string[] =>
  text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.replace(/^(?:\.?\/+)+/, '').replace(/\/+$/, '/'))
    .filter((prefix) => prefix !== '' && prefix !== '.' && prefix !== '/');
