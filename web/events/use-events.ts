import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Event } from '#modules/events';
import { at, send } from '../api.ts';
import { useLive } from '../live.ts';
import { createSseParser } from '../sse.ts';

export interface EventFilter {
  /** A kind, or its first part. */
  kind: string;
  actor: string;
}

const FIRST = 200;
/** What the server gives out at once. */
const MOST = 5000;
const STEP = 5;

/** The newest events of a project: one bounded request, which does not stay open. */
const readEvents = async (project: string, tail: number, signal: AbortSignal): Promise<Event[]> => {
  const response = await send('GET', at('projects', project, 'events'), { signal, query: { tail, follow: false } });
  const events: Event[] = [];
  createSseParser(({ data }) => events.push(JSON.parse(data) as Event))(await response.text());
  return events;
};

/** Events of a project, newest first; more of the past on demand, new ones as they happen. */
export const useEvents = (project: string, filter: EventFilter) => {
  const [tail, setTail] = useState(FIRST);
  const [fresh, setFresh] = useState<readonly Event[]>([]);
  const query = useQuery({
    queryKey: ['events', project, tail],
    queryFn: ({ signal }) => readEvents(project, tail, signal),
    placeholderData: keepPreviousData,
  });
  useLive(`events:${project}`, (events) => {
    const came = events.flatMap((each) => (each.kind === 'event' ? [each.event] : []));
    if (came.length > 0) setFresh((before) => [...before, ...came]);
  });
  const stored = query.data ?? [];
  const all = merge(stored, fresh);
  return {
    ...query,
    all,
    events: all.filter((event) => fits(event, filter)),
    hasEarlier: stored.length >= tail && tail < MOST,
    /** The list ends here, although there may be more. */
    isCut: stored.length >= MOST,
    earlier: () => setTail(Math.min(MOST, tail * STEP)),
  };
};

export const fits = (event: Pick<Event, 'kind' | 'actor'>, { kind, actor }: EventFilter): boolean =>
  (kind === '' || event.kind === kind || event.kind.startsWith(`${kind}.`)) && (actor === '' || event.actor === actor);

/** Newest first, each once. A live one older than what is stored belongs to the past that is not shown. */
export const merge = (stored: readonly Event[], fresh: readonly Event[]): Event[] => {
  const oldest = stored[0]?.seq ?? 0;
  const all = new Map([...stored, ...fresh.filter(({ seq }) => seq >= oldest)].map((event) => [event.seq, event]));
  return [...all.values()].sort((a, b) => b.seq - a.seq);
};
