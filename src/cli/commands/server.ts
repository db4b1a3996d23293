import type { Config } from '#kernel/config';
import { ownExecutable } from '#kernel/executable-file';
import type { RunningServer } from '#src/compose.ts';
import { defineCommand, defineGroup } from '../command.ts';
import { CONFIG_FLAGS } from '../config-flags.ts';
import type { Context } from '../context.ts';
import { CONFIG_FILE, configFrom } from './server-config.ts';
import { downloads } from './server-downloads.ts';
import { check, upgrade } from './server-upgrade.ts';

const runServer = defineCommand({
  name: 'run',
  summary: 'Run the server: what berth server does without a command',
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
    config: CONFIG_FILE,
  },
  run: async (context, { flags }) => {
    const config = configFrom(context, flags);
    const { out, io } = context;
    const ended = io.untilStopped();
    const own = await ownExecutable();
    const running = await start(context, config);
    const facts = {
      url: running.url,
      ...(running.firstToken === undefined ? {} : { first_token: running.firstToken }),
    };
    out.data(facts, () => startText(running.url, running.firstToken));
    const why = await Promise.race([ended, running.reverted.then(() => 'REVERTED' as const)]);
    out.note(`${why}: stopping; the apps go on serving`);
    await running.stop();
    if (own !== undefined && (why === 'SIGUSR2' || why === 'REVERTED')) io.exec(own);
  },
});

export const server = defineGroup({
  name: 'server',
  summary: 'Run the server, upgrade it, give it clients to hand out',
  commands: [runServer, upgrade, downloads, check],
  fallback: 'run',
  leading: true,
});

/** Leaves the place to the former executable when this one was found wanting. */
const start = async ({ io }: Context, config: Config): Promise<RunningServer> => {
  const [{ startServer }, { Handover }] = await Promise.all([
    import('#src/compose.ts'),
    import('#src/upgrade/start.ts'),
  ]);
  try {
    return await startServer(config, { log: (line) => io.stderr.write(line) });
  } catch (thrown) {
    if (thrown instanceof Handover) io.exec(thrown.executable);
    throw thrown;
  }
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
