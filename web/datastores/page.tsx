import { useQuery } from '@tanstack/react-query';
import { useEffect, type ReactNode } from 'react';
import type { Capability } from '#kernel/scope';
import type { DatastoreDetail } from '#modules/datastores';
import { asApiError } from '../api.ts';
import { useProjectLive } from '../data/follow.ts';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Empty, LinkTabs, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { useWatchedOperation, watchOperation } from './activity.ts';
import { Backups } from './backups.tsx';
import { Browse } from './browse.tsx';
import { Console } from './console.tsx';
import { Overview } from './overview.tsx';
import { DatastoreStatus } from './parts.tsx';
import { Activity } from './progress.tsx';
import { datastoreRead } from './reads.ts';
import { DatastoreSettings } from './settings.tsx';

export interface TabProps {
  datastore: DatastoreDetail;
}

interface Tab {
  id: string;
  label: string;
  needs: Capability;
  /** Only of a datastore that is ready. */
  ready?: boolean;
  Content: (props: TabProps) => ReactNode;
}

const TABS: readonly Tab[] = [
  { id: '', label: 'Overview', needs: 'read', Content: Overview },
  { id: 'data', label: 'Data', needs: 'query_datastores', ready: true, Content: Browse },
  { id: 'console', label: 'Console', needs: 'query_datastores', ready: true, Content: Console },
  { id: 'backups', label: 'Backups', needs: 'read', Content: Backups },
  { id: 'settings', label: 'Settings', needs: 'manage_datastores', Content: DatastoreSettings },
];

interface Params {
  project: string;
  datastore: string;
  tab?: string;
}

const DatastorePage = ({ project, datastore: name, tab = '' }: Params) => {
  const { data: datastore, error, refetch } = useQuery(datastoreRead(project, name));
  const may = useMay();
  const watched = useWatchedOperation(project, name);
  useProjectLive(project);
  const running = datastore?.operation_id ?? null;
  useEffect(() => watchOperation(project, name, running), [project, name, running]);
  const crumbs = [
    { label: project, to: to('project', { project }) },
    { label: 'Datastores', to: to('datastores', { project }) },
  ];
  const gone = asApiError(error).status === 404;
  if (error !== null && (datastore === undefined || gone))
    return (
      <>
        <PageHead title={name} crumbs={crumbs} />
        <div className="stack">
          {watched !== undefined && <Activity project={project} datastore={name} />}
          <ErrorCard
            error={error}
            onRetry={() => void refetch()}
            actions={<LinkButton to={to('datastores', { project })}>All datastores</LinkButton>}
          />
        </div>
      </>
    );
  if (datastore === undefined) return <SkeletonLines lines={6} />;
  const pathOf = (id: string): string =>
    id === ''
      ? to('datastore', { project, datastore: name })
      : to('datastoreTab', { project, datastore: name, tab: id });
  const found = TABS.find(({ id }) => id === tab);
  return (
    <>
      <PageHead
        title={name}
        crumbs={crumbs}
        beside={<DatastoreStatus datastore={datastore} />}
        below={
          <>
            {datastore.kind} {datastore.version} · <code>{`${datastore.host}:${datastore.port}`}</code>
          </>
        }
      />
      <LinkTabs
        label="Parts of the datastore"
        current={pathOf(tab)}
        tabs={TABS.filter(({ needs, id }) => may(needs) || id === tab).map(({ id, label }) => ({
          to: pathOf(id),
          label,
        }))}
      />
      <div className="stack">
        <Activity project={project} datastore={name} />
        <TabContent tab={found} datastore={datastore} allowed={found !== undefined && may(found.needs)} />
      </div>
    </>
  );
};

const TabContent = ({
  tab,
  datastore,
  allowed,
}: {
  tab: Tab | undefined;
  datastore: DatastoreDetail;
  allowed: boolean;
}) => {
  if (tab === undefined) return <Empty icon="info" title="There is no such part of a datastore" />;
  if (!allowed)
    return (
      <Empty icon="admin" title="This token may not do this">
        It lacks “{tab.needs}”. Sign in with one that has it, or ask whoever manages the tokens; what you have typed
        stays here meanwhile.
      </Empty>
    );
  if (tab.ready === true && datastore.status !== 'ready')
    return (
      <Empty icon="datastore" title="It is not ready">
        There is nothing to look into before it is.
      </Empty>
    );
  return <tab.Content datastore={datastore} />;
};

export default DatastorePage;
