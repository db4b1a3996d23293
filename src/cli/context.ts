import { isAbsolute, resolve } from 'node:path';
import { systemClock } from '#kernel/clock';
import type { Api } from './client/api.ts';
import { usageError } from './failure.ts';
import type { Io } from './io.ts';
import type { Out } from './output/out.ts';
import { duration } from './output/format.ts';
import { findFolderConfig } from './settings/folder.ts';
import { configFile, mendExposure } from './settings/profiles.ts';
import { findServer, isPlainRemote, resolveServer, type ServerFlags, type ServerSettings } from './settings/server.ts';
import { VERSION } from './version.ts';

/** What a running command works with. */
export interface Context {
  io: Io;
  out: Out;
  /** Endpoint and token that the flags, the environment and the profile give. */
  server(): Promise<ServerSettings>;
  /** The same; undefined when none is set. */
  findServer(): Promise<ServerSettings | undefined>;
  /** The client for that server. */
  api(): Promise<Api>;
  /** The client for another server, such as the one that `login` is about. */
  apiFor(server: Pick<ServerSettings, 'endpoint' | 'token' | 'ca'>): Promise<Api>;
  /** The project of this command; a usage error when none is set. */
  project(): Promise<string>;
  /** Project and service of this command. */
  target(): Promise<{ project: string; service: string }>;
  /** `--project` and `--service` as given. */
  given: { project: string | undefined; service: string | undefined };
  /** A path of the command line, made absolute. */
  path(text: string): string;
  /** Asks before something is destroyed; without a terminal, `--yes` is needed. */
  confirm(what: string, name: string, yes: boolean): Promise<void>;
}

type TargetFlags = ServerFlags & {
  project?: string | undefined;
  service?: string | undefined;
  dryRun?: boolean | undefined;
};

export const createContext = async (io: Io, out: Out, flags: TargetFlags): Promise<Context> => {
  const named = await checkNames(flags);
  const context: Context = {
    io,
    out,
    given: named,
    server: () => resolveServer(io, flags),
    findServer: () => findServer(io, flags),
    api: async () => {
      const settings = await context.server();
      await warnAboutExposure(context, settings);
      return context.apiFor(settings);
    },
    apiFor: async ({ endpoint, token, ca }) => {
      const { createApi } = await import('./client/api.ts');
      return createApi({
        endpoint,
        token,
        ca,
        env: io.env,
        userAgent: `berth/${VERSION}`,
        signal: io.signal,
        dryRun: flags.dryRun ?? false,
        sleep: systemClock.sleep,
        onRetry: (cause, delay) =>
          out.note(out.noteStyle.dim(`${cause.body.message}; trying again in ${duration(delay)}`)),
      });
    },
    project: async () => named.project ?? (await remembered(io, 'project')),
    target: async () => ({
      project: named.project ?? (await remembered(io, 'project')),
      service: named.service ?? (await remembered(io, 'service')),
    }),
    path: (text) => (isAbsolute(text) ? text : resolve(io.cwd, text)),
    confirm: (what, name, yes) => confirm(context, { what, name, yes: yes || flags.dryRun === true }),
  };
  return context;
};

const checkNames = async ({
  project,
  service,
}: Pick<TargetFlags, 'project' | 'service'>): Promise<Context['given']> => {
  for (const [what, name] of Object.entries({ project, service })) {
    if (name === undefined) continue;
    const { isName, NAME_RULE } = await import('#kernel/schema');
    if (!isName(name)) throw usageError(`--${what} "${name}" is no valid name`, NAME_RULE);
  }
  return { project, service };
};

/** The server judges what a folder's file says: a name there was good when it was written. */
const remembered = async (io: Io, what: 'project' | 'service'): Promise<string> => {
  const name = (await findFolderConfig(io.cwd))?.config[what];
  if (name !== undefined) return name;
  throw usageError(`no ${what} is set`, `give --${what} NAME, or run: berth init`);
};

const warnAboutExposure = async (context: Context, settings: ServerSettings): Promise<void> => {
  const file = configFile(context.io);
  if (settings.profile !== undefined) {
    const found = await mendExposure(file);
    if (found === 'mended')
      context.out.warn(
        `others could read ${file}, which holds tokens: its mode is 0600 now. If others use this machine, revoke the tokens`,
      );
    if (found === 'exposed') context.out.warn(`others can read ${file}, which holds tokens; run: chmod 600 ${file}`);
  }
  if (settings.token !== undefined && isPlainRemote(settings.endpoint))
    context.out.warn(`${settings.endpoint} is not encrypted: the token crosses the network in the clear`);
};

const confirm = async (context: Context, request: { what: string; name: string; yes: boolean }): Promise<void> => {
  if (request.yes) return;
  if (!context.io.interactive) throw usageError(`${request.what}; that needs a confirmation`, 'add --yes');
  const answer = await context.io.ask(`${request.what}. Type ${request.name} to confirm: `);
  if (answer.trim() !== request.name)
    throw usageError('not confirmed: nothing was changed', `type exactly ${request.name}, or add --yes`);
};
