import { placeOf } from '../providers/support/fields.ts';
import type { Dir } from '../source-tree.ts';

/** What a `Staticfile` says. */
export interface Staticfile {
  /** Folder of the site, without slashes at its ends. */
  root: string | undefined;
  /** Unknown paths without an extension get index.html. */
  spa: boolean;
  warnings: string[];
}

/** Reads a `Staticfile`: one `key: value` a line. What cannot be carried out becomes a warning, never a guess. */
export const readStaticfile = (app: Dir): Staticfile => {
  const found: Staticfile = { root: undefined, spa: false, warnings: [] };
  for (const line of (app.read('Staticfile') ?? '').split(/\r?\n/)) {
    const [, key = '', value = ''] = /^\s*([\w-]+):\s*(.*?)\s*(?:\s#.*)?$/.exec(line) ?? [];
    if (line.trim() === '' || /^\s*(#|---)/.test(line)) continue;
    if (key === 'root' && value !== '') found.root = unquoted(value).replace(/^\.?\/|\/+$|^\.$/g, '');
    else if (key === 'pushstate') found.spa = /^(enabled|true|on)$/i.test(unquoted(value));
    else found.warnings.push(leftOut(app, line, key));
  }
  return found;
};

const unquoted = (text: string): string => /^(["'])(.*)\1$/.exec(text)?.[2] ?? text;

const leftOut = (app: Dir, line: string, key: string): string => {
  const place = placeOf(app, 'Staticfile', new RegExp(`^${line.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`));
  const why = key === '' ? 'it is no "key: value"' : `${key} is not supported`;
  return `${place} is left out: ${why} (known: root, pushstate)`;
};
