import { dirname, join } from 'node:path';
import { readJson, writeAtomically } from './files.ts';

/** What a folder remembers: where its source is deployed to. */
export interface FolderConfig {
  project?: string;
  service?: string;
}

const fileOf = (folder: string): string => join(folder, '.service', 'config.json');

/** The nearest `.service/config.json`, looking upwards from `folder`. */
export const findFolderConfig = async (
  folder: string,
): Promise<{ folder: string; config: FolderConfig } | undefined> => {
  let at = folder;
  for (;;) {
    const config = await readFolderConfig(at);
    if (config !== undefined) return { folder: at, config };
    const above = dirname(at);
    if (above === at) return undefined;
    at = above;
  }
};

export const readFolderConfig = async (folder: string): Promise<FolderConfig | undefined> => {
  const value = await readJson(fileOf(folder));
  if (value === undefined) return undefined;
  const config: FolderConfig = {};
  if (typeof value['project'] === 'string') config.project = value['project'];
  if (typeof value['service'] === 'string') config.service = value['service'];
  return config;
};

export const writeFolderConfig = (folder: string, config: FolderConfig): Promise<void> =>
  writeAtomically(fileOf(folder), `${JSON.stringify(config, null, 2)}\n`, 0o644, 0o755);

/** Makes a valid name of a folder's name; undefined when nothing of it is usable. */
export const nameFromFolder = (folderName: string): string | undefined => {
  const name = folderName
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, 30)
    .replace(/-+$/, '');
  return name === '' ? undefined : name;
};
