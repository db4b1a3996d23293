import type { Document } from 'bson';
import type { Clock } from '#kernel/clock';
import { BerthError, invalidInput } from '#kernel/errors';
import type { QueryRequest, QueryResult } from '../port.ts';
import { isChange, parseCommand, wantedRows, type Command } from './command.ts';
import { noAnswer, ReplyTooLarge, writeFailure } from './failures.ts';
import { numberOf } from './frames.ts';
import { tabular } from './tabular.ts';
import type { Reply, Wire } from './wire.ts';

/** Documents of the first batch: few, because nothing is known yet about their size, and FerretDB builds it in its memory. */
const FIRST_BATCH = 8;
/** What a further batch should weigh. */
const BATCH_BYTES = 512 * 1024;
const MAX_BATCH = 1000;

/** How much later than FerretDB, which ends some commands itself, the console gives up. */
const GRACE_MS = 1500;

export interface QueryDeps {
  clock: Clock;
  /** A connection logged in as the role that may do what the request says. */
  open(signal: AbortSignal): Promise<Wire>;
  /**
   * Ends what the datastore still does for a command that began so many milliseconds ago: FerretDB does not notice that a
   * client has gone before it has carried out the command.
   */
  cancel(elapsedMs: number): Promise<void>;
}

type Answer = Pick<QueryResult, 'columns' | 'rows' | 'row_count' | 'truncated'>;

/** Runs one command of a console. What it is refused for is said before anything is connected. */
export const runQuery = async (deps: QueryDeps, request: QueryRequest): Promise<QueryResult> => {
  if (request.params.length > 0) {
    throw invalidInput('a Mongo command has no parameters', 'write the values into the command, as extended JSON');
  }
  const command = parseCommand(request.query, request);
  const signal = AbortSignal.any([
    AbortSignal.timeout(request.timeoutMs + GRACE_MS),
    ...(request.signal === undefined ? [] : [request.signal]),
  ]);
  const wire = await openInTime(deps, request, signal);
  const startedAt = deps.clock.monotonic();
  try {
    const answer = await answerOf(wire, command, request);
    return { ...answer, duration_ms: Math.round((deps.clock.monotonic() - startedAt) * 1000) / 1000 };
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    await deps.cancel(deps.clock.monotonic() - startedAt);
    throw isChange(command) ? unclear(thrown) : thrown;
  } finally {
    // The server closes the cursors of a connection with it.
    wire.close();
  }
};

/** A datastore that does not let in within the time of a command does not answer; the command itself was not sent. */
const openInTime = async (deps: QueryDeps, request: QueryRequest, signal: AbortSignal): Promise<Wire> => {
  try {
    return await deps.open(signal);
  } catch (thrown) {
    throw signal.aborted && request.signal?.aborted !== true ? noAnswer(thrown) : thrown;
  }
};

/** One that was given up half-way may have been carried out. */
const unclear = (cause: unknown): BerthError =>
  new BerthError('TIMEOUT', 'the command did not end in time: some or all of it may have been carried out', {
    hint: 'look at the data before you send it again; make it touch less, or allow it more time',
    cause,
  });

const answerOf = async (wire: Wire, command: Command, caps: QueryRequest): Promise<Answer> => {
  if (command.shape === 'cursor') return await readCursor(wire, command, caps);
  const { document } = await whole(wire, command, caps.maxBytes);
  if (command.shape === 'count') return rowsOf([{ count: document['n'] }]);
  if (command.shape === 'values') return valuesOf(document['values'], caps.maxRows);
  if (command.shape === 'document') return rowsOf(isDocument(document['value']) ? [document['value']] : []);
  return { columns: [], rows: [], row_count: changedBy(document), truncated: false };
};

/** A reply that comes in one piece cannot be cut short. */
const whole = async (wire: Wire, command: Command, maxBytes: number): Promise<Reply> => {
  try {
    return await wire.call(command.document, maxBytes);
  } catch (thrown) {
    if (!(thrown instanceof ReplyTooLarge)) throw thrown;
    throw invalidInput(
      `the reply has ${thrown.bytes} bytes, more than the ${maxBytes} that a console reads`,
      'narrow the query, or use find or aggregate, whose rows come up to the cap',
    );
  }
};

const readCursor = async (wire: Wire, command: Command, caps: QueryRequest): Promise<Answer> => {
  const wanted = Math.min(wantedRows(command) ?? Infinity, caps.maxRows + 1);
  const documents: Document[] = [];
  let bytes = 0;
  let next: Document | undefined = firstOf(command, wanted);
  while (next !== undefined) {
    const reply = await part(wire, next, caps.maxBytes - bytes);
    if (reply === undefined) return cut(documents, caps.maxRows, true);
    bytes += reply.bytes;
    const cursor: unknown = reply.document['cursor'];
    if (!isDocument(cursor)) break;
    documents.push(...batchOf(cursor));
    next =
      documents.length >= wanted ? undefined : moreOf(cursor, command, sizeOfNext(wanted, documents.length, bytes));
  }
  return cut(documents, caps.maxRows, false);
};

/** One batch; undefined when it is larger than what may still be read. */
const part = async (wire: Wire, document: Document, maxBytes: number): Promise<Reply | undefined> => {
  try {
    return await wire.call(document, maxBytes);
  } catch (thrown) {
    if (thrown instanceof ReplyTooLarge) return undefined;
    throw thrown;
  }
};

const firstOf = ({ name, document }: Command, wanted: number): Document => {
  const batchSize = Math.min(FIRST_BATCH, wanted);
  return name === 'find' ? { ...document, limit: wanted, batchSize } : { ...document, cursor: { batchSize } };
};

const moreOf = (cursor: Document, { document }: Command, batchSize: number): Document | undefined => {
  const id: unknown = cursor['id'];
  if ((numberOf(id) ?? 0) === 0) return undefined;
  const namespace = String(cursor['ns']);
  return { getMore: id, collection: namespace.slice(namespace.indexOf('.') + 1), batchSize, $db: document['$db'] };
};

const sizeOfNext = (wanted: number, have: number, bytes: number): number => {
  const bytesEach = Math.max(1, Math.ceil(bytes / Math.max(1, have)));
  return Math.max(1, Math.min(MAX_BATCH, wanted - have, Math.floor(BATCH_BYTES / bytesEach)));
};

const cut = (documents: Document[], maxRows: number, truncated: boolean): Answer => ({
  ...rowsOf(documents.slice(0, maxRows)),
  truncated: truncated || documents.length > maxRows,
});

const rowsOf = (documents: readonly Document[]): Answer => ({
  ...tabular(documents),
  row_count: documents.length,
  truncated: false,
});

const valuesOf = (values: unknown, maxRows: number): Answer =>
  cut(Array.isArray(values) ? values.map((value: unknown) => ({ value })) : [], maxRows, false);

const batchOf = (cursor: Document): Document[] => {
  const batch: unknown = cursor['firstBatch'] ?? cursor['nextBatch'];
  return Array.isArray(batch) ? batch.filter(isDocument) : [];
};

/** Documents that were inserted, changed, or deleted; upserts count as changed. Throws when a single one was refused. */
const changedBy = (reply: Document): number => {
  const upserted: unknown = reply['upserted'];
  const changed =
    (numberOf(reply['nModified']) ?? numberOf(reply['n']) ?? 0) + (Array.isArray(upserted) ? upserted.length : 0);
  const errors: unknown = reply['writeErrors'];
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  if (isDocument(first)) throw writeFailure(first, changed);
  return changed;
};

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
