import { loadConfig, type Config } from '#kernel/config';
import { defineCommand } from '../command.ts';
import { CONFIG_FLAGS, givenConfigFlags } from '../config-flags.ts';
import type { Context } from '../context.ts';

export const server = defineCommand({
  name: 'server',
  summary: 'Run the server',
  details: [
    'Each setting is a flag, a variable (--http-port is BERTH_HTTP_PORT) or a key of berth.toml in the data directory (http_port), in this order.',
    'On its first start it prints an administrator token, once. SIGTERM and Ctrl-C stop it gracefully; the apps go on serving.',
  ],
  examples: [
    { line: 'berth server --data-dir ./.berth --http-port 8080', says: 'try it on a laptop' },
    { line: 'berth server --base-domain apps.example.com --acme-email me@example.com', says: 'with HTTPS on a server' },
  ],
  scope: 'none',
  args: {},
  flags: {
    ...CONFIG_FLAGS,
    config: {
      type: 'string',
      value: 'FILE',
      complete: 'file',
      summary: 'configuration file (default: berth.toml in the data directory)',
    },
  },
  run: async (context, { flags }) => {
    const config = configFrom(context, flags);
    const { startServer } = await import('#src/compose.ts');
    const { out, io } = context;
    const ended = io.untilStopped();
    const running = await startServer(config, { log: (line) => io.stderr.write(line) });
    const facts = {
      url: running.url,
      ...(running.firstToken === undefined ? {} : { first_token: running.firstToken }),
    };
    out.data(facts, () => startText(running.url, running.firstToken));
    const signal = await ended;
    out.note(`${signal}: stopping; the apps go on serving`);
    await running.stop();
  },
});

/** The server's configuration as these flags, the environment and the file give it. */
export const configFrom = (context: Context, flags: Readonly<Record<string, unknown>>): Config => {
  const file = typeof flags['config'] === 'string' ? flags['config'] : context.io.env['BERTH_CONFIG'];
  return loadConfig({
    flags: givenConfigFlags(flags),
    env: context.io.env,
    ...(file === undefined ? {} : { file: context.path(file) }),
  });
};

const startText = (url: string, token: string | undefined): string =>
  token === undefined
    ? `berth serves at ${url}`
    : [
        `berth serves at ${url}`,
        '',
        'The administrator token, shown this once:',
        `  ${token}`,
        '',
        `Next: berth login ${url}`,
      ].join('\n');
