import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { TOOLS } from '../../versions.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import { type PlanContext, versionOf } from '../provider.ts';
import { fieldsAt, placeOf, readToml, textAt, textsOf } from '../support/fields.ts';

export interface Toolchain {
  /** Tag of the official image. */
  image: string;
  /** What rustup has to add: a channel that has no image, and targets. */
  channel: string | null;
  targets: string[];
}

interface Asked {
  written: string;
  source: string;
  /** `[build] version` is taken to the letter. */
  pinned: boolean;
}

/** The toolchain: [build] version, rust-toolchain(.toml), version files, or the newest stable one. */
export const rustToolchain = (context: PlanContext, dirs: Dir[], configTarget: string | undefined): Toolchain => {
  const file = dirs.map(toolchainFile).find((found) => found !== undefined);
  const targets = [...(file?.targets ?? []), ...(configTarget === undefined ? [] : [configTarget])].filter(isTarget);
  const { version } = context.overrides;
  const asked =
    version === undefined
      ? (file?.asked ?? versionFile(dirs))
      : { written: version, source: '[build] version', pinned: true };
  if (asked === undefined || /^(stable|latest)(-|$)/.test(asked.written)) {
    const stable = { ...context, overrides: { ...context.overrides } };
    delete stable.overrides.version;
    return { image: versionOf(stable, TOOLS.rust, []).version, channel: null, targets };
  }
  return fromChannel(context, asked, targets);
};

const fromChannel = ({ notes }: PlanContext, { written, source, pinned }: Asked, targets: string[]): Toolchain => {
  const { channel = '', date = '' } =
    /^(?<channel>nightly|beta)(?<date>-\d{4}-\d\d-\d\d)?(?:-\w+)*$/.exec(written)?.groups ?? {};
  if (channel !== '') {
    notes.versions.push({ tool: 'rust', version: `${channel}${date}`, reason: `${source} asks for it` });
    notes.decisions.push(`Rust ${channel}${date}: ${source} asks for it; rustup adds it to the image`);
    if (date === '')
      notes.warnings.push(
        `${source} asks for ${channel}, which changes from day to day: pin one such as ${channel}-2026-01-15`,
      );
    return { image: TOOLS.rust.fallback, channel: `${channel}${date}`, targets };
  }
  const { line, patch } = /^(?<line>1(?:\.\d{1,3})?)(?<patch>\.\d{1,3})?(?:-\w+)*$/.exec(written)?.groups ?? {};
  if (line === undefined) {
    throw invalidInput(
      `${source} asks for the Rust toolchain ${JSON.stringify(written.slice(0, 60))}`,
      'use stable, a version such as 1.90, or a nightly with its date',
    );
  }
  // Fixes of a line come with its newest patch release; only [build] version is taken to the letter.
  const image = pinned ? `${line}${patch ?? ''}` : line;
  notes.versions.push({ tool: 'rust', version: image, reason: `${source} says ${JSON.stringify(written)}` });
  notes.decisions.push(`Rust ${image}: ${source} says ${JSON.stringify(written)}`);
  return { image, channel: null, targets };
};

const toolchainFile = (dir: Dir): { asked: Asked | undefined; targets: string[] } | undefined => {
  const file = dir.firstOf('rust-toolchain.toml', 'rust-toolchain');
  if (file === undefined) return undefined;
  const text = dir.read(file) ?? '';
  if (!text.includes('[')) return { asked: { written: text.trim(), source: file, pinned: false }, targets: [] };
  const toolchain = fieldsAt(readToml(dir, file), 'toolchain');
  const written = textAt(toolchain, 'channel');
  const source = placeOf(dir, file, /^\s*channel\b/);
  if (written === undefined && textAt(toolchain, 'path') !== undefined) {
    throw invalidInput(`${file} names a toolchain in a folder`, 'name a channel such as "1.90" instead of a path');
  }
  return {
    asked: written === undefined ? undefined : { written, source, pinned: false },
    targets: textsOf(toolchain['targets']),
  };
};

const versionFile = (dirs: Dir[]): Asked | undefined => {
  for (const dir of dirs) {
    const found = toolVersionRequest(dir, { names: ['rust'], files: [], range: (written) => written });
    if (found !== null) return { written: found.written, source: found.source, pinned: false };
  }
  return undefined;
};

const isTarget = (name: string): boolean => /^[a-z0-9_]+(-[a-z0-9_.]+){1,3}$/.test(name);
