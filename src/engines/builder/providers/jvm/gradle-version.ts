import type { Dir } from '../../source-tree.ts';
import { TOOLS, type VersionRequest } from '../../versions.ts';
import { placeOf } from '../support/fields.ts';
import { type Catalogue, type GradleScript, SCRIPTS, versionAt } from './gradle-script.ts';
import type { ScriptToken } from './tokens.ts';
import { type JavaWish, readProperties } from './version.ts';

/** The newest Java that each Gradle runs on, newest first (Gradle's compatibility matrix). */
const NEWEST_JAVA: [gradle: string, java: number][] = [
  ['9.1', 25],
  ['8.14', 24],
  ['8.10', 23],
  ['8.8', 22],
  ['8.5', 21],
  ['8.3', 20],
  ['7.6', 19],
  ['7.5', 18],
  ['7.3', 17],
  ['7.0', 16],
  ['6.7', 15],
  ['6.3', 14],
  ['6.0', 13],
  ['5.4', 12],
  ['5.0', 11],
  ['2.0', 8],
];

/** The range of Java versions that a Gradle runs on; it may compile with another. */
export const javaRangeOf = (gradle: string): { oldest: number; newest: number } => ({
  oldest: compare(gradle, '9.0') >= 0 ? 17 : 8,
  newest: NEWEST_JAVA.find(([version]) => compare(gradle, version) >= 0)?.[1] ?? 8,
});

const compare = (left: string, right: string): number => {
  const [major = 0, minor = 0] = left.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = right.split('.').map(Number);
  return major - otherMajor || minor - otherMinor;
};

/** The version of the wrapper; null when there is no usable one. */
export const wrapperVersion = (workspace: Dir): string | null => {
  const url = readProperties(workspace, 'gradle/wrapper/gradle-wrapper.properties')['distributionUrl'] ?? '';
  return /gradle-(\d+(?:\.\d+)+)/.exec(url)?.[1] ?? null;
};

/** Keeps a default within what the wrapper's Gradle runs on; null when it is. */
export const gradleLimit = (gradle: string | null): VersionRequest | null => {
  if (gradle === null) return null;
  const { oldest, newest } = javaRangeOf(gradle);
  const usual = Number(TOOLS.java.fallback);
  if (usual >= oldest && usual <= newest) return null;
  return {
    range: `>=${oldest} <=${newest}`,
    written: `Java ${oldest} to ${newest}`,
    source: `Gradle ${gradle} in gradle/wrapper/gradle-wrapper.properties`,
  };
};

/** What the scripts of a build say about Java: the project's own first, then those it inherits from. */
export const gradleWish = (
  projects: { dir: Dir; script: GradleScript }[],
  workspace: Dir,
  catalogue: Catalogue,
): JavaWish | undefined => {
  for (const kind of ['toolchain', 'level'] as const) {
    for (const { dir, script } of projects) {
      const written = kind === 'toolchain' ? toolchain(script.tokens, catalogue) : level(script.tokens, catalogue);
      if (written === undefined) continue;
      const file = dir.firstOf(...SCRIPTS) ?? 'build.gradle';
      const pattern = kind === 'toolchain' ? /languageVersion|jvmToolchain/ : LEVELS;
      return { written, source: placeOf(dir, file, pattern), kind };
    }
  }
  const daemon = readProperties(workspace, 'gradle/gradle-daemon-jvm.properties')['toolchainVersion'];
  if (daemon === undefined) return undefined;
  return { written: daemon, source: 'toolchainVersion in gradle/gradle-daemon-jvm.properties', kind: 'toolchain' };
};

const LEVELS = /\b(release|jvmTarget|targetCompatibility|sourceCompatibility)\b/;

const SKIPPED = new Set(['=', '.', '(', 'set', 'of', 'JavaLanguageVersion', 'JavaVersion', 'JvmTarget', 'toVersion']);

const toolchain = (tokens: readonly ScriptToken[], catalogue: Catalogue): string | undefined =>
  valueAfter(tokens, ['languageVersion', 'jvmToolchain'], catalogue);

const level = (tokens: readonly ScriptToken[], catalogue: Catalogue): string | undefined =>
  valueAfter(tokens, ['release'], catalogue) ??
  valueAfter(tokens, ['targetCompatibility'], catalogue) ??
  valueAfter(tokens, ['sourceCompatibility'], catalogue) ??
  valueAfter(tokens, ['jvmTarget'], catalogue);

const valueAfter = (
  tokens: readonly ScriptToken[],
  names: readonly string[],
  catalogue: Catalogue,
): string | undefined => {
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'name' || !names.includes(token.text)) continue;
    let at = index + 1;
    while (SKIPPED.has(tokens[at]?.text ?? '') && at < index + 12) at += 1;
    const found = versionAt(tokens, at, catalogue);
    if (found !== undefined) return found;
  }
  return undefined;
};
