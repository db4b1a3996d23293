#!/usr/bin/env bun
/** Writes the table of settings in docs/operating.md anew: bun scripts/settings.ts */
import { join } from 'node:path';
import { CONFIG_FLAGS } from '../src/cli/config-flags.ts';
import { DEFAULT_CONFIG, flagName, tomlName, variableName, type Config } from '../src/kernel/config.ts';

const FILE = join(import.meta.dir, '../docs/operating.md');
const BEGIN = '<!-- settings: written by scripts/settings.ts -->\n';
const END = '<!-- end of settings -->';

/** The document with the table that the code says. */
export const withSettings = (document: string): string => {
  const [before, rest] = document.split(BEGIN);
  const after = rest?.split(END)[1];
  if (before === undefined || after === undefined) throw new Error(`${FILE} has no place for the settings`);
  return `${before}${BEGIN}${settingsTable()}${END}${after}`;
};

const settingsTable = (): string =>
  [
    '| flag | variable | `berth.toml` | default | |',
    '|---|---|---|---|---|',
    ...(Object.keys(DEFAULT_CONFIG) as (keyof Config)[]).map(row),
    '',
  ].join('\n');

const row = (key: keyof Config): string => {
  const flag = CONFIG_FLAGS[flagName(key)];
  const summary =
    flag?.summary.replace(/ \(default .*\)$/, '') ?? 'secret: never as a flag, which others on the machine can read';
  const fallback = DEFAULT_CONFIG[key];
  const shown = fallback === '' ? '' : `\`${fallback}\``;
  const name = flag === undefined ? '' : `\`--${flagName(key)}\``;
  return `| ${name} | \`${variableName(key)}\` | \`${tomlName(key)}\` | ${shown} | ${summary} |`;
};

if (import.meta.main) await Bun.write(FILE, withSettings(await Bun.file(FILE).text()));
