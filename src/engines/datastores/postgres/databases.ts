import { escapeIdentifier, escapeLiteral, type Client } from 'pg';
import { conflict } from '#kernel/errors';
import { sqlState } from './failures.ts';

/** What a database that replaces another one must have in common with it. */
interface DatabaseRow {
  datname: string;
  owner: string;
  encoding: string;
  provider: 'b' | 'c' | 'i';
  datcollate: string;
  datctype: string;
  /** Locale of the providers builtin and icu. */
  locale: string | null;
  icu_rules: string | null;
  connection_limit: number;
  comment: string | null;
}

/** Comment of a database that is being filled; one that is found later was left by a crash. */
const FILLING = 'berth: being restored';

// Names of columns changed between versions (daticulocale, datlocale): taken from the row as JSON.
const DATABASE = `
  SELECT d.datname, pg_get_userbyid(d.datdba) AS owner, pg_encoding_to_char(d.encoding) AS encoding,
    d.datlocprovider::text AS provider, d.datcollate, d.datctype,
    coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale') AS locale,
    to_jsonb(d) ->> 'daticurules' AS icu_rules,
    d.datconnlimit AS connection_limit, shobj_description(d.oid, 'pg_database') AS comment
  FROM pg_database d WHERE d.datname = $1`;

export const findDatabase = async (client: Client, name: string): Promise<DatabaseRow | undefined> =>
  (await client.query<DatabaseRow>(DATABASE, [name])).rows[0];

/** All but those that every server has. */
export const listDatabases = async (client: Client): Promise<string[]> => {
  const { rows } = await client.query<{ datname: string }>(
    `SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres' ORDER BY datname`,
  );
  return rows.map(({ datname }) => datname);
};

/** An empty database with owner, encoding and locale of `like`, and the same roles let in. Replaces one left half filled. */
export const createLike = async (client: Client, like: DatabaseRow, name: string): Promise<void> => {
  const there = await findDatabase(client, name);
  if (there !== undefined && there.comment !== FILLING) {
    throw conflict(`there is a database ${name} already`, 'restore under another name, or drop that one first');
  }
  if (there !== undefined) await dropDatabase(client, name);
  await client.query(createStatement(like, name));
  await client.query(`COMMENT ON DATABASE ${escapeIdentifier(name)} IS ${escapeLiteral(FILLING)}`);
  await copyGrants(client, like.datname, name);
};

export const markFilled = async (client: Client, name: string): Promise<void> => {
  await client.query(`COMMENT ON DATABASE ${escapeIdentifier(name)} IS NULL`);
  await setAside(client, name);
};

/** Only the live database belongs to the role of apps: an owner may drop what he owns, also what is kept for him. */
export const setAside = async (client: Client, name: string): Promise<void> => {
  await client.query(`ALTER DATABASE ${escapeIdentifier(name)} OWNER TO CURRENT_USER`);
};

/** Idempotent; ends the sessions in it. */
export const dropDatabase = async (client: Client, name: string): Promise<void> => {
  const statement = `DROP DATABASE IF EXISTS ${escapeIdentifier(name)} WITH (FORCE)`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query(statement);
      return;
    } catch (thrown) {
      // A session that is at work took longer to notice than the server waits for it (5 s).
      if (sqlState(thrown) !== IN_USE || attempt === DROP_ATTEMPTS) throw thrown;
    }
  }
};

export const IN_USE = '55006';
const DROP_ATTEMPTS = 5;

/** Makes owner, settings, rights, limit and comment of a database those of another one. */
export const copyProperties = async (client: Client, from: DatabaseRow, to: string): Promise<void> => {
  // Row by row as they are: ALTER DATABASE … SET would need the quoting rules of every setting.
  await client.query(`DELETE FROM pg_db_role_setting WHERE setdatabase = ${oidOf(to)}`);
  await client.query(`
    INSERT INTO pg_db_role_setting (setdatabase, setrole, setconfig)
    SELECT ${oidOf(to)}, setrole, setconfig FROM pg_db_role_setting WHERE setdatabase = ${oidOf(from.datname)}`);
  const name = escapeIdentifier(to);
  await client.query(`ALTER DATABASE ${name} OWNER TO ${escapeIdentifier(from.owner)}`);
  await copyGrants(client, from.datname, to);
  await client.query(`ALTER DATABASE ${name} CONNECTION LIMIT ${from.connection_limit}`);
  const comment = from.comment === null ? 'NULL' : escapeLiteral(from.comment);
  await client.query(`COMMENT ON DATABASE ${name} IS ${comment}`);
};

const oidOf = (name: string): string => `(SELECT oid FROM pg_database WHERE datname = ${escapeLiteral(name)})`;

interface Grant {
  grantee: string | null;
  privilege: string;
  grantable: boolean;
}

// What was never granted explicitly is not in datacl: acldefault has what holds then. Grantee 0 is PUBLIC.
const GRANTS = `
  SELECT CASE a.grantee WHEN 0 THEN NULL ELSE pg_get_userbyid(a.grantee) END AS grantee,
    a.privilege_type AS privilege, a.is_grantable AS grantable
  FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
  WHERE d.datname = $1`;

const copyGrants = async (client: Client, from: string, to: string): Promise<void> => {
  const on = `ON DATABASE ${escapeIdentifier(to)}`;
  for (const { grantee } of await grantsOf(client, to)) await client.query(`REVOKE ALL ${on} FROM ${roleSql(grantee)}`);
  for (const { grantee, privilege, grantable } of await grantsOf(client, from)) {
    const option = grantable ? ' WITH GRANT OPTION' : '';
    await client.query(`GRANT ${privilege} ${on} TO ${roleSql(grantee)}${option}`);
  }
};

const grantsOf = async (client: Client, name: string): Promise<Grant[]> =>
  (await client.query<Grant>(GRANTS, [name])).rows;

const roleSql = (grantee: string | null): string => (grantee === null ? 'PUBLIC' : escapeIdentifier(grantee));

const createStatement = (like: DatabaseRow, name: string): string =>
  [
    `CREATE DATABASE ${escapeIdentifier(name)}`,
    'TEMPLATE template0',
    `OWNER ${escapeIdentifier(like.owner)}`,
    `ENCODING ${escapeLiteral(like.encoding)}`,
    `LC_COLLATE ${escapeLiteral(like.datcollate)}`,
    `LC_CTYPE ${escapeLiteral(like.datctype)}`,
    ...localeClauses(like),
  ].join(' ');

const localeClauses = ({ provider, locale, icu_rules: rules }: DatabaseRow): string[] => {
  if (provider === 'c') return ['LOCALE_PROVIDER libc'];
  const [keyword, setting] = provider === 'i' ? ['icu', 'ICU_LOCALE'] : ['builtin', 'BUILTIN_LOCALE'];
  return [
    `LOCALE_PROVIDER ${keyword}`,
    ...(locale === null ? [] : [`${setting} ${escapeLiteral(locale)}`]),
    ...(rules === null ? [] : [`ICU_RULES ${escapeLiteral(rules)}`]),
  ];
};
