import semver from 'semver';
import { invalidInput } from '#kernel/errors';
import type { VersionChoice } from './plan.ts';

/** A tool whose versions come as lines (`24`, `3.13`), each the tag of an official image that keeps getting fixes. */
export interface Tool {
  name: string;
  title: string;
  fallback: string;
  /** Known lines, newest first. */
  lines: readonly string[];
}

export const TOOLS = {
  node: tool('node', 'Node', '24', ['26', '25', '24', '23', '22', '21', '20', '19', '18', '17', '16', '15', '14']),
  python: tool('python', 'Python', '3.13', ['3.14', '3.13', '3.12', '3.11', '3.10', '3.9', '3.8']),
  go: tool('go', 'Go', '1.26', ['1.27', '1.26', '1.25', '1.24', '1.23', '1.22', '1.21', '1.20', '1.19', '1.18']),
  rust: tool('rust', 'Rust', '1', ['1']),
  elixir: tool('elixir', 'Elixir', '1.19', ['1.20', '1.19', '1.18', '1.17', '1.16', '1.15', '1.14']),
  gleam: tool('gleam', 'Gleam', '1', ['1']),
  zig: tool('zig', 'Zig', '0.17', ['0.17', '0.16', '0.15', '0.14', '0.13', '0.12', '0.11']),
  crystal: tool('crystal', 'Crystal', '1', ['1']),
  dart: tool('dart', 'Dart', '3', ['3', '2']),
  swift: tool('swift', 'Swift', '6.2', ['6.2', '6.1', '6.0', '5.10', '5.9', '5.8', '5.7']),
  ghc: tool('ghc', 'GHC', '9.10', ['9.14', '9.12', '9.10', '9.8', '9.6', '9.4', '9.2', '9.0']),
  php: tool('php', 'PHP', '8.5', ['8.5', '8.4', '8.3', '8.2', '8.1', '8.0', '7.4']),
  ruby: tool('ruby', 'Ruby', '3.4', ['4.0', '3.4', '3.3', '3.2', '3.1', '3.0', '2.7']),
  deno: tool('deno', 'Deno', '2', ['2']),
  dotnet: tool('dotnet', '.NET', '10.0', ['11.0', '10.0', '9.0', '8.0', '7.0', '6.0', '5.0', '3.1']),
  gcc: tool('gcc', 'GCC', '14', ['14', '13', '12']),
  java: tool('java', 'Java', '21', ['26', '25', '21', '17', '11', '8']),
} as const satisfies Record<string, Tool>;

export interface VersionRequest {
  /** A semver range (PEP 440 and nicknames already translated). */
  range: string;
  /** What was written, and where: `engines.node in package.json:7`. */
  written: string;
  source: string;
  /** An explicit override: an exact version is then taken to the letter. */
  pinned?: boolean;
}

/**
 * Chooses a line for the first request. A version file with an exact patch release gets the newest of its line, which
 * carries the security fixes; an override (`[build] version`) is taken to the letter.
 */
export const chooseVersion = (
  wanted: Tool,
  requests: (VersionRequest | null | undefined)[],
  remembered: string | undefined,
): VersionChoice => {
  const request = requests.find((candidate) => candidate !== null && candidate !== undefined);
  if (!request) return withoutRequest(wanted, remembered);
  if (semver.validRange(request.range) === null) {
    throw invalidInput(
      `${request.source} asks for ${wanted.title} ${quote(request.written)}, which is no version`,
      `write a version such as ${wanted.fallback}, or a range such as >=${wanted.fallback}`,
    );
  }
  const exact = semver.valid(request.range);
  if (request.pinned && exact !== null) {
    return { tool: wanted.name, version: exact, reason: `${request.source} pins ${exact}` };
  }
  const known = [...(isLine(remembered) ? [remembered] : []), wanted.fallback, ...wanted.lines];
  const allowed = known.filter((candidate) => satisfies(candidate, request));
  const line = allowed[0];
  if (line === undefined) throw impossible(wanted, request);
  // `engines: ">=18"` beside an .nvmrc of 22: both are content with 22.
  const narrower = requests.find((other) => other && other !== request && usable(other));
  const narrowed = narrower ? allowed.find((candidate) => satisfies(candidate, narrower)) : undefined;
  if (!narrower || narrowed === undefined) {
    return { tool: wanted.name, version: line, reason: said(request, line) };
  }
  return {
    tool: wanted.name,
    version: narrowed,
    reason: `${said(request, narrowed)}, and ${said(narrower, narrowed)}`,
  };
};

