import { useQuery } from '@tanstack/react-query';
import type { Capacity } from '#modules/system';
import { keepTold } from '../data/client.ts';
import { EventList } from '../events/event-list.tsx';
import { newest, useLive } from '../live.ts';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { ErrorCard } from '../ui/error-card.tsx';
import { bytes, duration } from '../ui/format.ts';
import { Card, Empty, Facts, LinkTabs, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { DiskTab } from './disk.tsx';
import { HealthTab } from './health.tsx';
import { Meter } from './meter.tsx';
import { capacityRead } from './read.ts';

/** The server itself: how it is, what it has, what it runs. */
const AdminPage = ({ tab = 'health' }: { tab?: string }) => {
  const may = useMay();
  if (!may('admin'))
    return (
      <>
        <PageHead title="Admin" />
        <Empty icon="admin" title="This token may not administer the server">
          It lacks the capability “admin”. Sign in with one that has it.
        </Empty>
      </>
    );
  return (
    <>
      <PageHead title="Admin" below="The server itself: how it is, what it has, what it runs" />
      <LinkTabs
        label="Admin"
        current={tab === 'health' ? to('admin') : to('adminTab', { tab })}
        tabs={[
          { to: to('admin'), label: 'Health' },
          { to: to('adminTab', { tab: 'capacity' }), label: 'Capacity' },
          { to: to('adminTab', { tab: 'disk' }), label: 'Disk' },
          { to: to('adminTab', { tab: 'versions' }), label: 'Versions' },
          { to: to('adminTab', { tab: 'audit' }), label: 'Audit' },
        ]}
      />
      {tab === 'audit' ? <EventList /> : <Figures tab={tab} />}
    </>
  );
};

export default AdminPage;

const Figures = ({ tab }: { tab: string }) => {
  const { data: capacity, error, refetch } = useQuery(capacityRead);
  useLive('admin', (events) => {
    const figures = newest(events, 'capacity');
    if (figures !== undefined) keepTold(capacityRead.queryKey, figures.capacity);
  });
  if (capacity === undefined && error !== null) return <ErrorCard error={error} onRetry={() => void refetch()} />;
  if (capacity === undefined) return <SkeletonLines lines={6} />;
  if (tab === 'health') return <HealthTab capacity={capacity} />;
  if (tab === 'capacity') return <CapacityTab capacity={capacity} />;
  if (tab === 'disk') return <DiskTab capacity={capacity} />;
  if (tab === 'versions') return <VersionsTab capacity={capacity} />;
  return (
    <Empty icon="admin" title="There is no such part of the admin pages">
      Choose one of those above.
    </Empty>
  );
};

const known = (value: number | null): string => (value === null ? 'not known' : bytes(value));

const CapacityTab = ({ capacity }: { capacity: Capacity }) => {
  const { memory_bytes: memory, memory_available_bytes: available, quotas, builds, datastores } = capacity;
  return (
    <div className="columns">
      <div className="stack">
        <Card title="Room">
          <div className="stack">
            {memory !== null && available !== null && <Meter label="Memory" used={memory - available} total={memory} />}
            {capacity.disks.map(({ path, holds, total_bytes: total, free_bytes: free }) => (
              <Meter key={path} label={`Disk ${path}`} note={holds} used={total - free} total={total} />
            ))}
          </div>
        </Card>
        <Card title="What runs">
          <Facts
            facts={[
              ['Processors', capacity.cpus ?? 'not known'],
              ['Projects', capacity.projects],
              ['Services', capacity.services],
              ['Replicas', capacity.replicas],
              ['Datastores', `${datastores.ready} with ${bytes(datastores.used_bytes)}`],
              ['Containers', capacity.containers_running ?? 'not known'],
              ['Builds', `${builds.running} of ${builds.concurrency} run, ${builds.queued} wait`],
              ['Build cache', known(capacity.build_cache_bytes)],
              ['Images', known(capacity.registry_bytes)],
              ['Open streams', capacity.open_streams],
            ]}
          />
        </Card>
      </div>
      <Card title="Limits">
        <Facts
          facts={[
            ['Services', `${quotas.services_per_project} a project`],
            ['Replicas', `${quotas.replicas_per_service} a service`],
            ['Datastores', `${quotas.datastores_per_project} a project`],
            ['Repositories', `${quotas.repos_per_project} a project`],
            ['Upload', bytes(quotas.upload_bytes)],
            ['Build', duration(quotas.build_timeout_seconds * 1000)],
            [
              'Build cache',
              `${bytes(quotas.build_cache_bytes)}, ${bytes(quotas.build_cache_bytes_per_service)} a service`,
            ],
            [
              'Requests',
              quotas.requests_per_minute === 0 ? 'without limit' : `${quotas.requests_per_minute} a minute and token`,
            ],
          ]}
        />
      </Card>
    </div>
  );
};

const VersionsTab = ({ capacity: { versions } }: { capacity: Capacity }) => (
  <Card title="Versions">
    <Facts
      facts={[
        ['berth', <code key="berth">{versions.berth}</code>],
        ['Container engine', <code key="engine">{versions.engine ?? 'not known'}</code>],
        ['Engine API', <code key="api">{versions.engine_api ?? 'not known'}</code>],
        ['Proxy', <code key="proxy">{versions.proxy ?? 'not known'}</code>],
        ['Bun', <code key="bun">{versions.bun}</code>],
        ['SQLite', <code key="sqlite">{versions.sqlite}</code>],
      ]}
    />
  </Card>
);
