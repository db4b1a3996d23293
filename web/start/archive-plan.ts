import { createIgnore, hasExcludedPart, IGNORE_FILE } from '#kernel/source-rules';
import type { ApiError } from '../api.ts';
import { nothingLeft, unusable } from './source.ts';

/** What an archive says of one of its entries. */
export interface Listed {
  /** As the archive names it. */
  name: string;
  kind: 'file' | 'directory' | 'symlink' | 'other';
  bytes: number;
  link?: string | undefined;
}

/** What of an archive is deployed, and under which paths. */
export interface Plan {
  /** The folder that held everything, with its `/`; empty when there was none. */
  top: string;
  files: number;
  bytes: number;
  left: number;
  /** The path of an entry in the source; undefined for what stays out. */
  keep: (name: string) => string | undefined;
}

/** The server's own limits (`src/engines/source/limits.ts`): what goes beyond needs no upload to be refused. */
const MOST_ENTRIES = 200_000;
const MOST_BYTES = 4 * 1024 ** 3;

/** Gathers the entries of an archive, and refuses it as soon as it is too large. */
export const createListing = (archive: string) => {
  const entries: Listed[] = [];
  let bytes = 0;
  return {
    entries: entries as readonly Listed[],
    add: (entry: Listed): void => {
      pathOf(entry.name);
      entries.push(entry);
      bytes += entry.bytes;
      if (entries.length > MOST_ENTRIES) throw tooLarge(archive, `has more than ${MOST_ENTRIES} entries`);
      if (bytes > MOST_BYTES) throw tooLarge(archive, 'unpacks to more than 4 GB');
    },
  };
};

/** The path that an entry asks for; refuses what could leave the source. */
export const pathOf = (name: string): string => {
  const refuse = (why: string): ApiError =>
    unusable(`the archive’s entry ${shown(name)} ${why}`, 'do not deploy this archive; pack the folder again');
  if (name.includes('\0')) throw refuse('has a NUL byte in its path');
  if (/^(?:[/\\]|[A-Za-z]:[/\\])/.test(name)) throw refuse('has an absolute path');
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refuse('leads out of the folder');
  return parts.join('/');
};

/** Whether the file with the ignore rules may be the source's own, before it is known where the source begins. */
export const mayBeIgnoreFile = (name: string): boolean => {
  const parts = pathOf(name).split('/');
  return parts.length <= 2 && parts.at(-1) === IGNORE_FILE;
};

/** Decides by the names of all entries, and the text of the ignore files among them. */
export const planOf = (entries: readonly Listed[], ignoreTexts: ReadonlyMap<string, string>): Plan => {
  const top = topOf(entries);
  const ignore = createIgnore(ignoreTexts.get(`${top}${IGNORE_FILE}`) ?? '');
  const keep = (name: string): string | undefined => {
    const whole = pathOf(name);
    if (isLitter(whole)) return undefined;
    const path = whole.startsWith(top) ? whole.slice(top.length) : '';
    const parts = path.split('/');
    const out = path === '' || parts.some((_part, index) => ignore(parts.slice(0, index + 1).join('/')));
    return out ? undefined : path;
  };
  const plan: Plan = { top, files: 0, bytes: 0, left: 0, keep };
  for (const entry of entries) {
    if (entry.kind === 'directory') continue;
    const path = keep(entry.name);
    if (path === undefined) {
      if (!isLitter(pathOf(entry.name))) plan.left += 1;
      continue;
    }
    requireUsable(entry, path);
    plan.files += 1;
    plan.bytes += entry.bytes;
  }
  if (plan.files === 0) throw nothingLeft();
  return plan;
};

/** The one folder that everything lies in: people pack a folder and mean what is in it. */
const topOf = (entries: readonly Listed[]): string => {
  const paths = entries.filter(({ kind }) => kind !== 'directory').map(({ name }) => pathOf(name));
  const own = paths.filter((path) => path !== '' && !isLitter(path));
  const [first = ''] = own;
  const slash = first.indexOf('/');
  if (slash === -1) return '';
  const top = first.slice(0, slash + 1);
  return !hasExcludedPart(top) && own.every((path) => path.startsWith(top)) ? top : '';
};

/** What macOS puts beside each file. */
const isLitter = (path: string): boolean => path.startsWith('__MACOSX/') || path === '.DS_Store';

const requireUsable = ({ name, kind, link }: Listed, path: string): void => {
  if (kind === 'file') return;
  if (kind !== 'symlink' || link === undefined)
    throw unusable(
      `the archive’s entry ${shown(name)} is neither a file, a folder nor a symbolic link`,
      'drop the folder itself, or pack it without hard links and devices',
    );
  if (leaves(path, link))
    throw unusable(
      `the archive’s entry ${shown(name)} links to ${shown(link)}, which lies outside of the folder`,
      'replace the link by what it stands for, and pack the folder again',
    );
};

const leaves = (path: string, link: string): boolean => {
  if (link === '' || link.startsWith('/') || link.includes('\0')) return true;
  let depth = path.split('/').length - 1;
  for (const part of link.split('/')) {
    if (part === '..') depth -= 1;
    else if (part !== '' && part !== '.') depth += 1;
    if (depth < 0) return true;
  }
  return false;
};

const tooLarge = (archive: string, why: string): ApiError =>
  unusable(`${archive} ${why}`, 'leave artifacts and data out, then pack it again');

const shown = (name: string): string => JSON.stringify(name.length > 120 ? `${name.slice(0, 120)}…` : name);
