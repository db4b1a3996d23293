import { createHash } from 'node:crypto';
import type { Credential, DatastoreInstance } from '../port.ts';

/** berth's own users. Apps have one each by the name in their credential, and `default`. */
export const ADMIN = 'berth_admin';
export const READER = 'berth_reader';
export const WRITER = 'berth_writer';
export const DEFAULT_USER = 'default';

/** One user as the server should know it. https://valkey.io/topics/acl/ */
export interface AclUser {
  name: string;
  /** SHA-256 of its passwords: the container never gets the passwords themselves. */
  hashes: string[];
  rules: string;
}

/**
 * What no client needs and what would reach beyond the data: configuration, other users, replication, processes, files.
 * `SCRIPT DEBUG` forks the server for every session.
 */
const CLOSED = '-@admin -@dangerous -acl -script|debug';

/** Dangerous by category because they are slow or drop much, but they touch data only, which is the user's own. */
const OWN_DATA = '+flushdb +flushall +swapdb +sort +sort_ro +restore';

/**
 * Apps: all that is data, scripts, pub/sub, streams, transactions, blocking commands and their own connection. INFO and ROLE
 * are what clients ask before they call a server ready, CLIENT LIST and UNBLOCK what queues ask of their workers. CONFIG is
 * closed as it is with every managed service, GET included: libraries expect that.
 */
const APP = `~* &* +@all ${CLOSED} ${OWN_DATA} +keys +info +role +client|list +client|unblock +acl|whoami`;

/** Scripts are left out even where they only read: an endless one would stop the apps. So is KEYS. */
const READ =
  '~* +@read -@dangerous -@blocking +sort_ro +xread ' +
  '+ping +echo +time +info +select +command +pubsub|channels +pubsub|numsub +pubsub|numpat';

/** What waits or listens would hold a console up; XREAD and XREADGROUP do so only with BLOCK, which never gets here. */
const WAITING = '-@blocking +xread +xreadgroup -subscribe -psubscribe -ssubscribe';
const WRITE = `~* &* +@all ${CLOSED} ${OWN_DATA} +info ${WAITING}`;

/** Every user of an instance. Pure. */
export const aclUsers = (instance: DatastoreInstance): AclUser[] => [
  { name: ADMIN, hashes: [hashOf(instance.adminPassword)], rules: '~* &* +@all' },
  { name: READER, hashes: [hashOf(instance.readerPassword)], rules: READ },
  { name: WRITER, hashes: [hashOf(instance.writerPassword)], rules: WRITE },
  ...appUsers(instance.credentials),
];

/**
 * A user for each credential, so that dropping one ends exactly its sessions. `default` takes all their passwords: old
 * clients send a password without a name.
 */
const appUsers = (credentials: readonly Credential[]): AclUser[] => {
  const named = new Map<string, string[]>([[DEFAULT_USER, []]]);
  for (const { user, password } of credentials) {
    const hash = hashOf(password);
    for (const name of new Set([DEFAULT_USER, user])) named.set(name, [...(named.get(name) ?? []), hash]);
  }
  return Array.from(named, ([name, hashes]) => ({ name, hashes, rules: APP }));
};

/** The file that the server reads at its start. Pure. */
export const aclFile = (instance: DatastoreInstance): string =>
  aclUsers(instance)
    .map((user) => `user ${user.name} ${rulesOf(user).join(' ')}\n`)
    .join('');

/** Makes a user what it should be, whatever it was. */
export const setUser = (user: AclUser): string[] => ['ACL', 'SETUSER', user.name, 'reset', ...rulesOf(user)];

const rulesOf = ({ hashes, rules }: AclUser): string[] => [
  'on',
  ...hashes.map((hash) => `#${hash}`),
  ...rules.split(' '),
];

const hashOf = (password: string): string => createHash('sha256').update(password).digest('hex');
