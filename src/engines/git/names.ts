import { type BerthError, invalidInput } from '#kernel/errors';
import type { ObjectId } from './port.ts';

const FULL_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const ABBREVIATED_ID = /^[0-9a-f]{4,64}$/i;

/** A complete object id; git reads one as that, whatever refs are called. */
export const isFullId = (text: string): boolean => FULL_ID.test(text);
export const isAbbreviatedId = (text: string): boolean => ABBREVIATED_ID.test(text);

export const requireId = (text: string, what: string): ObjectId => {
  if (isFullId(text)) return text;
  throw invalidInput(`${what} is not a complete commit id`, 'give all 40 hex digits of the id');
};

/** Bytes of a whole name; what the file systems of servers and clients hold is little more. */
const MAX_REF = 1000;
/** Git adds `.lock` to the last part while it changes a ref. */
const MAX_PART = 250;

/** Rules of git-check-ref-format(1), checked here so that what passes is never anything but a name to git. */
const refFault = (ref: string): string | undefined => {
  if (!ref.isWellFormed()) return 'is not valid Unicode';
  if (Buffer.byteLength(ref) > MAX_REF) return `is longer than ${MAX_REF} bytes`;
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (/[\0-\x20\x7f~^:?*[\\]/.test(ref)) return 'has a space, a control character or one of ~ ^ : ? * [ \\';
  if (ref.includes('..') || ref.includes('@{')) return 'has ".." or "@{"';
  if (ref.endsWith('.')) return 'ends with a dot';
  for (const part of ref.split('/')) {
    if (part === '') return 'starts or ends with a slash, or has two in a row';
    if (part.startsWith('.')) return 'has a part that starts with a dot';
    if (part.endsWith('.lock')) return 'has a part that ends with ".lock"';
    if (Buffer.byteLength(part) > MAX_PART) return `has a part that is longer than ${MAX_PART} bytes`;
  }
  return undefined;
};

const badRef = (what: string, fault: string): BerthError =>
  invalidInput(`${what} ${fault}`, 'give the name of a branch or tag, or a commit id; see git-check-ref-format');

/** A branch or tag, a full ref or an abbreviated id: anything that can be the name of a ref. Expressions such as `main~1` cannot. */
export const requireRefName = (ref: string): string => {
  const fault = ref === '@' ? 'is "@"' : refFault(ref);
  if (fault !== undefined) throw badRef('the ref', fault);
  return ref;
};

/** `refs/heads/<branch>` of a branch that may be made. */
export const branchRef = (branch: string): string => {
  const ref = `refs/heads/${branch}`;
  const fault =
    branch.startsWith('-') || branch === 'HEAD' || branch === '@' || isFullId(branch)
      ? 'starts with a dash, is HEAD or @, or looks like a commit id'
      : refFault(ref);
  if (fault !== undefined) {
    throw invalidInput(`the branch name ${fault}`, 'choose another name, such as main; see git-check-ref-format');
  }
  return ref;
};

const MAX_PATH = 4096;

const pathFault = (path: string): string | undefined => {
  if (path === '') return 'is empty';
  if (!path.isWellFormed()) return 'is not valid Unicode';
  if (path.includes('\0')) return 'contains a NUL character';
  if (Buffer.byteLength(path) > MAX_PATH) return `is longer than ${MAX_PATH} bytes`;
  for (const part of path.split('/')) {
    if (part === '') return 'starts or ends with a slash, or has two in a row';
    if (part === '.' || part === '..') return 'has a part "." or ".."';
  }
  return undefined;
};

const shown = (path: string): string => JSON.stringify(path.slice(0, 200));

export const badPath = (path: string, fault: string, hint: string): BerthError =>
  invalidInput(`the path ${shown(path)} ${fault}`, hint);

/** A path to read: relative to the root of the repository. */
export const requirePath = (path: string): string => {
  const fault = pathFault(path);
  if (fault !== undefined) throw badPath(path, fault, 'give a path relative to the root, such as src/main.ts');
  return path;
};

/** Bytes of a part of a path; what file systems hold. */
const MAX_FILE_NAME = 255;

/** A path to write: besides, nothing in it may be git's own on any file system that a clone may be on. */
export const requireWritablePath = (path: string): string => {
  requirePath(path);
  for (const part of path.split('/')) {
    if (Buffer.byteLength(part) > MAX_FILE_NAME)
      throw badPath(path, `has a part that is longer than ${MAX_FILE_NAME} bytes`, 'use shorter names');
  }
  // A backslash separates folders on Windows.
  for (const part of path.split(/[/\\]/)) {
    if (isDisguised(part)) throw badPath(path, "has a part that means git's own files to some system", 'rename it');
  }
  return path;
};

/** Characters that HFS+ ignores in names. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const SPECIAL = new Set(['.gitmodules', '.gitattributes', '.gitignore', '.mailmap']);
/** Names that Windows makes for `.git`, `.gitmodules` and so on (git's path.c, `is_ntfs_dot_generic`). */
const SHORT_NAMES = /^(?:git~1|git(?:mod|att|ign)~[1-4]|mailma~[1-4]|gi7eba~\d|gi7d29~\d|gi250a~\d|maba30~\d)$/;

const isDisguised = (part: string): boolean => {
  // NTFS drops trailing dots and spaces, and a colon begins the name of a stream.
  const folded = part
    .replaceAll(IGNORED_BY_HFS, '')
    .toLowerCase()
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return folded === '.git' || SHORT_NAMES.test(folded) || (SPECIAL.has(folded) && !SPECIAL.has(part));
};

/** The last part. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const MAX_MESSAGE = 64 * 1024;

/** A commit's message, ending with a newline as git's own do. */
export const requireMessage = (message: string): string => {
  const fault =
    message.trim() === ''
      ? 'is empty'
      : message.includes('\0')
        ? 'contains a NUL character'
        : message.isWellFormed()
          ? undefined
          : 'is not valid Unicode';
  if (fault !== undefined) throw invalidInput(`the message ${fault}`, 'say in a line what the commit does');
  if (Buffer.byteLength(message) > MAX_MESSAGE)
    throw invalidInput(`the message is longer than ${MAX_MESSAGE / 1024} KiB`, 'shorten it');
  return message.endsWith('\n') ? message : `${message}\n`;
};

const MAX_IDENTITY = 200;

/** `Name <email>` of an identity, without what would end it early: newlines, angle brackets, git's "crud" around it. */
export const identityLine = ({ name, email }: { name: string; email: string }): string =>
  `${clean(name).trim() || 'unknown'} <${clean(email).replaceAll(/\s/g, '') || 'unknown@localhost'}>`;

const clean = (text: string): string =>
  text
    .toWellFormed()
    // oxlint-disable-next-line no-control-regex -- they are what is removed
    .replaceAll(/[\0-\x1f\x7f<>]+/g, ' ')
    .replaceAll(/^[\s.,:;"'\\]+|[\s.,:;"'\\]+$/g, '')
    .slice(0, MAX_IDENTITY)
    .toWellFormed();
