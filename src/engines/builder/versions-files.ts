import { fieldsAt, placeOf, readToml } from './providers/support/fields.ts';
import type { Dir } from './source-tree.ts';
import type { VersionRequest } from './versions.ts';

export interface VersionFiles {
  /** What .tool-versions and mise.toml call the tool. */
  names: string[];
  /** Files of the tool's own, such as .nvmrc. */
  files: string[];
  range: (written: string) => string;
}

/** A version that a version file names: .tool-versions, mise.toml, then the files of the tool's own. */
export const toolVersionRequest = (dir: Dir, { names, files, range }: VersionFiles): VersionRequest | null => {
  const found = fromToolVersions(dir, names) ?? fromMise(dir, names) ?? fromOwnFiles(dir, files);
  return found === undefined ? null : { range: range(found.written), written: found.written, source: found.source };
};

interface Found {
  written: string;
  source: string;
}

const fromToolVersions = (dir: Dir, names: string[]): Found | undefined => {
  const lines = dir.read('.tool-versions')?.split(/\r?\n/) ?? [];
  for (const [index, line] of lines.entries()) {
    const [name = '', written] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (names.includes(name) && written !== undefined) return { written, source: `.tool-versions:${index + 1}` };
  }
  return undefined;
};

const fromMise = (dir: Dir, names: string[]): Found | undefined => {
  const file = dir.firstOf('mise.toml', '.mise.toml');
  if (file === undefined) return undefined;
  const tools = fieldsAt(readToml(dir, file), 'tools');
  for (const name of names) {
    const value: unknown = Object.hasOwn(tools, name) ? tools[name] : undefined;
    const first: unknown = Array.isArray(value) ? value[0] : value;
    const written: unknown =
      typeof first === 'object' && first !== null ? fieldsAt({ first }, 'first')['version'] : first;
    if (typeof written === 'string' || typeof written === 'number') {
      return { written: String(written), source: placeOf(dir, file, new RegExp(`^\\s*"?${name}"?\\s*=`)) };
    }
  }
  return undefined;
};

const fromOwnFiles = (dir: Dir, files: string[]): Found | undefined => {
  for (const source of files) {
    const written = dir
      .read(source)
      ?.split(/\r?\n/)
      .map((line) => line.replace(/#.*/, '').trim())
      .find((line) => line !== '');
    if (written !== undefined) return { written, source };
  }
  return undefined;
};
