import type { Dir } from '../source-tree.ts';
import { parseHeaders } from './headers.ts';
import { parseRedirects } from './redirects.ts';

/** The `_redirects` and `_headers` of a site; `dirs` are looked through in order. */
export const siteRules = (
  dirs: Dir | Dir[],
  warnings: string[],
): { redirects: string | undefined; headers: string | undefined } => {
  const list = Array.isArray(dirs) ? dirs : [dirs];
  const textOf = (name: string): string | undefined => list.find((dir) => dir.has(name))?.read(name);
  const redirects = textOf('_redirects');
  const headers = textOf('_headers');
  warnings.push(...parseRedirects(redirects ?? '').warnings, ...parseHeaders(headers ?? '').warnings);
  return { redirects, headers };
};
