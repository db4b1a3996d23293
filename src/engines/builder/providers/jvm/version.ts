import type { VersionChoice } from '../../plan.ts';
import type { Dir } from '../../source-tree.ts';
import { TOOLS, type VersionRequest } from '../../versions.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import { type PlanContext, versionOf } from '../provider.ts';
import { placeOf } from '../support/fields.ts';

/** What a manifest says about Java. */
export interface JavaWish {
  written: string;
  source: string;
  /** `toolchain`: the JDK itself. `level`: what the compiler's output must run on. */
  kind: 'toolchain' | 'level';
}

/** A Java version as people and tools write it (`1.8`, `21.0.5-tem`, `temurin-17.0.9+9`) as its line. */
export const javaLine = (written: string): string => {
  const text = written.trim().toLowerCase();
  const named = /\+java(\d+)/.exec(text)?.[1];
  if (named !== undefined) return named;
  const bare = /^[a-z]/.test(text) ? text.replace(/^.*?[-_](?=\d)/, '') : text;
  const numbers = /^(?:1\.)?(\d+)(?=$|[._+\-ux])/.exec(bare)?.[1];
  return numbers ?? text;
};

/** The oldest known line that is not below what was asked for. */
const lineFor = (written: string): string => {
  const wanted = javaLine(written);
  if (!/^\d+$/.test(wanted)) return wanted;
  const fitting = TOOLS.java.lines.filter((line) => Number(line) >= Number(wanted));
  return fitting.at(-1) ?? wanted;
};

/**
 * Java for an app. A version file names the JDK that its authors use, which may be newer than the level that their
 * compiler is told to keep to; a level alone gets the JDK of that level, which old libraries still know.
 */
export const chooseJava = (
  context: PlanContext,
  wishes: (JavaWish | undefined)[],
  limit: VersionRequest | null = null,
): VersionChoice => {
  const { overrides, app, repo } = context;
  const wish = wishes.find((candidate) => candidate !== undefined);
  const file = fileRequest(app) ?? fileRequest(repo);
  const pinned = overrides.version === undefined ? {} : { version: javaLine(overrides.version) };
  return versionOf(
    { ...context, overrides: { ...overrides, ...pinned } },
    TOOLS.java,
    wish === undefined ? [file, limit] : wished(wish, file),
  );
};

const wished = (wish: JavaWish, file: VersionRequest | null): VersionRequest[] => {
  const line = lineFor(wish.written);
  const newer = wish.kind === 'level' && file !== null && Number(file.range) >= Number(line);
  return newer ? [request(wish, `>=${line}`), file] : [request(wish, line)];
};

const request = ({ written, source }: JavaWish, range: string): VersionRequest => ({ range, written, source });

const fileRequest = (dir: Dir): VersionRequest | null =>
  toolVersionRequest(dir, { names: ['java'], files: [], range: lineFor }) ??
  sdkman(dir) ??
  toolVersionRequest(dir, { names: [], files: ['.java-version'], range: lineFor }) ??
  systemProperties(dir);

const sdkman = (dir: Dir): VersionRequest | null => keyRequest(dir, '.sdkmanrc', 'java');

const systemProperties = (dir: Dir): VersionRequest | null =>
  keyRequest(dir, 'system.properties', 'java.runtime.version');

const keyRequest = (dir: Dir, file: string, key: string): VersionRequest | null => {
  const written = readProperties(dir, file)[key];
  if (written === undefined) return null;
  return {
    range: lineFor(written),
    written,
    source: placeOf(dir, file, new RegExp(`^\\s*${key.replaceAll('.', '\\.')}\\s*[=:]`)),
  };
};

/** A `.properties` file, as far as plain keys and values go. */
export const readProperties = (dir: Dir, path: string): Partial<Record<string, string>> => {
  const lines = dir.read(path)?.split(/\r?\n/) ?? [];
  const pairs = lines.flatMap((line) => {
    const [, key = '', value = ''] = /^\s*([^#!\s=:][^\s=:]*)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    return key === '' || value === '' ? [] : [[key, value.replaceAll(/\\([:=#!\\])/g, '$1')] as const];
  });
  return Object.fromEntries(pairs);
};
