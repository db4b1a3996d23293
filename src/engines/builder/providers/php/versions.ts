import semver from 'semver';
import type { Dir } from '../../source-tree.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import { TOOLS, type VersionRequest } from '../../versions.ts';
import { placeOf, textAt } from '../support/fields.ts';
import type { Composer } from './composer.ts';
import { composerRange } from './constraint.ts';

/** Who asks for a version of PHP: `require`, `config.platform`, version files, then the locked packages. */
export const phpRequests = (app: Dir, composer: Composer | undefined): (VersionRequest | null)[] => {
  const required = composer?.requires['php'] ?? composer?.requires['php-64bit'];
  return [
    request(app, required, 'require.php'),
    request(app, textAt(composer?.raw, 'config', 'platform', 'php'), 'config.platform.php'),
    toolVersionRequest(app, { names: ['php'], files: ['.php-version'], range: composerRange }),
    lockRequest(composer),
  ];
};

const request = (app: Dir, written: string | undefined, label: string): VersionRequest | null => {
  if (written === undefined) return null;
  const line = new RegExp(`"php(-64bit)?"\\s*:\\s*"${written.replaceAll(/\W/g, '.')}"`);
  return { range: composerRange(written), written, source: `${label} in ${placeOf(app, 'composer.json', line)}` };
};

/** The lines of PHP that every locked package allows; null where that says nothing. */
const lockRequest = (composer: Composer | undefined): VersionRequest | null => {
  const constraints = (composer?.locked ?? []).flatMap(({ name, requires }) => {
    const written = requires['php'];
    const range = written === undefined ? null : semver.validRange(composerRange(written));
    return written === undefined || range === null ? [] : [{ name, written, range }];
  });
  const lines = TOOLS.php.lines.filter((line) =>
    constraints.every(({ range }) => semver.intersects(`${line}.x`, range)),
  );
  const newest = TOOLS.php.lines[0] ?? '';
  const narrow = constraints.find(({ range }) => !semver.intersects(`${newest}.x`, range)) ?? constraints[0];
  if (narrow === undefined || lines.length === 0 || lines.length === TOOLS.php.lines.length) return null;
  const range = lines.map((line) => `${line}.x`).join(' || ');
  return { range, written: narrow.written, source: `${narrow.name} in composer.lock` };
};
