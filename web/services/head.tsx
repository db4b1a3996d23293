import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { Operation } from '#modules/operations';
import type { ServiceDetail } from '#modules/services';
import { useProjectLive } from '../data/follow.ts';
import { operationsRead, serviceRead } from '../data/reads.ts';
import { KIND_NAMES, isOpen, statusOf } from '../deploys/kinds.ts';
import { to } from '../locations.ts';
import { reposRead } from '../repos/reads.ts';
import { useMay } from '../session/session.ts';
import { useShortcuts } from '../shell/shortcuts.ts';
import { CopyButton } from '../ui/code.tsx';
import { LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Icon } from '../ui/icons.tsx';
import { Empty, LinkTabs, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Status } from '../ui/status.tsx';
import { Took } from '../ui/time.tsx';
import { ServiceActions } from './actions.tsx';
import { LiveUrl, ServiceStatus } from './parts.tsx';
import { upSince } from './state.ts';
import { SERVICE_TABS } from './tabs.ts';

export interface ServicePath {
  project: string;
  service: string;
}

/** The frame of every page of a service: head, actions, what is under way, tabs. `children` get the service. */
export const ServiceFrame = ({
  project,
  service,
  children,
}: ServicePath & { children: (detail: ServiceDetail) => ReactNode }) => {
  const may = useMay();
  const allowed = may('read');
  const { data, error, refetch } = useQuery({ ...serviceRead(project, service), enabled: allowed });
  const tab = useTab({ project, service });
  const crumbs = [{ label: project, to: to('project', { project }) }];
  useProjectLive(project);
  if (!allowed || (data === undefined && error !== null))
    return (
      <>
        <PageHead title={service} crumbs={crumbs} />
        {allowed ? (
          <ErrorCard
            error={error}
            onRetry={() => void refetch()}
            actions={<LinkButton to={to('project', { project })}>To the project</LinkButton>}
          />
        ) : (
          <Empty icon="service" title="This token may not look at services">
            It lacks the capability “read”. Sign in with one that has it, or ask whoever minted it.
          </Empty>
        )}
      </>
    );
  return (
    <>
      <PageHead
        title={service}
        crumbs={crumbs}
        {...(tab.label !== 'Overview' && { section: tab.label })}
        beside={data !== undefined && <ServiceStatus status={data.status} />}
        below={data === undefined ? ' ' : <Where service={data} />}
        actions={data !== undefined && <ServiceActions service={data} />}
      />
      <UnderWay project={project} service={service} />
      <LinkTabs label="Service" current={tab.path} tabs={tab.tabs} />
      {data === undefined ? <SkeletonLines lines={6} /> : children(data)}
    </>
  );
};

/** The pages of a service, each by a key too. */
const useTab = ({ project, service }: ServicePath) => {
  const [path, navigate] = useLocation();
  const tabs = SERVICE_TABS.map(({ name, label, key }) => ({ label, key, to: to(name, { project, service }) }));
  useShortcuts(Object.fromEntries(tabs.map((tab) => [tab.key, () => navigate(tab.to)])));
  return { path, tabs, label: tabs.find((tab) => tab.to === path)?.label ?? 'Overview' };
};

/** Where it answers, since when, and the repository whose pushes deploy it. */
const Where = ({ service }: { service: ServiceDetail }) => {
  const from = <FromRepo project={service.project} service={service.name} />;
  if (service.live_release === null)
    return (
      <span className="row wrap service-where">
        <span>Nothing is live yet</span>
        {from}
      </span>
    );
  const since = upSince(service);
  return (
    <span className="row wrap service-where">
      <span className="row tight">
        <LiveUrl url={service.service_url} />
        <CopyButton text={service.service_url} label="Copy the address" />
      </span>
      {since !== undefined && (
        <span>
          up for <Took from={since} to={null} />
        </span>
      )}
      <Link href={to('releases', { project: service.project, service: service.name })} className="plain-link live-now">
        <code>{service.live_release}</code>
      </Link>
      {from}
    </span>
  );
};

const FromRepo = ({ project, service }: ServicePath) => {
  const { data: repos = [] } = useQuery(reposRead(project));
  const repo = repos.find(({ deploy_service }) => deploy_service === service);
  if (repo === undefined) return null;
  return (
    <Link
      href={to('repo', { project, repo: repo.name })}
      className="plain-link row tight"
      title="The repository whose pushes deploy this service"
    >
      <Icon name="repo" size={13} />
      {repo.name}
    </Link>
  );
};

/** What is being done to the service right now. */
const UnderWay = ({ project, service }: ServicePath) => {
  const { data: operations = [] } = useQuery(operationsRead({ project, service, limit: 10 }));
  const operation: Operation | undefined = operations.find(isOpen);
  if (operation === undefined) return null;
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
