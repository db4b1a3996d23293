import { invalidInput } from '#kernel/errors';
import type { Dir } from '../../source-tree.ts';
import { toolVersionRequest } from '../../versions-files.ts';
import type { VersionRequest } from '../../versions.ts';
import type { Gemfile } from './gemfile.ts';
import type { GemLock } from './lock-file.ts';

/** A version of Ruby as it is written in files, or a requirement of RubyGems, as a semver range. */
export const rubyRange = (written: string): string =>
  written
    .trim()
    .replace(/^ruby[-@ ]?(?=\d)/i, '')
    .split(',')
    .map((part) => clause(part.trim()))
    .filter((part) => part !== '')
    .join(' ') || '*';

const clause = (text: string): string => {
  const twiddle = /^~>\s*(\d+)(?:\.(\d+))?(\.\d+)?/.exec(text);
  if (twiddle) {
    const [, major = '0', minor = '0', patch] = twiddle;
    return patch === undefined
      ? `>=${major}.${minor}.0 <${Number(major) + 1}.0.0`
      : `>=${major}.${minor}${patch} <${major}.${Number(minor) + 1}.0`;
  }
  if (text.startsWith('!=')) return '';
  return text
    .replace(/^=\s*/, '')
    .replace(/^([<>]=?)\s+/, '$1')
    .replace(/(?<=\d)p\d+$/, '')
    .replace(/^(\d+\.\d+\.\d+)[.-]?((?:preview|rc|dev)\w*)$/, '$1-$2');
};

/** The Gemfile, then version files, then the Ruby that wrote the lock file. */
export const rubyRequests = (
  app: Dir,
  gemfile: Gemfile | undefined,
  lock: GemLock | undefined,
): (VersionRequest | null)[] => [
  gemfileRequest(app, gemfile),
  toolVersionRequest(app, { names: ['ruby'], files: ['.ruby-version'], range: rubyRange }),
  lock?.ruby === undefined
    ? null
    : { range: rubyRange(lock.ruby), written: lock.ruby, source: 'RUBY VERSION in Gemfile.lock' },
];

const gemfileRequest = (app: Dir, gemfile: Gemfile | undefined): VersionRequest | null => {
  if (gemfile?.ruby === undefined) return null;
  const { requirements, file, engine, line } = gemfile.ruby;
  const source = `ruby in Gemfile:${line}`;
  if (engine !== undefined && engine !== 'ruby') {
    throw invalidInput(
      `${source} asks for the engine ${JSON.stringify(engine.slice(0, 40))}`,
      'use plain Ruby, or add a Dockerfile',
    );
  }
  const read = file === undefined ? undefined : fromFile(app, file);
  const written = read ?? requirements.join(', ');
  if (written === '') return null;
  // Bundler refuses any other patch release than the one that is named: the newest of its line would not do.
  const plain = /^=?\s*(?:ruby-)?(\d+)\.(\d+)(?:\.(\d+))?(?:p\d+)?$/.exec(written);
  if (!plain) return { range: rubyRange(written), written, source };
  const [, major = '', minor = '', patch = '0'] = plain;
  return { range: `${major}.${minor}.${patch}`, written, source, pinned: true };
};

/** `ruby file: ".ruby-version"`, or a `.tool-versions`. */
const fromFile = (app: Dir, file: string): string | undefined => {
  const text = app.read(file);
  const tools = /^\s*ruby\s+(\S+)/m.exec(text ?? '')?.[1];
  return (
    tools ??
    text
      ?.split(/\r?\n/)
      .map((one) => one.trim())
      .find((one) => one !== '' && !one.startsWith('#'))
  );
};
