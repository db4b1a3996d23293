import { BerthError, invalidInput } from '#kernel/errors';

/** The first word of an error of the server, such as `WRONGTYPE` or `LOADING`. */
export const codeOf = (message: string): string => /^[A-Z]+/.exec(message)?.[0] ?? 'ERR';

/** The connection failed: nothing listens, it was cut, or what answers is something else. */
export const noAnswer = (what: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `the datastore did not answer, so berth could not ${what}`, {
    hint: 'it may be starting or overloaded: send it again in some seconds, and look at the log of the datastore',
    retryable: true,
    cause,
  });

/** A signal ended the wait: a deadline, or the caller went away. */
export const gaveUp = (what: string, reason: unknown): BerthError =>
  reason instanceof DOMException && reason.name === 'TimeoutError'
    ? noAnswer(what, reason)
    : new BerthError('INTERNAL_ERROR', `berth did not ${what}: the request was cancelled`, {
        hint: 'send the request again',
        retryable: true,
        cause: reason,
      });

/** The server said no to something that berth itself asked for. `what` reads as in "the datastore could not <what>". */
export const refused = (what: string, message: string): BerthError =>
  new BerthError('INTERNAL_ERROR', `the datastore could not ${what}: ${message}`, {
    hint: HINTS[codeOf(message)] ?? 'send it again; if it persists, look at the log of the datastore',
    retryable: !FINAL.has(codeOf(message)),
    cause: new Error(message),
  });

/** What the server said to a command that a user wrote: INVALID_INPUT in its own words, unless it is at fault itself. */
export const commandFailure = (message: string): BerthError => {
  const code = codeOf(message);
  if (STATES.has(code)) return refused('run the command', message);
  return invalidInput(message, COMMAND_HINTS[code] ?? 'correct the command; https://valkey.io/commands/ has them all');
};

export const tooLate = (seconds: number, hint: string): BerthError =>
  new BerthError('TIMEOUT', `the command took longer than ${seconds} s`, { hint });

/** Errors that say how the server is, not what is wrong with the command. */
const STATES = new Set(['LOADING', 'BUSY', 'MISCONF', 'NOAUTH', 'WRONGPASS', 'MASTERDOWN', 'READONLY']);
const FINAL = new Set(['WRONGPASS', 'NOAUTH', 'NOPERM']);

const HINTS: Record<string, string> = {
  LOADING: 'it is reading its data from disk after a start: send it again in some seconds',
  BUSY: 'a script of an app keeps it busy: send it again; if it persists, restart the datastore',
  MISCONF: 'it could not write to disk: free disk space on the server (see: berth doctor)',
  WRONGPASS: 'berth is not let in: rotate the credentials of the datastore, which sets all its users anew',
};

const COMMAND_HINTS: Record<string, string> = {
  WRONGTYPE: 'TYPE <key> says what the key holds',
  OOM: 'the memory or the storage of the datastore is used up: delete keys, or raise its limit',
  NOSCRIPT: 'send the script itself with EVAL',
};
