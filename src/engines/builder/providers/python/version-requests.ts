import type { Dir } from '../../source-tree.ts';
import { type VersionRequest, pythonRange } from '../../versions.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import { fieldsAt, placeOf, readToml, textAt } from '../support/fields.ts';

/** What the source says about the version of Python, in the order in which it is believed. */
export const pythonRequests = (app: Dir): (VersionRequest | null)[] => {
  const file = readToml(app, 'pyproject.toml');
  const request = (written: string | undefined, path: string, pattern: RegExp, label: string): VersionRequest | null =>
    written === undefined
      ? null
      : { range: pythonRange(written), written, source: `${label} in ${placeOf(app, path, pattern)}` };
  const pipfile = fieldsAt(readToml(app, 'Pipfile'), 'requires');
  return [
    request(textAt(file, 'project', 'requires-python'), 'pyproject.toml', /^\s*requires-python\s*=/, 'requires-python'),
    request(textAt(file, 'tool', 'poetry', 'dependencies', 'python'), 'pyproject.toml', /^\s*python\s*=/, 'python'),
    request(textAt(pipfile, 'python_full_version'), 'Pipfile', /^\s*python_full_version/, 'python_full_version'),
    request(textAt(pipfile, 'python_version'), 'Pipfile', /^\s*python_version/, 'python_version'),
    toolVersionRequest(app, { names: ['python'], files: ['.python-version', 'runtime.txt'], range: pythonRange }),
  ];
};
