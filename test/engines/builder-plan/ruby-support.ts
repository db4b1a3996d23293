import type { RunStep, Stage } from '#engines/builder/plan';
import { type Files, type Given, planOf } from './support.ts';

export interface Lock {
  gems?: string[];
  dependencies?: string[];
  platforms?: string[];
  ruby?: string;
  path?: string;
  remote?: string;
}

/** A Gemfile.lock as Bundler writes it; gems are `name version`, dependencies `name (requirement)`. */
export const gemLock = ({
  gems = [],
  dependencies,
  platforms = ['ruby'],
  ruby,
  path,
  remote = 'https://rubygems.org/',
}: Lock): string =>
  [
    ...(path === undefined ? [] : ['PATH', `  remote: ${path}`, '  specs:', '    local (0.1.0)', '']),
    'GEM',
    `  remote: ${remote}`,
    '  specs:',
    ...gems.map((gem) => `    ${gem.replace(' ', ' (')})`),
    '',
    'PLATFORMS',
    ...platforms.map((name) => `  ${name}`),
    '',
    'DEPENDENCIES',
    ...(dependencies ?? gems.map((gem) => gem.split(' ')[0] ?? '')).map((name) => `  ${name}`),
    '',
    ...(ruby === undefined ? [] : ['RUBY VERSION', `   ruby ${ruby}`, '']),
    'BUNDLED WITH',
    '   2.6.7',
    '',
  ].join('\n');

export const gemfile = (...lines: string[]): string => `source "https://rubygems.org"\n\n${lines.join('\n')}\n`;

/** A rack app with these gems, in agreement with its lock file. */
export const rackApp = (gems: string[], files: Files = {}, lock: Lock = {}): Files => ({
  Gemfile: gemfile(...gems.map((gem) => `gem "${gem.split(' ')[0]}"`)),
  'Gemfile.lock': gemLock({ gems: gems.map((gem) => (gem.includes(' ') ? gem : `${gem} 1.0.0`)), ...lock }),
  'config.ru': '',
  ...files,
});

export const railsApp = (gems: string[] = [], files: Files = {}): Files =>
  rackApp(['rails 8.0.1', 'railties 8.0.1', 'puma 6.5.0', ...gems], {
    'config/application.rb': '',
    'config/puma.rb': '',
    'app/models/a.rb': '',
    ...files,
  });

export const stage = (files: Files, name: string, given?: Given): Stage | undefined =>
  planOf(files, given).stages.find((one) => one.name === name);

export const commands = (files: Files, name: string, given?: Given): string[] =>
  (stage(files, name, given)?.steps ?? [])
    .filter((step): step is RunStep => step.kind === 'run')
    .map((step) => step.command);

export const PUMA = ['/bin/sh', '-c', 'exec bundle exec puma -b "tcp://0.0.0.0:${PORT:-8080}"'];

/** What follows an install of gems that may be linked with something. */
export const LIBRARIES = ` && mkdir -p /out/lib && ldd $(find /usr/local/bundle -type f '(' -perm -u+x -o -name '*.so*' ')') 2>/dev/null | awk '$2 == "=>" && $3 ~ "^/" && $1 !~ "^(ld-linux.*|lib(c|m|mvec|dl|pthread|rt|resolv|util|anl|nsl|gcc_s|stdc[+][+])[.]so.*)$" { print $3 }' | sort -u | xargs -r cp -Lt /out/lib && rm -f /out/lib/libruby*`;
