import type { Clock } from '#kernel/clock';
import { type BerthError, invalidInput } from '#kernel/errors';
import { onlyReads } from '../only-reads.ts';
import type { Cell, DatastoreInstance, QueryRequest, QueryResult } from '../port.ts';
import { WRITER } from './acl.ts';
import { splitCommandLine } from './command-line.ts';
import { codeOf, commandFailure, tooLate } from './failures.ts';
import { type Command, openLink, withLink } from './link.ts';
import { nameOf, refusalOf, runsScript } from './refusals.ts';
import { type Answer, textOf } from './resp.ts';
import { tableOf } from './table.ts';

const CONNECT_MS = 10_000;
/** The server hears nobody before its `busy-reply-threshold`, which is 5 s. */
const KILL_MS = 20_000;
const KILL_POLL_MS = 100;

/** Runs one command as the reader or the writer; the server itself enforces what either may do. */
export const query = async (clock: Clock, instance: DatastoreInstance, request: QueryRequest): Promise<QueryResult> => {
  const command = [...splitCommandLine(request.query), ...request.params.map(argumentOf)];
  const refusal = refusalOf(command);
  if (refusal !== undefined) throw refusal;
  const { answer, duration } = await run(clock, { instance, request, command });
  const { reply, truncated } = answer;
  if (reply.kind === 'error') throw await failureOf(instance, { request, command, message: reply.message });
  const { columns, rows } = tableOf(nameOf(command), reply);
  const kept = rows.slice(0, request.maxRows);
  const isCut = truncated || kept.length < rows.length;
  return { columns, rows: kept, row_count: kept.length, truncated: isCut, duration_ms: duration };
};

/** Strings go as they are; what else has one obvious text, by that. */
const argumentOf = (param: Cell): Buffer => {
  if (typeof param === 'string' || typeof param === 'number') return Buffer.from(String(param));
  throw invalidInput(
    'params are further arguments of the command: strings and numbers',
    'send JSON as a string if the value is JSON',
  );
};

interface Run {
  instance: DatastoreInstance;
  request: QueryRequest;
  command: Buffer[];
}

const run = async (
  clock: Clock,
  { instance, request, command }: Run,
): Promise<{ answer: Answer; duration: number }> => {
  const { signal = new AbortController().signal, timeoutMs } = request;
  const end = new AbortController();
  const connecting = AbortSignal.any([signal, end.signal, AbortSignal.timeout(CONNECT_MS + timeoutMs)]);
  const link = await openLink(instance, {
    as: request.write ? 'writer' : 'reader',
    what: 'run the command',
    signal: connecting,
  });
  const timer = setTimeout(() => end.abort(), timeoutMs);
  const began = clock.monotonic();
  try {
    const answer = await link.ask(command, { maxItems: request.maxRows, maxBytes: request.maxBytes });
    return { answer, duration: Math.round((clock.monotonic() - began) * 1000) / 1000 };
  } catch (error) {
    const gone = end.signal.aborted || signal.aborted;
    const left = gone && runsScript(command) ? await killScript(clock, instance) : 'nothing';
    throw end.signal.aborted ? tooLate(timeoutMs / 1000, LATE_HINTS[left]) : error;
  } finally {
    clearTimeout(timer);
    link.close();
  }
};

type Left = 'nothing' | 'stuck';

const LATE_HINTS: Record<Left, string> = {
  nothing: 'make it touch less (a range, a SCAN with COUNT), or allow it more time',
  stuck:
    "the script has written already, so it can't be ended: restart the datastore, which loses at most its last second",
};

/**
 * Ends the script that a console left behind. Whose script runs can't be asked while one does; but the server had just answered
 * this console, and did nothing else for others since.
 */
const killScript = (clock: Clock, instance: DatastoreInstance): Promise<Left> =>
  withLink(instance, { as: 'admin', what: 'end the script', timeoutMs: KILL_MS }, async (link) => {
    const end = clock.monotonic() + KILL_MS / 2;
    do {
      const said = textOf((await link.ask(['PING'])).reply);
      if (codeOf(said) !== 'BUSY') return 'nothing';
      for (const kill of [
        ['SCRIPT', 'KILL'],
        ['FUNCTION', 'KILL'],
      ]) {
        if (codeOf(textOf((await link.ask(kill)).reply)) === 'UNKILLABLE') return 'stuck';
      }
      // It ends at its next instruction, not with the answer.
      await clock.sleep(KILL_POLL_MS);
    } while (clock.monotonic() < end);
    return 'stuck';
  });

interface Refused {
  request: QueryRequest;
  command: Command;
  message: string;
}

const failureOf = async (instance: DatastoreInstance, { request, command, message }: Refused): Promise<BerthError> => {
  if (codeOf(message) !== 'NOPERM') return commandFailure(message);
  if (!request.write && (await writerMay(instance, command))) {
    return onlyReads(message);
  }
  return invalidInput(
    `consoles may not use this command: ${message}`,
    'it reaches beyond the data; berth has its own verbs for backups, limits and credentials',
  );
};

const writerMay = (instance: DatastoreInstance, command: Command): Promise<boolean> =>
  withLink(instance, { as: 'admin', what: 'check the command', timeoutMs: CONNECT_MS }, async (link) => {
    const { reply } = await link.ask(['ACL', 'DRYRUN', WRITER, ...command]);
    return reply.kind === 'status' && reply.text === 'OK';
  });
