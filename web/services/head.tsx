import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { Operation } from '#modules/operations';
import type { ServiceDetail } from '#modules/services';
import { useProjectLive } from '../data/follow.ts';
import { operationsRead, serviceRead } from '../data/reads.ts';
import { KIND_NAMES, isOpen, statusOf } from '../deploys/kinds.ts';
import { to, type LocationName } from '../locations.ts';
import { isThere } from '../routes.tsx';
import { LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { LinkTabs, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Status } from '../ui/status.tsx';
import { Took } from '../ui/time.tsx';
import { ServiceActions } from './actions.tsx';
import { LiveUrl, ServiceStatus } from './parts.tsx';

export interface ServicePath {
  project: string;
  service: string;
}

const TABS = [
  ['service', 'Overview'],
  ['releases', 'Releases'],
  ['logs', 'Logs'],
  ['usage', 'Usage'],
  ['serviceSettings', 'Settings'],
] as const satisfies readonly (readonly [LocationName, string])[];

/** The frame of every page of a service: head, actions, what is under way, tabs. `children` get the service. */
export const ServiceFrame = ({
  project,
  service,
  children,
}: ServicePath & { children: (detail: ServiceDetail) => ReactNode }) => {
  const { data, error, refetch } = useQuery(serviceRead(project, service));
  const { data: operations = [] } = useQuery(operationsRead({ project, service, limit: 10 }));
  const [path] = useLocation();
  useProjectLive(project);
  if (data === undefined && error !== null)
    return (
      <>
        <PageHead title={service} crumbs={[{ label: project, to: to('project', { project }) }]} />
        <ErrorCard
          error={error}
          onRetry={() => void refetch()}
          actions={<LinkButton to={to('project', { project })}>To the project</LinkButton>}
        />
      </>
    );
  if (data === undefined) return <SkeletonLines lines={6} />;
  const under = operations.find(isOpen);
  return (
    <>
      <PageHead
        title={service}
        crumbs={[{ label: project, to: to('project', { project }) }]}
        beside={<ServiceStatus status={data.status} />}
        below={data.live_release === null ? 'Nothing is live yet' : <LiveUrl url={data.service_url} />}
        actions={<ServiceActions service={data} />}
      />
      {under !== undefined && <UnderWay operation={under} />}
      <LinkTabs
        label="Service"
        current={path}
        tabs={TABS.filter(([name]) => isThere(name)).map(([name, label]) => ({
          label,
          to: to(name, { project, service }),
        }))}
      />
      {children(data)}
    </>
  );
};

/** What is being done to the service right now. */
const UnderWay = ({ operation }: { operation: Operation }) => {
  const { tone, word } = statusOf(operation);
  return (
    <Link href={to('operation', { operation: operation.operation_id })} className="under-way">
      <Status tone={tone}>
        {KIND_NAMES[operation.kind]}: {word}
      </Status>
      <span className="quiet small">
        <Took from={operation.started_at ?? operation.created_at} to={null} />
      </span>
      <span className="grow" />
      <span>Watch it</span>
    </Link>
  );
};
