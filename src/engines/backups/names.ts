import { invalidInput } from '#kernel/errors';
import { isName, NAME_RULE } from '#kernel/schema';
import type { BackupName } from './port.ts';

const KEY = /^[A-Za-z0-9][A-Za-z0-9_-]{0,79}$/;
const EXTENSION = /^[a-z0-9]{1,12}$/;
/** Endings that say something else in a backup's folder. */
const TAKEN = new Set(['json', 'part', 'age']);

export const MANIFEST_ENDING = '.json';

/** Refuses whatever could leave the folder of a datastore. The first line of every call. */
export const requireBackupName = (name: BackupName): BackupName => {
  if (!isName(name.project)) throw invalidInput('the name of the project is not valid', NAME_RULE);
  if (!isName(name.datastore)) throw invalidInput('the name of the datastore is not valid', NAME_RULE);
  if (!KEY.test(name.key))
    throw invalidInput(
      'the key of the backup is not valid',
      'use a key that the list of backups shows: letters, digits, "-" and "_"',
    );
  return { project: name.project, datastore: name.datastore, key: name.key };
};

export const requireExtension = (extension: string): string => {
  if (EXTENSION.test(extension) && !TAKEN.has(extension)) return extension;
  throw invalidInput('the ending of the backup is not valid', 'use up to 12 letters and digits, such as "dump"');
};

/** `project/datastore/key.json`: relative to a folder, or after the prefix of a bucket. */
export const manifestPath = (name: BackupName): string =>
  `${name.project}/${name.datastore}/${name.key}${MANIFEST_ENDING}`;

export const dataPath = (name: BackupName, extension: string, encrypted: boolean): string =>
  `${name.project}/${name.datastore}/${name.key}.${extension}${encrypted ? '.age' : ''}`;

/** The backup that a file belongs to; undefined for what berth did not write. */
export const nameOfPath = (path: string): BackupName | undefined => {
  const [project = '', datastore = '', file = '', ...rest] = path.split('/');
  const key = file.slice(0, file.indexOf('.'));
  if (rest.length > 0 || !isName(project) || !isName(datastore) || !KEY.test(key)) return undefined;
  return { project, datastore, key };
};

/** How a backup is called in messages. */
export const shown = (name: BackupName): string => `backup "${name.key}" of ${name.project}/${name.datastore}`;
