import { badPath, nameOf } from './names.ts';

/** Files that git itself reads, which a push with a wrong one would be refused for (`transfer.fsckObjects`). */
export const isSpecialFile = (path: string): boolean =>
  nameOf(path) === '.gitmodules' || nameOf(path) === '.gitattributes';

/** Longest line and file of attributes that git reads (attr.h). */
const MAX_ATTRIBUTES_LINE = 2048;

/** Holds API commits to what pushes are held to. */
export const checkSpecialFile = (path: string, content: Uint8Array): void => {
  if (!isSpecialFile(path)) return;
  const text = Buffer.from(content).toString('latin1');
  if (nameOf(path) === '.gitattributes') {
    if (text.split('\n').every((line) => line.length < MAX_ATTRIBUTES_LINE)) return;
    throw badPath(path, `has a line of ${MAX_ATTRIBUTES_LINE} bytes or more`, 'shorten it: git ignores such lines');
  }
  const fault = moduleFault(text);
  if (fault !== undefined)
    throw badPath(
      path,
      `${fault}, which git refuses as an attack on those who clone`,
      'write plain names, paths and https URLs',
    );
};

/**
 * What git's fsck looks for in submodules (CVE-2018-11235, CVE-2018-17456, CVE-2019-19604), read more strictly: a file that
 * is not plain section headers and `key = value` lines is refused, rather than read in another way than git would.
 */
const moduleFault = (text: string): string | undefined => {
  for (const line of text.split('\n').map((line) => line.trim())) {
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    const name = /^\[submodule "([^"\\\]]+)"\]$/i.exec(line)?.[1];
    if (name !== undefined) {
      if (name.split(/[/\\]/).includes('..')) return 'names a submodule with ".."';
      continue;
    }
    const [, key, value] = /^([a-z][a-z0-9-]*)\s*=\s*([^"\\]*)$/i.exec(line) ?? [];
    if (key === undefined || value === undefined)
      return 'has a line that is neither a [submodule "name"] nor key = value';
    if (value.startsWith('-')) return `has a ${key.toLowerCase()} that begins with a dash`;
    if (key.toLowerCase() === 'update' && value.startsWith('!')) return 'has a command as update';
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    if (key.toLowerCase() === 'url' && /[\0-\x1f]|%0a|%0d/i.test(value)) return 'has a URL with a control character';
  }
  return undefined;
};
