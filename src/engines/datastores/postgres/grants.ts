/**
 * Blanks, with spaces, the statements of an ACL entry of pg_dump that the owner cannot run on this server. The text is
 * Latin-1, a character a byte. See buildACLCommands and buildDefaultACLCommands in src/bin/pg_dump/dumputils.c.
 */
export const ownGrants = (text: string, filter: { roles: ReadonlySet<string>; owner: string }): string =>
  split(text)
    .map((statement) => (canRun(statement.trim(), filter) ? statement : ' '.repeat(statement.length)))
    .join('');

/**
 * `ALTER DATABASE … SET …` among the properties of a database, for one of another name (an identifier as SQL takes it).
 * Settings of roles are left out.
 */
export const databaseSettings = (properties: string, database: string): string[] =>
  split(properties)
    .map((statement) => SETTING.exec(statement.trim())?.[1])
    .filter((setting) => setting !== undefined && !REFUSAL.test(setting))
    .map((setting) => `ALTER DATABASE ${database} ${setting}`);

const NAME = String.raw`(?:"[^"]*"(?:"[^"]*")*|[^\s";]+)`;
const GRANTEE = new RegExp(String.raw`\s(?:TO|FROM) (${NAME})(?: WITH GRANT OPTION)?;?$`);
const FOR_ROLE = new RegExp(String.raw`^ALTER DEFAULT PRIVILEGES FOR ROLE (${NAME}) `);
const SESSION = /^(?:RE)?SET SESSION AUTHORIZATION\b/;
const SETTING = new RegExp(String.raw`^ALTER DATABASE ${NAME} (SET [\s\S]*)$`);

/** How berth refuses writes to apps that have passed their limit of storage. */
const REFUSAL = /^SET default_transaction_read_only /;

const canRun = (statement: string, { roles, owner }: { roles: ReadonlySet<string>; owner: string }): boolean => {
  if (SESSION.test(statement)) return false;
  const by = FOR_ROLE.exec(statement)?.[1];
  if (by !== undefined && roleOf(by) !== owner) return false;
  const grantee = GRANTEE.exec(statement)?.[1];
  return grantee === undefined || grantee === 'PUBLIC' || roles.has(roleOf(grantee));
};

/** At each semicolon that is in no quotes; nothing is lost. A quote within quotes is doubled: two strings in a row. */
const split = (text: string): string[] => {
  const statements: string[] = [];
  let start = 0;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") {
      quote = character;
    } else if (character === ';') {
      statements.push(text.slice(start, at + 1));
      start = at + 1;
    }
  }
  return [...statements, text.slice(start)];
};

const roleOf = (name: string): string => {
  const text = name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name;
  return Buffer.from(text, 'latin1').toString('utf8');
};
