import type { Commit, FileContent, Ref, TreeEntry } from '#engines/git/port';
import { invalidInput } from '#kernel/errors';
import type { CommitView, FileView, RefView } from './content-model.ts';

export const refView = (ref: Ref, defaultBranch: string): RefView => ({
  name: ref.name.replace(/^refs\/(?:heads|tags)\//, ''),
  ref: ref.name,
  kind: ref.kind,
  default: ref.name === `refs/heads/${defaultBranch}`,
  target: ref.target,
  commit: ref.commit,
  committed_at: ref.committed_at,
});

export const commitView = (commit: Commit): CommitView => commit;

/** Text where it is text. A range that ends within a character is shown up to that character. */
export const fileView = (commit: string, file: FileContent): FileView => {
  const { path, kind, mode, id, size, binary, offset } = file;
  const rest = offset + file.bytes.length < size;
  const whole = rest ? file.bytes.subarray(0, wholeCharacters(file.bytes)) : file.bytes;
  const text = binary || (whole.length === 0 && file.bytes.length > 0) ? undefined : asText(whole);
  const bytes = text === undefined ? file.bytes : whole;
  const end = offset + bytes.length;
  return {
    commit,
    path,
    kind,
    mode,
    executable: mode === '100755',
    id,
    size,
    binary,
    encoding: text === undefined ? 'base64' : 'utf-8',
    content: text ?? Buffer.from(bytes).toString('base64'),
    offset,
    length: bytes.length,
    next_offset: end < size ? end : null,
  };
};

const asText = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (thrown) {
    if (thrown instanceof TypeError) return undefined;
    throw thrown;
  }
};

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** How many bytes are left without a last character that may be cut. */
const wholeCharacters = (bytes: Uint8Array): number => {
  let start = bytes.length - 1;
  while (start > 0 && start > bytes.length - 4 && isContinuation(bytes[start])) start -= 1;
  const lead = bytes[start] ?? 0;
  const width = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + width > bytes.length ? start : bytes.length;
};

const README = ['.md', '.markdown', '', '.txt', '.rst', '.adoc'];

/** The less, the better; undefined for what is no README. */
export const readmeRank = (path: string): number | undefined => {
  const [, ending] = /(?:^|\/)readme(\.[a-z]+)?$/i.exec(path) ?? [undefined, null];
  if (ending === null) return undefined;
  const rank = README.indexOf((ending ?? '').toLowerCase());
  return rank === -1 ? undefined : rank;
};

/** Pages of a history stay with the commit that the first began at. */
export const commitCursor = (start: string, last: string): string => `${start}:${last}`;

export const parseCommitCursor = (key: string): { start: string; after: { after: string } } => {
  const [, start, last] = /^([0-9a-f]{40,64}):([0-9a-f]{40,64})$/.exec(key) ?? [];
  if (start === undefined || last === undefined) throw foreignCursor();
  return { start, after: { after: last } };
};

type Position = Pick<TreeEntry, 'path' | 'raw_path'>;

export const treeCursor = (commit: string, { path, raw_path: raw }: Position): string =>
  raw === undefined ? `${commit}:${path}` : `${commit}=${raw}`;

export const parseTreeCursor = (key: string): { commit: string; after: { after: Position } } => {
  const [, commit, kind, rest] = /^([0-9a-f]{40,64})([:=])(.+)$/s.exec(key) ?? [];
  if (commit === undefined || rest === undefined) throw foreignCursor();
  return { commit, after: { after: kind === ':' ? { path: rest } : { path: '', raw_path: rest } } };
};

const foreignCursor = () =>
  invalidInput(
    'query.cursor is not one that this list gave out',
    'pass next_cursor of the page before, unchanged, or omit it',
  );
