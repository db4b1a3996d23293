#!/usr/bin/env bun
/** Writes the JSON schemas of both files called berth.toml anew: bun scripts/schemas.ts */
import { join } from 'node:path';
import { CONFIG_FLAGS } from '../src/cli/config-flags.ts';
import { OVERRIDE_KEYS } from '../src/engines/builder/overrides.ts';
import { PROVIDERS } from '../src/engines/builder/providers/index.ts';
import { DEFAULT_CONFIG, flagName, tomlName, type Config } from '../src/kernel/config.ts';
import { NAME_PATTERN } from '../src/kernel/schema.ts';

type Schema = Record<string, unknown>;

const FOLDER = join(import.meta.dir, '../schemas');
/** Editors for TOML know this one. */
const DRAFT = 'http://json-schema.org/draft-07/schema#';

const WORDS: Schema = { type: 'array', items: { type: 'string' } };

const KINDS: Record<(typeof OVERRIDE_KEYS)[keyof typeof OVERRIDE_KEYS]['kind'], Schema> = {
  text: { type: 'string' },
  commands: { anyOf: [{ type: 'string' }, WORDS] },
  argv: {
    anyOf: [
      { type: 'string', pattern: '\\S' },
      { ...WORDS, minItems: 1 },
    ],
  },
  packages: {
    type: 'array',
    items: { type: 'string', pattern: '^[a-z0-9][a-z0-9+.-]+(:[a-z0-9]+)?(=[A-Za-z0-9.+:~-]+)?$' },
  },
  switch: { type: 'boolean' },
};

/** `berth.toml` at the root of a source. */
const serviceSchema = (): Schema => {
  const build: Schema = {
    type: 'object',
    description: 'what the builder would not find out by itself',
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(OVERRIDE_KEYS).map(([key, { kind, doc }]) => [key, { ...KINDS[kind], description: doc }]),
    ),
  };
  Object.assign((build['properties'] as Record<string, Schema>)['provider'] ?? {}, {
    enum: PROVIDERS.map(({ name }) => name),
  });
  return {
    $schema: DRAFT,
    title: 'berth.toml of a source',
    description: 'How berth builds and starts what lies in this folder.',
    type: 'object',
    additionalProperties: false,
    definitions: { build },
    properties: {
      build: { $ref: '#/definitions/build' },
      services: {
        type: 'object',
        description: 'the same for single services; it wins over [build]',
        propertyNames: { pattern: NAME_PATTERN },
        additionalProperties: {
          type: 'object',
          additionalProperties: false,
          properties: { build: { $ref: '#/definitions/build' } },
        },
      },
    },
  };
};

/** `berth.toml` in the data directory of a server. */
const serverSchema = (): Schema => ({
  $schema: DRAFT,
  title: 'berth.toml of a server',
  description: 'Settings of "berth server"; flags and BERTH_ variables win over them.',
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(
    (Object.keys(DEFAULT_CONFIG) as (keyof Config)[]).map((key) => [tomlName(key), setting(key)]),
  ),
});

const setting = (key: keyof Config): Schema => {
  const fallback = DEFAULT_CONFIG[key];
  const summary = CONFIG_FLAGS[flagName(key)]?.summary.replace(/ \(default .*\)$/, '');
  return {
    type: typeof fallback,
    ...(typeof fallback === 'number' ? { minimum: 0 } : {}),
    ...(key === 'logLevel' ? { enum: ['debug', 'info', 'warn', 'error'] } : {}),
    ...(/[a-z]Port$/.test(key) ? { type: 'integer', minimum: 1, maximum: 65_535 } : {}),
    ...(summary === undefined ? {} : { description: summary }),
    ...(fallback === '' ? {} : { default: fallback }),
  };
};

/** The files by name, as they are served and committed. */
export const schemas = (): Record<string, string> => ({
  'berth.toml.json': `${JSON.stringify(serviceSchema(), null, 2)}\n`,
  'server.toml.json': `${JSON.stringify(serverSchema(), null, 2)}\n`,
});

if (import.meta.main) for (const [name, text] of Object.entries(schemas())) await Bun.write(join(FOLDER, name), text);
