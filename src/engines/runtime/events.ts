import type { Labels, RuntimeEvent } from './port.ts';

const ACTIONS = ['create', 'start', 'die', 'oom', 'kill', 'stop', 'destroy'] as const;
/** What Docker puts among an event's labels. */
const ATTRIBUTES = new Set(['image', 'name', 'exitCode', 'signal', 'execDuration', 'execID']);
const MAX_LINE_CHARACTERS = 1024 * 1024;

/** The query for `GET /events` that asks for containers with these labels. */
export const eventFilters = (labels: Labels): { filters: string } => ({
  filters: JSON.stringify({ type: ['container'], event: ACTIONS, label: labelFilter(labels) }),
});

/** Docker's form of "has all of these labels". */
export const labelFilter = (labels: Labels): string[] =>
  Object.entries(labels).map(([name, value]) => `${name}=${value}`);

/** Decodes Docker's event stream: one JSON object a line. */
export async function* decodeEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<RuntimeEvent, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARACTERS) throw new Error('Docker sent an event longer than 1 MiB');
    for (const line of lines) {
      const event = line.trim() === '' ? undefined : toEvent(JSON.parse(line) as RawEvent);
      if (event !== undefined) yield event;
    }
  }
}

interface RawEvent {
  Action?: string;
  Actor?: { ID?: string; Attributes?: Record<string, string> };
  timeNano?: number;
}

const toEvent = ({ Action, Actor, timeNano }: RawEvent): RuntimeEvent | undefined => {
  const action = ACTIONS.find((known) => known === Action);
  if (action === undefined || Actor?.ID === undefined) return undefined;
  const attributes = Object.entries(Actor.Attributes ?? {});
  const exitCode = Actor.Attributes?.exitCode;
  return {
    action,
    containerId: Actor.ID,
    labels: Object.fromEntries(attributes.filter(([name]) => !ATTRIBUTES.has(name))),
    exitCode: exitCode === undefined ? null : Number(exitCode),
    at: Math.floor((timeNano ?? 0) / 1e6),
  };
};
