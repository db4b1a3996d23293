import type { Document } from 'bson';
import { BerthError, conflict, invalidInput } from '#kernel/errors';
import { numberOf } from './frames.ts';

/** Codes of MongoDB's errors that say something to berth. https://www.mongodb.com/docs/manual/reference/error-codes/ */
const INTERNAL_ERROR = 1;
const AUTHENTICATION_FAILED = 18;
const MAX_TIME_EXPIRED = 50;
const COMMAND_NOT_FOUND = 59;
const NOT_IMPLEMENTED = 238;

/** A reply is larger than what the caller is willing to read; the connection is gone. */
export class ReplyTooLarge extends Error {
  readonly bytes: number;

  constructor(bytes: number) {
    super(`the reply has ${bytes} bytes`);
    this.name = 'ReplyTooLarge';
    this.bytes = bytes;
  }
}

/** What the server said to a command: INVALID_INPUT in its own words, unless it is at fault itself. */
export const commandFailure = (reply: Document): BerthError => {
  const code = numberOf(reply['code']) ?? INTERNAL_ERROR;
  const said = wordsOf(reply['errmsg']);
  const cause = new Error(`${said} (${code})`);
  if (code === AUTHENTICATION_FAILED) return notLetIn(cause);
  if (code === MAX_TIME_EXPIRED || /statement timeout|57014/.test(said)) return late(cause);
  if (code === INTERNAL_ERROR) return backendFailure(said, cause);
  const name = typeof reply['codeName'] === 'string' ? reply['codeName'] : String(code);
  return invalidInput(`${said} (${name})`, hintOf(code));
};

/** Errors of single documents come in a reply that is `ok`; what was written before them stays written. */
export const writeFailure = (error: Document, written: number): BerthError => {
  const index = numberOf(error['index']) ?? 0;
  return invalidInput(
    `${wordsOf(error['errmsg'])} (entry ${index}; documents changed before it: ${written})`,
    'what was changed before the error stays changed: correct the rest and send that',
  );
};

/** The connection failed: nothing listens, it was cut, or what answers is something else. */
export const noAnswer = (cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', 'the datastore did not answer', {
    hint: 'it may be starting or overloaded: send it again in some seconds, and look at the log of the datastore',
    retryable: true,
    cause,
  });

/** A signal ended the wait: a deadline, or the caller went away. */
export const timedOut = (reason: unknown): BerthError =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? late(reason)
    : new BerthError('INTERNAL_ERROR', 'gave up waiting for the datastore: the request was cancelled', {
        hint: 'send the request again',
        retryable: true,
        cause: reason,
      });

const late = (cause: unknown): BerthError =>
  new BerthError('TIMEOUT', 'the command was cancelled because it took too long', {
    hint: 'make it touch less (a narrower filter, a limit), or allow it more time',
    cause,
  });

const notLetIn = (cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', 'the datastore does not let berth in', {
    hint: 'it may be starting: send it again in some seconds; if it persists, look at the log of the datastore',
    retryable: true,
    cause,
  });

/** FerretDB passes on what its Postgres said as code 1, with the places of its own source before it. */
const backendFailure = (said: string, cause: unknown): BerthError => {
  if (/SQLSTATE (42501|25006)/.test(said)) {
    return invalidInput(
      'this session may only read',
      'ask for a write, which needs manage_datastores; if that was one, the datastore is above its storage limit',
    );
  }
  if (/SQLSTATE 28/.test(said)) return notLetIn(cause);
  if (/SQLSTATE (55P03|40P01|40001)/.test(said)) {
    return conflict(
      'another session, or a backup that is being made, holds the collection',
      'send it again later',
      true,
    );
  }
  if (/SQLSTATE 53100/.test(said)) return diskFull(cause);
  return new BerthError('INTERNAL_ERROR', `the datastore could not carry out the command: ${said}`, {
    hint: 'send it again; if it persists, look at the log of the datastore',
    retryable: true,
    cause,
  });
};

const diskFull = (cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', 'the disk of the server is full', {
    hint: 'free disk space on the server (see: berth doctor), then send it again',
    retryable: true,
    httpStatus: 507,
    cause,
  });

const hintOf = (code: number): string => {
  if (code === COMMAND_NOT_FOUND || code === NOT_IMPLEMENTED) {
    return 'this is FerretDB 1.24: what it has is in https://docs.ferretdb.io/v1.24/reference/supported-commands/';
  }
  return 'correct the command';
};

/** Without the places in FerretDB's source that some messages begin with: `[msg_find.go:97 handler.(*Handler).MsgFind] …`. */
const wordsOf = (message: unknown): string =>
  typeof message === 'string' && message !== ''
    ? message.replace(/^(?:\[[^\]]*\.go:[^\]]*\] )+/, '')
    : 'the datastore refused the command';
