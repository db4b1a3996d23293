import { invalidInput, type BerthError } from '#kernel/errors';
import { isName } from '#kernel/schema';

export type Topic =
  | { kind: 'projects' | 'operations' | 'admin' }
  | { kind: 'project' | 'events'; project: string }
  | { kind: 'operation'; id: string }
  | { kind: 'logs' | 'usage'; project: string; service: string };

/** A topic that a reader asks for, as it is written, and where it goes on. */
export interface Wanted {
  name: string;
  topic: Topic;
  /** Undefined for a start at the usual place. */
  cursor: number | undefined;
}

/** What a page shows at once is a handful. */
const MOST = 50;

const RULE =
  'topics are projects, operations, admin, project:<project>, events:<project>, operation:<id>, logs:<project>/<service>, usage:<project>/<service>; after an @ the cursor that a topic goes on after';

/** Reads the list of topics; of one that is named twice the last counts. */
export const readTopics = (text: string, lastEventId: string | undefined): Wanted[] => {
  const parts = text.split(',').filter((part) => part !== '');
  if (parts.length === 0) throw invalidInput('query.topics names no topic', RULE);
  if (parts.length > MOST) throw invalidInput(`query.topics names more than ${MOST} topics`, 'open several streams');
  const wanted = new Map(parts.map((part) => readTopic(part)).map((topic) => [topic.name, topic]));
  const last = lastEventId === undefined ? undefined : readTopic(lastEventId);
  if (last !== undefined && wanted.has(last.name)) wanted.set(last.name, last);
  return [...wanted.values()];
};

const readTopic = (part: string): Wanted => {
  const at = part.indexOf('@');
  const name = at === -1 ? part : part.slice(0, at);
  const topic = topicOf(name);
  if (topic === undefined) throw unknown(name);
  return { name, topic, cursor: at === -1 ? undefined : readCursor(part.slice(at + 1)) };
};

const topicOf = (name: string): Topic | undefined => {
  if (name === 'projects' || name === 'operations' || name === 'admin') return { kind: name };
  const [, kind = '', project = '', , service] = /^([a-z]+):([^/]+)(\/(.+))?$/.exec(name) ?? [];
  if (kind === 'operation' && service === undefined && /^op_[0-9a-z]{1,40}$/.test(project))
    return { kind, id: project };
  if (!isName(project)) return undefined;
  if ((kind === 'project' || kind === 'events') && service === undefined) return { kind, project };
  if ((kind === 'logs' || kind === 'usage') && service !== undefined && isName(service))
    return { kind, project, service };
  return undefined;
};

const readCursor = (text: string): number => {
  const cursor = Number(text);
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(cursor)) return cursor;
  throw invalidInput(
    `"${text.slice(0, 40)}" is no cursor of this API`,
    'send the last cursor that the topic’s events had, or none',
  );
};

const unknown = (name: string): BerthError => invalidInput(`query.topics: "${name.slice(0, 80)}" is no topic`, RULE);
