import { loadConfig, type Config } from '#kernel/config';
import { CONFIG_FLAGS, givenConfigFlags } from '../config-flags.ts';
import type { Context } from '../context.ts';

export const CONFIG_FILE = {
  type: 'string',
  value: 'FILE',
  complete: 'file',
  summary: 'configuration file of the server (default: berth.toml in the data directory)',
} as const;

/** Which server of this machine a command is about. */
export const PLACE = {
  ...(CONFIG_FLAGS['data-dir'] === undefined ? {} : { 'data-dir': CONFIG_FLAGS['data-dir'] }),
  config: CONFIG_FILE,
} as const;

/** The server's configuration as these flags, the environment and the file give it. */
export const configFrom = (context: Context, flags: Readonly<Record<string, unknown>>): Config => {
  const file = typeof flags['config'] === 'string' ? flags['config'] : context.io.env['BERTH_CONFIG'];
  return loadConfig({
    flags: givenConfigFlags(flags),
    env: context.io.env,
    ...(file === undefined ? {} : { file: context.path(file) }),
  });
};
