import { DatabaseError } from 'pg';
import { BerthError, conflict, invalidInput, messageOf } from '#kernel/errors';
import { onlyReads } from '../only-reads.ts';

/**
 * Classes and codes of SQLSTATE (Postgres, appendix A) that are no fault of a statement: connection exceptions, insufficient
 * resources, the server starting, stopping or out of order.
 */
const SERVER_CLASSES = new Set(['08', '53', '57', '58', 'F0', 'XX']);
const CANCELLED = '57014';
const DISK_FULL = '53100';
const OUT_OF_MEMORY = '53200';
const TOO_MANY_CONNECTIONS = '53300';
const WRONG_PASSWORD = '28P01';
const CANNOT_CONNECT_NOW = '57P03';
const DEPENDENT_OBJECTS = '2BP01';
const READ_ONLY = '25006';
const NOT_ALLOWED = '42501';
/** Serialization failure, deadlock, lock not available: the same statement may pass when sent again. */
const COLLISIONS = new Set(['40001', '40P01', '55P03']);

/** The SQLSTATE of whatever was thrown, if Postgres itself said no. */
export const sqlState = (thrown: unknown): string | undefined =>
  thrown instanceof DatabaseError ? thrown.code : undefined;

/** A password that the server does not take: of a role that is not yet what it should be. */
export const isWrongPassword = (thrown: unknown): boolean =>
  thrown instanceof BerthError ? isWrongPassword(thrown.cause) : sqlState(thrown) === WRONG_PASSWORD;

/** A server that is there, but starting, recovering from a crash, or stopping. */
export const isStarting = (thrown: unknown): boolean =>
  thrown instanceof BerthError ? isStarting(thrown.cause) : sqlState(thrown) === CANNOT_CONNECT_NOW;

/** A role that cannot be dropped because something depends on it. */
export const isDependedOn = (thrown: unknown): boolean => sqlState(thrown) === DEPENDENT_OBJECTS;

/** What went wrong in a statement of berth's own. `what` reads as in "Postgres could not <what>". */
export const postgresFailure = (what: string, thrown: unknown): BerthError => {
  if (thrown instanceof BerthError) return thrown;
  const state = sqlState(thrown);
  if (state === undefined) return unreachable(what, thrown);
  if (state === DISK_FULL) return diskFull(what, thrown);
  if (state === CANCELLED) return late(what, thrown);
  if (COLLISIONS.has(state)) {
    return conflict(
      `Postgres could not ${what}: ${messageOf(thrown)}`,
      'another session holds it: send it again',
      true,
    );
  }
  return new BerthError('INTERNAL_ERROR', `Postgres could not ${what}: ${messageOf(thrown)}`, {
    hint: HINTS[state] ?? 'send it again; if it persists, look at the log of the datastore',
    retryable: SERVER_CLASSES.has(state.slice(0, 2)) && state !== WRONG_PASSWORD,
    cause: thrown,
  });
};

/** What went wrong in a statement that a user wrote: INVALID_INPUT in Postgres's own words, unless the server is at fault. */
export const statementFailure = (thrown: unknown): BerthError => {
  if (thrown instanceof BerthError) return thrown;
  const state = sqlState(thrown);
  if (state === CANCELLED) {
    return new BerthError('TIMEOUT', 'the statement was cancelled because it took too long', {
      hint: 'make it touch less (an index, a narrower WHERE, a LIMIT), or allow it more time',
      cause: thrown,
    });
  }
  if (state !== undefined && COLLISIONS.has(state)) return conflict(words(thrown), 'send it again', true);
  if (state === undefined || SERVER_CLASSES.has(state.slice(0, 2))) {
    return postgresFailure('run the statement', thrown);
  }
  if (state === READ_ONLY) return onlyReads(words(thrown), thrown);
  return invalidInput(words(thrown), hintOf(thrown, state));
};

/** The caller went away, or berth stops. */
export const aborted = (what: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `gave up waiting for Postgres to ${what}: the request was cancelled`, {
    hint: 'send the request again',
    retryable: true,
    cause,
  });

const HINTS: Record<string, string> = {
  [TOO_MANY_CONNECTIONS]: 'its apps hold all connections: let them use pools, or raise the memory of the datastore',
  [OUT_OF_MEMORY]: 'raise the memory of the datastore, or make the statement touch less',
  [WRONG_PASSWORD]: 'berth is not let in: if the password of the superuser was changed by hand, delete and restore it',
};

const unreachable = (what: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `Postgres did not answer, so berth could not ${what}: ${messageOf(cause)}`, {
    hint: 'it may be starting or overloaded: send it again in some seconds, and look at the log of the datastore',
    retryable: true,
    cause,
  });

const late = (what: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `Postgres took too long to ${what}`, {
    hint: 'it is overloaded, or a long transaction is in the way: send it again later',
    retryable: true,
    cause,
  });

const diskFull = (what: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `Postgres could not ${what}: the disk of the server is full`, {
    hint: 'free disk space on the server (see: berth doctor), then send it again',
    retryable: true,
    httpStatus: 507,
    cause,
  });

/** Message, detail and place, in the order in which psql shows them. */
const words = (thrown: unknown): string => {
  if (!(thrown instanceof DatabaseError)) return messageOf(thrown);
  const { message, detail, position, code } = thrown;
  const place = position === undefined ? '' : ` at character ${position}`;
  return `${message}${place} (SQLSTATE ${code})${detail === undefined ? '' : `. ${detail}`}`;
};

const hintOf = (thrown: unknown, state: string): string => {
  if (thrown instanceof DatabaseError && thrown.hint !== undefined) return thrown.hint;
  if (state === NOT_ALLOWED) return 'roles of apps are no superusers: use what the owner of a database may use';
  return 'correct the statement';
};
