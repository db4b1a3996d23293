import { parse as parseYaml } from 'yaml';
import { messageOf } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { type Fields, brokenManifest, fieldsAt } from './fields.ts';

/** Reads a manifest in YAML; undefined when it does not exist, empty when it holds no mapping. */
export const readYaml = (dir: Dir, path: string): Fields | undefined => {
  const text = dir.read(path);
  if (text === undefined) return undefined;
  try {
    return fieldsAt({ file: parseYaml(text) as unknown }, 'file');
  } catch (error) {
    const line = /at line (\d+)/.exec(messageOf(error))?.[1];
    throw brokenManifest(path, line, messageOf(error).split('\n')[0] ?? '', error);
  }
};
