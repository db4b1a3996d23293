import { type Client, DatabaseError } from 'pg';
import { BerthError, invalidInput } from '#kernel/errors';
import type { DatastoreInstance } from '../port.ts';
import { backendKeyOf } from './cancel.ts';
import { APP_DATABASE, type Connect, destroy } from './connect.ts';
import { isWrongPassword, statementFailure } from './failures.ts';
import {
  authenticationOk,
  backendKeyData,
  negotiateProtocolVersion,
  type Opening,
  parameterStatus,
  readyForQuery,
} from './opening.ts';

export type Startup = Extract<Opening, { kind: 'startup' }>;

/** What a client without credentials may ask for: the one database, and settings as a session may have them. */
export const checkStartup = ({ parameters }: Startup): void => {
  const database = parameters.get('database') ?? APP_DATABASE;
  if (database !== '' && database !== APP_DATABASE) {
    throw invalidInput(
      `the database is called ${APP_DATABASE}, not ${database}`,
      `connect to the database ${APP_DATABASE}`,
    );
  }
  const replication = parameters.get('replication') ?? 'off';
  if (!['off', 'false', 'no', '0'].includes(replication)) {
    throw invalidInput('a tunnel does not serve replication', 'use pg_dump, or berth db backup');
  }
  const wrong = settingsOf(parameters).find(([name]) => !SETTING.test(name));
  if (wrong !== undefined) throw invalidInput(`"${wrong[0]}" is not the name of a setting`, 'leave it out');
};

const SETTING = /^[A-Za-z_][A-Za-z0-9_.]*$/;
/** pg says these itself when it connects, so they are set afterwards. */
const LATER = ['application_name', 'client_encoding'];
const NO_SETTINGS = new Set(['user', 'database', 'replication', 'options', ...LATER]);

const settingsOf = (parameters: ReadonlyMap<string, string>): [string, string][] =>
  [...parameters].filter(([name]) => !NO_SETTINGS.has(name) && !name.startsWith('_pq_.'));

/** As libpq's `options` has it: a backslash before what would end a word. */
const optionsOf = (parameters: ReadonlyMap<string, string>): string =>
  [
    parameters.get('options') ?? '',
    ...settingsOf(parameters).map(([name, value]) => `-c ${name}=${value.replace(/[\\\s]/g, '\\$&')}`),
  ].join(' ');

/** Logs in as the writing role for it; resolves with the connection and what the client is to read first. */
export const logIn = async (
  connect: Connect,
  peer: { instance: DatastoreInstance; signal: AbortSignal },
  { parameters, minor }: Startup,
): Promise<{ server: Client; greeting: Buffer }> => {
  const statuses = new Map<string, string>();
  const server = await openSession(connect, peer, { parameters, statuses });
  const key = backendKeyOf(server);
  const unknown = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'));
  const greeting = Buffer.concat([
    ...(minor > 0 || unknown.length > 0 ? [negotiateProtocolVersion(unknown)] : []),
    authenticationOk(),
    ...[...statuses].map(([name, value]) => parameterStatus(name, value)),
    ...(key === undefined ? [] : [backendKeyData(key)]),
    readyForQuery(),
  ]);
  return { server, greeting };
};

/** `statuses` gets what the server tells of itself. */
const openSession = async (
  connect: Connect,
  { instance, signal }: { instance: DatastoreInstance; signal: AbortSignal },
  { parameters, statuses }: { parameters: Startup['parameters']; statuses: Map<string, string> },
): Promise<Client> => {
  let server: Client | undefined;
  try {
    server = await connect(instance, {
      as: 'writer',
      statementMs: 0,
      options: optionsOf(parameters),
      signal,
      onClient: (client) =>
        client.connection.on('parameterStatus', (status: { parameterName: string; parameterValue: string }) =>
          statuses.set(status.parameterName, status.parameterValue),
        ),
    });
    for (const name of LATER) {
      const value = parameters.get(name);
      if (value !== undefined) await server.query('SELECT set_config($1, $2, false)', [name, value]);
    }
    return server;
  } catch (thrown) {
    if (server !== undefined) destroy(server);
    // A setting that the client asked for is its own mistake; everything else is as `connect` says.
    const refused = thrown instanceof BerthError && !isWrongPassword(thrown) ? thrown.cause : thrown;
    throw refused instanceof DatabaseError ? statementFailure(refused) : thrown;
  }
};