const usable = ({ range }: VersionRequest): boolean => range !== '*' && semver.validRange(range) !== null;

const satisfies = (line: string, { range }: VersionRequest): boolean =>
  semver.intersects(`${line}.x`.replace(/\.x\.x$/, '.x'), range);

const said = ({ source, written }: VersionRequest, line: string): string =>
  written === line ? `${source} says so` : `${source} says ${quote(written)}`;

const withoutRequest = (wanted: Tool, remembered: string | undefined): VersionChoice =>
  isLine(remembered) && remembered !== wanted.fallback
    ? { tool: wanted.name, version: remembered, reason: 'this service was first built with it' }
    : { tool: wanted.name, version: wanted.fallback, reason: 'the default: nothing in the source names a version' };

const impossible = (wanted: Tool, request: VersionRequest): Error =>
  invalidInput(
    `${request.source} asks for ${wanted.title} ${quote(request.written)}, which no known version satisfies`,
    `known: ${wanted.lines.join(', ')}; change ${request.source}${request.pinned === true ? '' : ', or set [build] version in berth.toml'}`,
  );

/** Remembered versions come from a database: they reach a Dockerfile only in this shape. */
const isLine = (text: string | undefined): text is string => text !== undefined && /^\d+(\.\d+){0,2}$/.test(text);

const quote = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);

const LTS_NAMES: Record<string, string> = {
  fermium: '14',
  gallium: '16',
  hydrogen: '18',
  iron: '20',
  jod: '22',
  krypton: '24',
};

/** Node's nicknames (`lts/*`, `lts/iron`, `v22`, `latest`) as semver ranges. */
export const nodeRange = (written: string): string => {
  const text = written
    .trim()
    .toLowerCase()
    .replace(/^node[-@]/, '');
  if (text === '' || ['lts/*', 'lts', 'node', 'latest', 'current', 'stable', '*'].includes(text)) return '*';
  const named = /^lts\/(\w+)$/.exec(text)?.[1];
  if (named !== undefined) return LTS_NAMES[named] ?? text;
  return text.replace(/^v(?=\d)/, '');
};

/** PEP 440 and Poetry's carets as a semver range: `>=3.9,<3.13,!=3.11.*`, `~=3.11`, `==3.12.*`, `python-3.11.4`. */
export const pythonRange = (written: string): string => {
  const clauses = written
    .trim()
    .replace(/^(c?python)[-@ ]?(?=\d)/i, '')
    .replace(/-(linux|macos|windows)-.*$/, '')
    .split(',')
    .map((part) => part.trim().replace(/(\d)(?:a|b|rc)\d+$/, '$1'));
  const range = clauses
    .map(pythonClause)
    .filter((part) => part !== '')
    .join(' ');
  const excluded = clauses.flatMap((clause) => /^!=\s*(\d+\.\d+)\.\*$/.exec(clause)?.[1] ?? []);
  return excluded.reduce(without, range) || '*';
};

/** A range less one line: what is below it, or what is above. */
const without = (range: string, line: string): string => {
  const [major = 0, minor = 0] = line.split('.').map(Number);
  return range
    .split(' || ')
    .flatMap((part) => [`${part} <${major}.${minor}.0`, `${part} >=${major}.${minor + 1}.0`])
    .map((part) => part.trim())
    .join(' || ');
};

const pythonClause = (clause: string): string => {
  const compatible = /^~=\s*(\d+)\.(\d+)(\.\d+)?/.exec(clause);
  if (compatible) {
    const [, major, minor, patch] = compatible;
    return patch === undefined
      ? `>=${major}.${minor}.0 <${Number(major) + 1}.0.0`
      : `>=${major}.${minor}${patch} <${major}.${Number(minor) + 1}.0`;
  }
  if (clause.startsWith('!=')) return '';
  return clause.replace(/^={2,3}\s*/, '').replace(/\.\*$/, '.x');
};

function tool(name: string, title: string, fallback: string, lines: readonly string[]): Tool {
  return { name, title, fallback, lines };
}
