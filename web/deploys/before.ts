import { queryOptions, useQuery } from '@tanstack/react-query';
import type { Event } from '#modules/events';
import type { Operation, Phase } from '#modules/operations';
import { at, call, send } from '../api.ts';
import { operationsRead } from '../data/reads.ts';
import { createSseParser } from '../sse.ts';
import type { PhaseMark } from './use-operation.ts';

/** The successful deploy of the same service before this one; undefined while it is read, null when there is none. */
export const useDeployBefore = ({
  project,
  service,
  kind,
  operation_id: id,
}: Operation): Operation | null | undefined => {
  const { data } = useQuery({
    ...operationsRead({ project, service, kind: 'deploy', status: 'succeeded', limit: 200 }),
    enabled: kind === 'deploy',
  });
  if (kind !== 'deploy') return null;
  return data === undefined ? undefined : (data.find((other) => other.operation_id < id) ?? null);
};

/** The phases of an operation that has ended, without its log. */
export const phasesRead = (id: string) =>
  queryOptions({
    queryKey: ['phases', id],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async ({ signal }) => {
      const response = await send('GET', at('operations', id, 'stream'), { signal, query: { logs: false } });
      const phases: PhaseMark[] = [];
      createSseParser(({ event, data }) => {
        if (event === 'phase') phases.push(JSON.parse(data) as PhaseMark);
      })(await response.text());
      return phases;
    },
  });

/** How long each phase took, in milliseconds; one that came again counts together. */
export const phaseLengths = (phases: readonly PhaseMark[], end: number): Map<Phase, number> => {
  const lengths = new Map<Phase, number>();
  for (const [index, { phase, ts }] of phases.entries()) {
    const until = phases[index + 1]?.ts;
    const ms = (until === undefined ? end : Date.parse(until)) - Date.parse(ts);
    lengths.set(phase, (lengths.get(phase) ?? 0) + Math.max(0, ms));
  }
  return lengths;
};

/** Kinds of events by which a service runs differently without a deploy of its own. */
const CHANGES: ReadonlySet<string> = new Set([
  'env.changed',
  'service.scaled',
  'service.updated',
  'service.rolled_back',
  'service.restarted',
]);

/** What was changed about a service between two of its deploys, oldest first. */
export const changesBetweenRead = (before: Operation, operation: Operation) =>
  queryOptions({
    queryKey: ['changes between', before.operation_id, operation.operation_id],
    queryFn: async ({ signal }) => {
      const { project, service } = operation;
      const reply = await call<{ events: Event[] }>('GET', at('events'), {
        signal,
        query: { project, since: before.created_at, until: operation.finished_at ?? undefined, limit: 200 },
      });
      return reply.events.filter((event) => concerns(event, service)).reverse();
    },
  });

export const concerns = ({ kind, data }: Pick<Event, 'kind' | 'data'>, service: string | null): boolean =>
  CHANGES.has(kind) && (kind === 'env.changed' || data['service'] === service);
