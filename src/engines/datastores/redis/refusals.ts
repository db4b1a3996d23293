import { type BerthError, invalidInput } from '#kernel/errors';

const TUNNEL = 'open a tunnel with "berth db tunnel" and use redis-cli there';

/** Why a console does not take some commands, and what to do instead. The users' rights refuse most of them as well. */
const REASONS = {
  server: ['belongs to the server, which berth manages', 'change the datastore itself: its version, memory and limits'],
  users: ['changes who may connect, which berth manages', 'POST …/rotate gives apps new credentials'],
  disk: ['belongs to the server, which berth manages', 'create a backup of the datastore'],
  replication: ['copies data between servers, which berth does by backups', 'create a backup of the datastore'],
  listening: ['goes on answering, and a query has one answer', TUNNEL],
  blocking: [
    'waits for other clients, and a query must not',
    'use the form that does not block, such as LPOP for BLPOP',
  ],
  session: ['changes the session, and each query is a session of its own', TUNNEL],
  transaction: ['needs several commands in one session', `use a script (EVAL), or ${TUNNEL}`],
  keys: [
    'reads every key at once and stops the apps meanwhile',
    'list the tables of the datastore, or use SCAN 0 MATCH …',
  ],
} as const;

type Reason = keyof typeof REASONS;

const REFUSED: Record<Reason, string> = {
  server: 'CONFIG DEBUG MODULE SHUTDOWN LATENCY SLOWLOG COMMANDLOG PFDEBUG PFSELFTEST',
  users: 'ACL',
  disk: 'SAVE BGSAVE BGREWRITEAOF LASTSAVE',
  replication: 'REPLICAOF SLAVEOF SYNC PSYNC REPLCONF FAILOVER CLUSTER MIGRATE RESTORE-ASKING ROLE',
  listening: 'MONITOR SUBSCRIBE PSUBSCRIBE SSUBSCRIBE UNSUBSCRIBE PUNSUBSCRIBE SUNSUBSCRIBE',
  blocking: 'BLPOP BRPOP BRPOPLPUSH BLMOVE BLMPOP BZPOPMIN BZPOPMAX BZMPOP WAIT WAITAOF',
  session: 'AUTH HELLO RESET QUIT SELECT CLIENT READONLY READWRITE ASKING',
  transaction: 'MULTI EXEC DISCARD WATCH UNWATCH',
  keys: 'KEYS',
};

const REASON_OF = new Map<string, Reason>(
  (Object.keys(REFUSED) as Reason[]).flatMap((reason) =>
    REFUSED[reason].split(' ').map((command): [string, Reason] => [command, reason]),
  ),
);

/** The name of a command, in capitals. */
export const nameOf = (command: readonly Buffer[]): string => (command[0]?.toString('latin1') ?? '').toUpperCase();

/** Why a console does not send this command; undefined when it does. */
export const refusalOf = (command: readonly Buffer[]): BerthError | undefined => {
  const name = nameOf(command);
  const reason = REASON_OF.get(name) ?? (blocks(name, command) ? 'blocking' : undefined);
  if (reason === undefined) return undefined;
  const [why, hint] = REASONS[reason];
  return invalidInput(`a query can't use ${name}: it ${why}`, hint);
};

/** How many words each option of XREAD and XREADGROUP has; keys follow `STREAMS`, and may have any name. */
const OPTION_WORDS: Record<string, number> = { COUNT: 2, GROUP: 3, NOACK: 1, CLAIM: 2 };

const blocks = (name: string, command: readonly Buffer[]): boolean => {
  if (name !== 'XREAD' && name !== 'XREADGROUP') return false;
  let at = 1;
  for (;;) {
    const option = (command[at]?.toString('latin1') ?? '').toUpperCase();
    if (option === 'BLOCK') return true;
    const words = OPTION_WORDS[option];
    if (words === undefined) return false;
    at += words;
  }
};

const SCRIPTS = new Set(['EVAL', 'EVALSHA', 'EVAL_RO', 'EVALSHA_RO', 'FCALL', 'FCALL_RO']);

/** Whether a command runs code of its own, which may go on for ever. */
export const runsScript = (command: readonly Buffer[]): boolean => SCRIPTS.has(nameOf(command));
