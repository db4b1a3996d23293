import { brokenManifest } from './providers/support/fields.ts';
import type { Dir } from './source-tree.ts';

/** The process types of a Procfile: `web: gunicorn app:app`. */
export const readProcfile = (app: Dir): Record<string, string> => {
  const processes: Record<string, string> = {};
  const lines = app.read('Procfile')?.split(/\r?\n/) ?? [];
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const match = /^\s*([A-Za-z0-9_-]+)\s*:\s*(\S.*)$/.exec(line);
    if (!match) throw brokenManifest('Procfile', String(index + 1), 'expected a line such as "web: npm start"');
    const [, name = '', command = ''] = match;
    Object.defineProperty(processes, name, { value: command.trim(), enumerable: true, configurable: true });
  }
  return processes;
};
