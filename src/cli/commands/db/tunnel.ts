import { defineCommand } from '../../command.ts';
import type { Context } from '../../context.ts';
import { CliFailure, localError } from '../../failure.ts';
import type { DatastoreDetail } from '#modules/datastores';
import type { TunnelListener } from '../../tunnel/listen.ts';
import { DATASTORE } from './args.ts';
import { showResult } from './console.ts';

const PORT = {
  port: { type: 'number', value: 'PORT', integer: true, min: 1, summary: 'local port; a free one without' },
} as const;

export const tunnel = defineCommand({
  name: 'tunnel',
  summary: 'Give a datastore a port on this machine, for psql, redis-cli and GUI tools',
  details: [
    'The port is on 127.0.0.1 and needs no user or password: the server signs in, as a role that may read and write. Whoever can use this machine can use the port while the command runs. Connect without TLS: the tunnel is encrypted as the connection to the server is.',
  ],
  examples: [{ line: 'berth db tunnel postgres --port 5433', says: 'then: psql -h 127.0.0.1 -p 5433 app' }],
  scope: 'project',
  operations: ['openTunnel'],
  args: DATASTORE,
  flags: PORT,
  run: async (context, { args, flags }) => {
    const { listener, detail } = await open(context, args.datastore, flags.port ?? 0);
    const url = localUrl(detail.kind, listener.port);
    context.out.data({ url, port: listener.port, datastore: detail.name, kind: detail.kind }, () => url);
    context.out.note(`try: ${clientOf(detail.kind, listener.port).join(' ')} · Ctrl-C ends the tunnel`);
    await untilAborted(context.io.signal);
    listener.close();
  },
});

export const shell = defineCommand({
  name: 'shell',
  summary: 'Open psql, redis-cli or mongosh on a datastore, or a simple console where they are missing',
  examples: [{ line: 'berth db shell postgres', says: 'psql, signed in' }],
  scope: 'project',
  operations: ['openTunnel', 'queryDatastore'],
  args: DATASTORE,
  flags: {},
  run: async (context, { args }) => {
    const { listener, detail } = await open(context, args.datastore, 0);
    try {
      const argv = installed(clientOf(detail.kind, listener.port));
      if (argv === undefined) {
        context.out.note(`${clientOf(detail.kind, 0)[0]} is not installed here: statements go to the API, one a line`);
        await console(context, detail);
        return undefined;
      }
      const child = Bun.spawn(argv, { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' });
      return await child.exited;
    } finally {
      listener.close();
    }
  },
});

const open = async (
  context: Context,
  name: string,
  port: number,
): Promise<{ listener: TunnelListener; detail: DatastoreDetail }> => {
  const api = await context.api();
  const project = await context.project();
  const detail = await api.getDatastore(project, name);
  if (detail.status !== 'ready')
    throw localError(`datastore "${name}" is ${detail.status}`, 'wait until its status is "ready"');
  const { listenForTunnel } = await import('../../tunnel/listen.ts');
  const { token, ca } = await context.server();
  const listener = await listenForTunnel({
    url: api.endpoint + api.tunnelPath(project, name),
    token,
    ca,
    port,
    onConnection: () => undefined,
    onFailure: (message) =>
      context.out.warn(`${message}; does the token hold manage_datastores? see: berth db info ${name}`),
  });
  return { listener, detail };
};

const localUrl = (kind: DatastoreDetail['kind'], port: number): string => {
  if (kind === 'postgres') return `postgres://app@127.0.0.1:${port}/app?sslmode=disable`;
  if (kind === 'redis') return `redis://127.0.0.1:${port}/0`;
  return `mongodb://127.0.0.1:${port}/app?directConnection=true`;
};

/** argv of the database's own client. */
const clientOf = (kind: DatastoreDetail['kind'], port: number): string[] => {
  if (kind === 'postgres') return ['psql', localUrl(kind, port)];
  if (kind === 'redis') return ['redis-cli', '-h', '127.0.0.1', '-p', String(port)];
  return ['mongosh', localUrl(kind, port)];
};

const installed = ([name = '', ...rest]: string[]): string[] | undefined => {
  const found = Bun.which(name) ?? (name === 'redis-cli' ? Bun.which('valkey-cli') : null);
  return found === null ? undefined : [found, ...rest];
};

/** One statement a line through the API. */
const console = async (context: Context, { project, name }: DatastoreDetail): Promise<void> => {
  const api = await context.api();
  for await (const statement of statements(context, name)) {
    try {
      showResult(context.out, await api.queryDatastore(project, name, { query: statement }));
    } catch (thrown) {
      if (!(thrown instanceof CliFailure)) throw thrown;
      context.out.failure(thrown.body);
    }
  }
};

/** Lines of a person until an empty one or Ctrl-D, or those that are piped in. */
async function* statements({ io }: Context, name: string): AsyncGenerator<string> {
  if (!io.interactive) {
    yield* (await io.readStdin()).split('\n').filter((line) => line.trim() !== '');
    return;
  }
  for (;;) {
    const statement = await io.ask(`${name}> `).catch(endOfInput);
    if (['', 'exit', '\\q'].includes(statement.trim())) return;
    yield statement;
  }
}

const endOfInput = (thrown: unknown): string => {
  if (thrown instanceof CliFailure && thrown.body.code === 'INTERRUPTED') return '';
  throw thrown;
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
