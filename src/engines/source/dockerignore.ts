import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import dockerignore from '@balena/dockerignore';
import type { ContextIgnore } from './context.ts';

/** The rule of a `.dockerignore` text. */
export const createDockerignore = (text: string): ContextIgnore => {
  const rules = dockerignore().add(text);
  const mayRestore = text.split('\n').some((line) => line.trimStart().startsWith('!'));
  return { ignores: (path) => rules.ignores(path), mayRestore };
};

/** The rule for a Dockerfile of the source: `<Dockerfile>.dockerignore` beside it, else `.dockerignore` at the root. */
export const readDockerignore = async (dir: string, dockerfile: string): Promise<ContextIgnore | undefined> => {
  for (const name of [`${dockerfile}.dockerignore`, '.dockerignore']) {
    const text = await readOptional(join(dir, name));
    if (text !== undefined) return createDockerignore(text);
  }
  return undefined;
};

const readOptional = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR')) {
      return undefined;
    }
    throw thrown;
  }
};
