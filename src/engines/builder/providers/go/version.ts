import semver from 'semver';
import { TOOLS, type VersionRequest } from '../../versions.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import type { Dir } from '../../source-tree.ts';
import { type PlanContext, versionOf } from '../provider.ts';
import type { GoLayout, GoModule } from './layout.ts';

const FILES = {
  names: ['go', 'golang'],
  files: ['.go-version'],
  range: (written: string) => written.replace(/^go/, ''),
};

/** The image's version. A go.mod names the least that will do: Go fetches what is newer than the image. */
export const goVersion = (context: PlanContext, layout: GoLayout): string => {
  const asked = highest(layout);
  const known = asked === undefined || semver.lte(numeric(asked.written), `${TOOLS.go.lines[0]}.999`);
  const dirs = [context.app, ...(layout.module === null ? [] : [layout.module.dir]), layout.context, context.repo];
  const { version } = versionOf(context, TOOLS.go, [
    asked !== undefined && known ? asked.request : null,
    ...dirs.filter(isFirst).map((dir) => toolVersionRequest(dir, FILES)),
  ]);
  const image = semver.minVersion(version) ?? '0.0.0';
  if (asked !== undefined && (!known || (semver.gt(numeric(asked.written), image) && semver.valid(version) !== null))) {
    context.notes.decisions.push(
      `${asked.request.source} asks for Go ${asked.written}: Go ${version} fetches that toolchain`,
    );
  }
  return version;
};

interface Asked {
  written: string;
  request: VersionRequest;
}

/** The highest version that the modules and the workspace ask for. */
const highest = ({ modules, work, module }: GoLayout): Asked | undefined => {
  const own: GoModule[] = work === null ? (module === null ? [] : [module]) : modules;
  const all = own.flatMap(({ dir, manifest }) =>
    manifest.versions.map(({ written, line }): Asked => {
      const source = `${dir.path === '' ? '' : `${dir.path}/`}go.mod:${line}`;
      return { written, request: { range: `>=${numeric(written)}`, written, source } };
    }),
  );
  return all.toSorted((left, right) => semver.rcompare(numeric(left.written), numeric(right.written)))[0];
};

/** `1.22`, `1.25rc1` and `1.24.3` as three numbers. */
const numeric = (written: string): string => semver.coerce(written)?.version ?? '0.0.0';

const isFirst = (dir: Dir, index: number, dirs: Dir[]): boolean =>
  dirs.findIndex(({ path }) => path === dir.path) === index;
