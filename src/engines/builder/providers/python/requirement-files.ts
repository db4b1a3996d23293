import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';

/** One requirement or option of pip, with its continuation lines joined and its comment gone. */
export interface RequirementLine {
  text: string;
  /** `requirements.txt:3`, for messages. */
  place: string;
}

export interface RequirementFiles {
  /** The file and what it includes, as paths inside the source. */
  files: string[];
  /** The constraints they name. */
  constraints: string[];
  /** The lines of all of them, without the includes; constraints stay as options. */
  lines: RequirementLine[];
}

const MAX_FILES = 50;

/** Reads a requirements file as pip does: includes are relative to the file that names them. */
export const readRequirementFiles = (repo: Dir, path: string, workdir: string): RequirementFiles => {
  const found: RequirementFiles = { files: [], constraints: [], lines: [] };
  readFile({ repo, workdir, found }, path);
  return found;
};

interface Reading {
  repo: Dir;
  /** Folder in which pip will run. */
  workdir: string;
  found: RequirementFiles;
}

const readFile = (reading: Reading, path: string): void => {
  const { repo, workdir, found } = reading;
  if (found.files.includes(path) || found.files.length >= MAX_FILES) return;
  found.files.push(path);
  for (const line of logicalLines(repo.read(path) ?? '', path)) {
    const [, flag = '', name = ''] = /^(-r|--requirements?|-c|--constraints?)[ =]?\s*(\S+)$/.exec(line.text) ?? [];
    if (name === '' || /^https?:/.test(name)) {
      found.lines.push(line);
      continue;
    }
    const included = resolvePath(folderOf(path), name);
    if (included === null || !repo.has(included)) throw missingInclude(line, name);
    if (/^--?r/.test(flag)) readFile(reading, included);
    else if (!found.constraints.includes(included)) {
      found.constraints.push(included);
      found.lines.push({ ...line, text: `-c ${relativePath(workdir, included)}` });
    }
  }
};

const missingInclude = ({ place }: RequirementLine, name: string): Error =>
  invalidInput(
    `${place} includes ${JSON.stringify(name)}, which is not in the source`,
    `add the file, or remove the line (is it left out by .gitignore or .serviceignore?)`,
  );

const logicalLines = (text: string, path: string): RequirementLine[] => {
  const lines: RequirementLine[] = [];
  let begun = '';
  let start = 0;
  // PowerShell writes UTF-16, which pip reads as well: as UTF-8 it shows as text with NULs.
  for (const [index, raw] of text
    .replaceAll(/[\0\uFFFD]/g, '')
    .split(/\r?\n/)
    .entries()) {
    if (begun === '') start = index;
    if (raw.endsWith('\\')) {
      begun += `${raw.slice(0, -1)} `;
      continue;
    }
    const line = (begun + raw).replace(/(^|\s)#.*$/, '').trim();
    begun = '';
    if (line !== '') lines.push({ text: line, place: `${path}:${start + 1}` });
  }
  return lines;
};

export const folderOf = (path: string): string => (path.includes('/') ? path.replace(/\/[^/]*$/, '') : '');

/** A path relative to a folder of the source; null when it leaves the source. */
export const resolvePath = (folder: string, path: string): string | null => {
  if (path.startsWith('/')) return null;
  const parts = folder === '' ? [] : folder.split('/');
  for (const part of path.split('/')) {
    if (part === '..' && parts.pop() === undefined) return null;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
};

/** The way from one folder of the source to a path in it. */
export const relativePath = (folder: string, path: string): string => {
  const from = folder === '' ? [] : folder.split('/');
  const to = path.split('/');
  const shared = from.findIndex((part, index) => part !== to[index]);
  const same = shared < 0 ? from.length : shared;
  return [...from.slice(same).map(() => '..'), ...to.slice(same)].join('/');
};
