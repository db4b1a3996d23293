import { escapeIdentifier, escapeLiteral } from 'pg';
import { ADMIN, ADMIN_DATABASE, APP_DATABASE, APP_ROLE, READER, WRITER } from './connect.ts';

/** Roles as they should be: who logs in, and with which verifier. */
export interface WantedRoles {
  admin: string;
  reader: string;
  writer: string;
  /** Of apps, by name. */
  logins: ReadonlyMap<string, string>;
}

/** What of it is there. */
export interface FoundRoles {
  names: ReadonlySet<string>;
  /** Members of `app` that may log in, berth's own not among them. */
  logins: readonly string[];
}

/** Nothing that reaches beyond the one database; spelled out, so that a role that has more loses it. */
const PLAIN = 'NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION INHERIT';

/**
 * Brings roles and memberships to what is wanted, in one transaction. Objects belong to `app`, which nobody logs in as: so a
 * credential comes and goes without them.
 */
export const roleStatements = (wanted: WantedRoles, found: FoundRoles): string[] => {
  const define = (name: string, options: string): string =>
    `${found.names.has(name) ? 'ALTER' : 'CREATE'} ROLE ${escapeIdentifier(name)} WITH ${options}`;
  const login = (verifier: string): string => `LOGIN ${PLAIN} PASSWORD ${escapeLiteral(verifier)}`;
  const actAsApp = (name: string): string[] => [
    `GRANT ${APP_ROLE} TO ${escapeIdentifier(name)}`,
    `ALTER ROLE ${escapeIdentifier(name)} SET role = ${escapeLiteral(APP_ROLE)}`,
  ];
  return [
    define(APP_ROLE, `NOLOGIN NOBYPASSRLS ${PLAIN} PASSWORD NULL`),
    // It acts for the roles that log in, but is no member of them: this lets it see and cancel what they run.
    `GRANT pg_read_all_stats, pg_signal_backend TO ${APP_ROLE}`,
    define(READER, `BYPASSRLS ${login(wanted.reader)}`),
    `GRANT pg_read_all_data TO ${READER}`,
    `ALTER ROLE ${READER} SET default_transaction_read_only = on`,
    // It holds the snapshot of a dump for as long as that takes.
    `ALTER ROLE ${READER} SET idle_in_transaction_session_timeout = 0`,
    // What it reads large objects with: pg_read_all_data does not include them. Writing to them is refused to readers all the same.
    `GRANT SET ON PARAMETER lo_compat_privileges TO ${READER}`,
    define(WRITER, `NOBYPASSRLS ${login(wanted.writer)}`),
    ...actAsApp(WRITER),
    // So that room can be made when the database refuses writes of apps.
    `ALTER ROLE ${WRITER} SET default_transaction_read_only = off`,
    `GRANT pg_use_reserved_connections TO ${READER}, ${WRITER}`,
    ...[...wanted.logins].flatMap(([name, verifier]) => [
      define(name, `NOBYPASSRLS ${login(verifier)}`),
      ...actAsApp(name),
    ]),
    ...leftOut(wanted, found).map((name) => `ALTER ROLE ${escapeIdentifier(name)} WITH NOLOGIN`),
    `ALTER ROLE ${ADMIN} PASSWORD ${escapeLiteral(wanted.admin)}`,
    ...[ADMIN_DATABASE, 'template1'].map((name) => `REVOKE ALL ON DATABASE ${name} FROM PUBLIC`),
  ];
};

/** Credentials that are valid no longer. */
export const leftOut = (wanted: Pick<WantedRoles, 'logins'>, found: Pick<FoundRoles, 'logins'>): string[] =>
  found.logins.filter((name) => !wanted.logins.has(name));

/** Makes the database of apps. Cannot be part of a transaction. */
export const CREATE_APP_DATABASE = `CREATE DATABASE ${APP_DATABASE} WITH OWNER ${APP_ROLE} ENCODING 'UTF8'`;

/** Whose the database of apps is, and who may connect to it. */
export const databaseGrants = (database: string): string[] => [
  // A restore that broke off may have left it to the superuser.
  `ALTER DATABASE ${escapeIdentifier(database)} OWNER TO ${APP_ROLE}`,
  `REVOKE ALL ON DATABASE ${escapeIdentifier(database)} FROM PUBLIC`,
  `GRANT CONNECT ON DATABASE ${escapeIdentifier(database)} TO ${READER}`,
];

/** Frees a role of all it owns and was granted in the database of the session. */
export const disownStatements = (name: string): string[] => [
  `REASSIGN OWNED BY ${escapeIdentifier(name)} TO ${APP_ROLE}`,
  `DROP OWNED BY ${escapeIdentifier(name)}`,
];
