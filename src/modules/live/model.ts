import type { ErrorBody } from '#kernel/errors';
import type { Event } from '#modules/events';
import type { LogLine } from '#modules/logs';
import type { Operation, OperationEvent } from '#modules/operations';
import type { ProjectTree } from '#modules/projects';
import type { Service } from '#modules/services';
import type { Capacity } from '#modules/system';
import type { Reading } from '#modules/usage';

/** A project as the overview shows it. */
export interface ProjectSummary extends Pick<ProjectTree, 'name' | 'state' | 'created_at'> {
  services: Pick<
    Service,
    'name' | 'status' | 'service_url' | 'replicas' | 'running_replicas' | 'live_release' | 'updated_at'
  >[];
  datastores: Pick<ProjectTree['datastores'][number], 'name' | 'kind' | 'status'>[];
  last_event: Event | null;
}

type EventOf<K extends OperationEvent['kind']> = Extract<OperationEvent, { kind: K }>['data'];

/** What each kind of event carries besides `topic` and `cursor`. */
interface Carried {
  project: { project: ProjectSummary };
  gone: { name: string };
  ready: object;
  state: { state: ProjectTree };
  event: { event: Event };
  operation: { operation: Operation };
  lines: { lines: (EventOf<'log'> | (LogLine & { seq: number }))[] };
  phase: { phase: EventOf<'phase'> };
  done: { done: EventOf<'done'> };
  usage: Reading;
  capacity: { capacity: Capacity };
  problem: { error: ErrorBody };
}

export type LiveKind = keyof Carried;

/** An event of `/v1/live`. `cursor` is what its topic goes on after. */
export type LiveEvent = { [K in LiveKind]: { kind: K; topic: string; cursor: string | null } & Carried[K] }[LiveKind];

const encoder = new TextEncoder();

/** One event as bytes, for any number of readers. */
export const frameOf = <K extends LiveKind>(
  kind: K,
  topic: string,
  cursor: string | null,
  data: Carried[K],
): Uint8Array => rawFrame(kind, topic, cursor, JSON.stringify(data).slice(1));

/** The same with the fields as JSON text, from behind the opening brace. */
export const rawFrame = (kind: LiveKind, topic: string, cursor: string | null, fields: string): Uint8Array => {
  const id = cursor === null ? '' : `id: ${topic}@${cursor}\n`;
  const head = `{"kind":"${kind}","topic":${JSON.stringify(topic)},"cursor":${JSON.stringify(cursor)}`;
  return encoder.encode(`${id}event: ${kind}\ndata: ${head}${fields === '}' ? '' : ','}${fields}\n\n`);
};
