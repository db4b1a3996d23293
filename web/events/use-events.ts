import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Event } from '#modules/events';
import { at, call } from '../api.ts';
import { useLive } from '../live.ts';

interface EventFilter {
  /** A kind, or its first part. */
  kind: string;
  actor: string;
}

interface EventPage {
  events: Event[];
  next_cursor: string | null;
}

const PAGE = 200;

/**
 * Events newest first, more of the past on demand. Those of a project come in as they happen; without a project it is the
 * audit of all that the token may see.
 */
export const useEvents = (project: string | undefined, filter: EventFilter) => {
  const [fresh, setFresh] = useState<readonly Event[]>([]);
  const query = useInfiniteQuery({
    queryKey: ['events', project ?? '*', filter],
    queryFn: ({ signal, pageParam }) =>
      call<EventPage>('GET', at('events'), { signal, query: { project, ...filter, limit: PAGE, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
  useLive(project === undefined ? undefined : `events:${project}`, (events) => {
    const came = events.flatMap((each) => (each.kind === 'event' ? [each.event] : []));
    if (came.length > 0) setFresh((before) => [...before, ...came]);
  });
  const stored = query.data?.pages.flatMap((page) => page.events) ?? [];
  return { ...query, events: merge(stored, fresh).filter((event) => fits(event, filter)) };
};

export const fits = (event: Pick<Event, 'kind' | 'actor'>, { kind, actor }: EventFilter): boolean =>
  (kind === '' || event.kind === kind || event.kind.startsWith(`${kind}.`)) && (actor === '' || event.actor === actor);

/** Newest first, each once. A live one older than what is stored belongs to the past that is not shown. */
export const merge = (stored: readonly Event[], fresh: readonly Event[]): Event[] => {
  const oldest = stored.at(-1)?.seq ?? 0;
  const all = new Map([...stored, ...fresh.filter(({ seq }) => seq >= oldest)].map((event) => [event.seq, event]));
  return [...all.values()].sort((a, b) => b.seq - a.seq);
};
