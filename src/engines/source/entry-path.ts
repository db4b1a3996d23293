import { type BerthError, invalidInput } from '#kernel/errors';

const MAX_PATH_BYTES = 2048;
const MAX_PART_BYTES = 255;
const MAX_DEPTH = 100;

/** An archive's name for an entry, safe to show: quoted, without control characters, at most 200 characters. */
export const show = (name: string): string => JSON.stringify(name.length > 200 ? `${name.slice(0, 200)}…` : name);

export const refuseEntry = (name: string, why: string): BerthError =>
  invalidInput(
    `the archive entry ${show(name)} ${why}`,
    'pack the source directory again, with plain files, directories and links that stay inside it',
  );

/** The parts of an entry's path below the root; none for the root itself. Refuses whatever could leave the root. */
export const entryParts = (name: string): string[] => {
  if (name.includes('\0')) throw refuseEntry(name, 'has a NUL byte in its path');
  if (name.startsWith('/')) throw refuseEntry(name, 'has an absolute path');
  if (Buffer.byteLength(name) > MAX_PATH_BYTES) throw refuseEntry(name, `has a path of over ${MAX_PATH_BYTES} bytes`);
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) throw refuseEntry(name, 'has ".." in its path');
  if (parts.length > MAX_DEPTH) throw refuseEntry(name, `is nested deeper than ${MAX_DEPTH} directories`);
  if (parts.some((part) => Buffer.byteLength(part) > MAX_PART_BYTES)) {
    throw refuseEntry(name, `has a name of over ${MAX_PART_BYTES} bytes`);
  }
  return parts;
};
