import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { Event } from '#modules/events';
import type { LogLine } from '#modules/logs';
import type { ServiceDetail } from '#modules/services';
import { at, call } from '../api.ts';
import { to } from '../locations.ts';
import { RollbackDialog } from '../services/rollback.tsx';
import { useMay } from '../session/session.ts';
import { stripAnsi } from '../ui/ansi.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { useNow } from '../ui/time.tsx';
import { troubleOf, type Trouble } from './trouble.ts';

interface TroubleCardProps {
  service: ServiceDetail;
  /** Shown when nothing is known to have fallen. */
  otherwise: ReactNode;
}

/** Why a service is down or keeps falling: cause, its last words, and the next step. */
export const TroubleCard = ({ service, otherwise }: TroubleCardProps) => {
  const { project, name } = service;
  const { data: ends = [] } = useQuery(replicaEventsRead(project, name));
  const trouble = troubleOf(service, ends, useNow());
  if (trouble === undefined) return otherwise;
  return <TroubleDetails service={service} trouble={trouble} />;
};

const TroubleDetails = ({ service, trouble }: { service: ServiceDetail; trouble: Trouble }) => {
  const { project, name } = service;
  const { code, message, hint, replica, oom } = trouble;
  const { data: words } = useQuery(lastWordsRead({ project, service: name, replica }));
  const may = useMay();
  const [rollingBack, setRollingBack] = useState(false);
  const logs = `${to('logs', { project, service: name })}?${new URLSearchParams({ replica }).toString()}`;
  return (
    <>
      <ErrorCard
        error={{
          code,
          message,
          hint,
          retryable: false,
          ...(words !== undefined && words !== '' && { log_tail: words }),
        }}
        actions={
          <span className="row wrap">
            <LinkButton to={logs} icon="logs">
              Its log
            </LinkButton>
            {oom && may('deploy') && (
              <LinkButton to={to('serviceSettings', { project, service: name })} look="primary">
                Raise the limit
              </LinkButton>
            )}
            {!oom && service.previous_release !== null && may('deploy') && (
              <Button icon="rollback" look="primary" onClick={() => setRollingBack(true)}>
                Roll back
              </Button>
            )}
          </span>
        }
      />
      {rollingBack && <RollbackDialog service={service} onClose={() => setRollingBack(false)} />}
    </>
  );
};

/** Under the service's key: what changes the service asks for these again. */
const replicaEventsRead = (project: string, service: string) =>
  queryOptions({
    queryKey: ['service', project, service, 'replica events'],
    queryFn: async ({ signal }) => {
      const reply = await call<{ events: Event[] }>('GET', at('events'), {
        signal,
        query: { project, kind: 'replica', limit: 100 },
      });
      return reply.events.filter(({ data }) => data['service'] === service);
    },
  });

const LAST_WORDS = 20;

const lastWordsRead = ({ project, service, replica }: { project: string; service: string; replica: string }) =>
  queryOptions({
    queryKey: ['service', project, service, 'last words', replica],
    queryFn: async ({ signal }) => {
      const path = at('projects', project, 'services', service, 'logs', 'search');
      const query = { replica, limit: LAST_WORDS, order: 'newest' };
      const { lines } = await call<{ lines: LogLine[] }>('GET', path, { signal, query });
      return lines
        .map(({ line }) => stripAnsi(line))
        .reverse()
        .join('\n');
    },
  });
