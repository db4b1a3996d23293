import { ADMIN, APP_DATABASE, APP_ROLE, READER, WRITER } from './connect.ts';

/** Who may come in, from where, and to which database. */
export interface HbaRule {
  database: string;
  user: string;
  /** CIDR, `samenet` for the server's own network, or `all`. */
  address: string;
  method: 'scram-sha-256' | 'reject';
}

/** The superuser from berth alone: an app that learned the password could still do nothing with it. */
export const adminRules = (gateway: string): HbaRule[] => [
  { database: 'all', user: ADMIN, address: `${gateway}/32`, method: 'scram-sha-256' },
  { database: 'all', user: ADMIN, address: 'all', method: 'reject' },
];

/** Apps reach the one database of theirs, from the network of their project; nobody matches for replication. */
export const datastoreRules = (gateway: string): HbaRule[] => [
  ...adminRules(gateway),
  { database: 'all', user: `${READER},${WRITER}`, address: 'samenet', method: 'scram-sha-256' },
  { database: APP_DATABASE, user: `+${APP_ROLE}`, address: 'samenet', method: 'scram-sha-256' },
  { database: 'all', user: 'all', address: 'all', method: 'reject' },
];

/** pg_hba.conf: the first rule that matches decides. Connections with and without TLS match alike. */
export const hbaFile = (rules: readonly HbaRule[]): string =>
  rules.map(({ database, user, address, method }) => `host ${database} ${user} ${address} ${method}\n`).join('');
