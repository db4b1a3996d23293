import { EJSON, type Document } from 'bson';
import { invalidInput, messageOf } from '#kernel/errors';
import { MAX_DEPTH, numberOf } from './frames.ts';
import { bsonType } from './tabular.ts';
import { onlyReads } from '../only-reads.ts';
import { shellHint } from './shell-hint.ts';

/** How the reply of a command becomes rows. */
export type Shape = 'cursor' | 'values' | 'count' | 'document' | 'changes';

export interface Command {
  name: string;
  shape: Shape;
  /** What is sent: `$db` and the deadline included. */
  document: Document;
}

/** Commands that the console takes. The others are for administration, for drivers, or would go on without the console. */
const READS: Record<string, Shape> = {
  find: 'cursor',
  aggregate: 'cursor',
  listCollections: 'cursor',
  listIndexes: 'cursor',
  count: 'count',
  distinct: 'values',
};
const WRITES: Record<string, Shape> = {
  insert: 'changes',
  update: 'changes',
  delete: 'changes',
  findAndModify: 'document',
  create: 'changes',
  createIndexes: 'changes',
  dropIndexes: 'changes',
  drop: 'changes',
};

/** Set by berth alone: how much comes at once, and for how long. */
const OWN_FIELDS = ['batchSize', 'cursor', 'singleBatch', 'maxTimeMS'];
/** Cursors that wait for more documents, and sessions: one command has no use for them. */
const REFUSED_FIELDS = ['tailable', 'awaitData', 'noCursorTimeout', 'lsid', 'txnNumber', 'startTransaction'];
/** The commands that FerretDB ends by itself after `maxTimeMS`; others ignore it. */
const TIMED = new Set(['find', 'aggregate', 'findAndModify']);
const UNKNOWN_TYPES = new Set(['decimal', 'javascript', 'symbol', 'dbPointer', 'minKey', 'maxKey']);
const DEFAULT_DATABASE = 'app';

/** Reads one command, as (extended) JSON, and refuses whatever else was written. Pure. */
export const parseCommand = (query: string, options: { write: boolean; timeoutMs: number }): Command => {
  const document = parseDocument(query);
  const name = Object.keys(document)[0];
  if (name === undefined) throw invalidInput('the command is empty', whatWorks(options.write));
  const shape = shapeOf(name, options.write);
  const unwanted = REFUSED_FIELDS.find((field) => document[field] !== undefined);
  if (unwanted !== undefined) throw invalidInput(`a console has no use for ${unwanted}`, `leave ${unwanted} out`);
  if (!options.write) refuseWritingStages(document['pipeline']);
  refuseUnknownTypes(document);
  for (const field of OWN_FIELDS) delete document[field];
  return {
    name,
    shape,
    document: {
      ...document,
      $db: databaseOf(document['$db']),
      ...(TIMED.has(name) ? { maxTimeMS: options.timeoutMs } : {}),
    },
  };
};

export const isChange = ({ name }: Command): boolean => Object.hasOwn(WRITES, name);

/** The documents that the user asks for at most; undefined when not said. */
export const wantedRows = (command: Command): number | undefined => {
  if (command.name !== 'find') return undefined;
  const limit = numberOf(command.document['limit']);
  return limit === undefined || limit <= 0 ? undefined : limit;
};

const parseDocument = (query: string): Document => {
  const text = query.trim();
  const hint = shellHint(text);
  if (hint !== undefined) throw invalidInput('this is a line for a shell, not a command', hint);
  if (depthOf(text) > MAX_DEPTH) {
    throw invalidInput(`the command nests deeper than ${MAX_DEPTH} levels`, 'nest it less');
  }
  const parsed = parseJson(text);
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed) || '_bsontype' in parsed) {
    throw invalidInput('a command is one JSON object', whatWorks(true));
  }
  return { ...parsed };
};

/** Numbers keep the types that they are written with, so that `{"$numberLong": "5"}` stays a long. */
const parseJson = (text: string): unknown => {
  try {
    const parsed: unknown = EJSON.parse(text, { relaxed: false });
    return parsed;
  } catch (thrown) {
    throw invalidInput(
      `the command is no JSON: ${messageOf(thrown)}`,
      'write one command such as {"find": "users", "filter": {"age": {"$gt": 30}}, "limit": 10}, with keys in double quotes',
    );
  }
};

const shapeOf = (name: string, write: boolean): Shape => {
  const read = Object.hasOwn(READS, name) ? READS[name] : undefined;
  if (read !== undefined) return read;
  const change = Object.hasOwn(WRITES, name) ? WRITES[name] : undefined;
  if (change === undefined)
    throw invalidInput(`the console does not take the command ${quoted(name)}`, whatWorks(write));
  if (write) return change;
  throw onlyReads(`${name} changes data`);
};

const refuseWritingStages = (pipeline: unknown): void => {
  if (!Array.isArray(pipeline)) return;
  const stages = pipeline.flatMap((stage: unknown) =>
    typeof stage === 'object' && stage !== null ? Object.keys(stage) : [],
  );
  const writing = stages.find((stage) => stage === '$out' || stage === '$merge');
  if (writing !== undefined) {
    throw onlyReads(`the stage ${writing} changes data`);
  }
};

/** FerretDB 1.24 cuts the connection of who sends a value that it does not know, without a word. */
const refuseUnknownTypes = (value: unknown): void => {
  const type = bsonType(value);
  if (UNKNOWN_TYPES.has(type) || Number.isNaN(numberOf(value))) {
    throw invalidInput(
      `FerretDB 1.24 has no ${Number.isNaN(numberOf(value)) ? 'NaN' : type}`,
      'store a decimal as a string or a long, and leave out what has no number',
    );
  }
  if (type !== 'array' && type !== 'object') return;
  for (const inner of Object.values(value as object)) refuseUnknownTypes(inner);
};

const databaseOf = (value: unknown): string => {
  if (value === undefined) return DEFAULT_DATABASE;
  if (typeof value === 'string' && value !== '') return value;
  throw invalidInput('$db is not the name of a database', 'leave $db out for the database app, or write its name');
};

const whatWorks = (write: boolean): string => {
  const names = [...Object.keys(READS), ...(write ? Object.keys(WRITES) : [])].join(', ');
  return `commands that work: ${names}; such as {"find": "users", "filter": {}, "limit": 10}`;
};

const quoted = (name: string): string => JSON.stringify(name.length > 60 ? `${name.slice(0, 60)}…` : name);

/** How deep brackets nest outside of strings: looked at before anything recursive reads the text. */
const depthOf = (text: string): number => {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === '\\') at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === '{' || char === '[') deepest = Math.max(deepest, (depth += 1));
    else if (char === '}' || char === ']') depth -= 1;
  }
  return deepest;
};
