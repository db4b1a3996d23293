import { repoTo, resolvePath, type RepoId } from './places.ts';

const NAMED: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u{a0}',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  rarr: '→',
  larr: '←',
  times: '×',
  middot: '·',
  bull: '•',
};

/** `&lt;` and `&#60;` as the characters that they mean: text, never markup. Unknown names stay as they are. */
export const decodeEntities = (text: string): string =>
  text.replaceAll(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));/gi,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED[name] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
    },
  );

export type Linked = { kind: 'here' | 'elsewhere'; to: string } | { kind: 'none' };

/** Without blanks and control characters, which browsers leave out of an address. */
const visible = (text: string): string =>
  Array.from(text)
    .filter((character) => character > ' ')
    .join('');

/** Where a link of a README leads: into the repository, or elsewhere by https, http or mail; never to a script. */
export const linkOf = (
  href: string,
  { id, at, folder }: { id: RepoId; at: string | undefined; folder: string },
): Linked => {
  const target = visible(decodeEntities(href));
  if (/^(?:https?:\/\/|mailto:)/i.test(target)) return { kind: 'elsewhere', to: target };
  if (
    target === '' ||
    target.startsWith('#') ||
    target.startsWith('//') ||
    target.startsWith('\\') ||
    /^[a-z][a-z0-9+.-]*:/i.test(target)
  )
    return { kind: 'none' };
  const path = resolvePath(folder, decodePath(decodeEntities(href).replace(/[?#].*$/, '')));
  if (path === undefined) return { kind: 'none' };
  return { kind: 'here', to: repoTo(id, /\.[^/]+$/.test(path) ? 'file' : 'tree', path, { ref: at }) };
};

export const decodePath = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    // Not encoded at all, then.
    return path;
  }
};
