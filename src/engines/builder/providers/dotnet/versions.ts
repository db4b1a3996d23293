import semver from 'semver';
import { invalidInput } from '#kernel/errors';
import type { ContextFile } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import type { VersionRequest } from '../../versions.ts';
import { fieldsAt, placeOf, readJson, textAt } from '../support/fields.ts';
import type { DotnetProject } from './projects.ts';

/** The newest framework that a project is for, as the tag of an image: `8.0`; undefined where it cannot be read. */
export const frameworkLine = (project: DotnetProject): string | undefined => {
  const lines = project.frameworks.flatMap((framework) => {
    const [, line] = /^net(?:coreapp)?(\d+\.\d+)(?:-(?!windows|android|ios|maccatalyst)\w+)?$/.exec(framework) ?? [];
    return line !== undefined && Number(line) >= 3.1 ? [line] : [];
  });
  if (lines.length === 0 && project.frameworks.length > 0 && project.kind !== 'library') throw notLinux(project);
  return lines.sort((left, right) => Number(right) - Number(left))[0];
};

const notLinux = ({ path, frameworks }: DotnetProject): Error =>
  invalidInput(
    `${path} is for ${frameworks.join(', ').slice(0, 100)}, which does not run on Linux`,
    'set TargetFramework to a .NET such as net10.0, or add a Dockerfile',
  );

/** The SDK that global.json asks for; its default is to stay within a feature band. */
export const sdkRequest = (root: Dir): VersionRequest | null => {
  const sdk = fieldsAt(readJson(root, 'global.json'), 'sdk');
  const written = textAt(sdk, 'version');
  if (written === undefined) return null;
  const source = placeOf(root, 'global.json', /"version"/);
  const version = semver.valid(written);
  const forward = (textAt(sdk, 'rollForward') ?? '').toLowerCase();
  if (version === null) return { range: written, written, source };
  const operator = /^(latest)?major$/.test(forward) ? '>=' : /^(latest)?minor$/.test(forward) ? '^' : '~';
  return { range: `${operator}${version}`, written, source };
};

/** The framework of a project as a request for an SDK. */
export const frameworkRequest = (project: DotnetProject): VersionRequest | null => {
  const line = frameworkLine(project);
  return line === undefined
    ? null
    : { range: line, written: project.frameworks.join(';'), source: `TargetFramework of ${project.path}` };
};

/**
 * The image has the newest SDK of its line, and global.json may ask for an older band of it: a copy that takes any
 * stands in for it.
 */
export const looseGlobalJson = (root: Dir): ContextFile[] => {
  const file = readJson(root, 'global.json');
  if (file === undefined || textAt(file, 'sdk', 'version') === undefined) return [];
  const sdk = { ...fieldsAt(file, 'sdk'), version: '1.0.0', rollForward: 'latestMajor' };
  return [{ path: 'berth/global.json', content: `${JSON.stringify({ ...file, sdk }, null, 2)}\n` }];
};
