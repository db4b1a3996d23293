import JSON5 from 'json5';
import { TomlError, parse as parseToml } from 'smol-toml';
import { BerthError, messageOf } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';

/** A parsed manifest: nothing in it is trusted to have the shape that its format promises. */
export type Fields = Record<string, unknown>;

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object at a path of keys; an empty one when anything on the way is missing or of another type. */
export const fieldsAt = (value: unknown, ...keys: string[]): Fields => {
  let current: unknown = value;
  for (const key of keys) current = own(current, key);
  return isFields(current) ? current : {};
};

export const textAt = (value: unknown, ...keys: string[]): string | undefined => {
  let current: unknown = value;
  for (const key of keys) current = own(current, key);
  return typeof current === 'string' && current.trim() !== '' ? current : undefined;
};

export const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

const own = (value: unknown, key: string): unknown =>
  isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** Reads JSON as people write it: comments and trailing commas are fine. */
export const readJson = (dir: Dir, path: string): Fields | undefined => {
  const text = dir.read(path);
  if (text === undefined) return undefined;
  const place = pathIn(dir, path);
  try {
    return mustBeFields(JSON.parse(text), place);
  } catch {
    return readLooseJson(text, place);
  }
};

const readLooseJson = (text: string, path: string): Fields => {
  try {
    return mustBeFields(JSON5.parse(text), path);
  } catch (error) {
    if (error instanceof BerthError) throw error;
    const line = /at (\d+):\d+/.exec(messageOf(error))?.[1];
    throw brokenManifest(path, line, messageOf(error).replace(/^JSON5: | at \d+:\d+$/g, ''), error);
  }
};

const mustBeFields = (value: unknown, path: string): Fields => {
  if (isFields(value)) return value;
  throw brokenManifest(path, '1', 'it must hold an object');
};

export const readToml = (dir: Dir, path: string): Fields | undefined => {
  const text = dir.read(path);
  return text === undefined ? undefined : tomlOf(text, pathIn(dir, path));
};

export const tomlOf = (text: string, path: string): Fields => {
  try {
    return parseToml(text);
  } catch (error) {
    const line = error instanceof TomlError ? String(error.line) : undefined;
    throw brokenManifest(
      path,
      line,
      messageOf(error)
        .split('\n')[0]
        ?.replace(/^Invalid TOML document: /, '') ?? '',
      error,
    );
  }
};

/** A manifest that cannot be read fails the build before it starts, with its place. */
export const brokenManifest = (path: string, line: string | undefined, why: string, cause?: unknown): BerthError =>
  new BerthError('BUILD_COMMAND_FAILED', `${at(path, line)}: ${why}`, {
    hint: `fix ${at(path, line)}, then deploy again`,
    cause,
  });

const at = (path: string, line: string | undefined): string => (line === undefined ? path : `${path}:${line}`);

/** `file:line` of the first line that matches, for messages. */
export const placeOf = (dir: Dir, path: string, pattern: RegExp): string => {
  const lines = dir.read(path)?.split('\n') ?? [];
  const index = lines.findIndex((line) => pattern.test(line));
  const place = pathIn(dir, path);
  return index < 0 ? place : `${place}:${index + 1}`;
};

/** The path of a folder's file from the root of the source, as messages name it. */
export const pathIn = ({ path }: Dir, file: string): string => (path === '' ? file : `${path}/${file}`);
