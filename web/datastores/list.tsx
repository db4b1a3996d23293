import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Datastore } from '#modules/datastores';
import { useProjectLive } from '../data/follow.ts';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Card, Empty, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { CreateDatastore } from './create.tsx';
import { DatastoreStatus, DiskUse, LastBackup } from './parts.tsx';
import { datastoresRead } from './reads.ts';

const DatastoresPage = ({ project }: { project: string }) => {
  const { data, error, isPending, refetch } = useQuery(datastoresRead(project));
  const may = useMay();
  const [creating, setCreating] = useState(false);
  useProjectLive(project);
  const create = may('manage_datastores') && (
    <Button icon="plus" look="primary" onClick={() => setCreating(true)}>
      New datastore
    </Button>
  );
  return (
    <>
      <PageHead
        title="Datastores"
        crumbs={[{ label: project, to: to('project', { project }) }]}
        actions={data !== undefined && data.length > 0 && create}
      />
      {data === undefined && error !== null && <ErrorCard error={error} onRetry={() => void refetch()} />}
      {isPending && <SkeletonLines lines={4} />}
      {data !== undefined && (
        <Card flush>
          {data.length === 0 ? (
            <Empty icon="datastore" title="No datastores yet" action={create || undefined}>
              Postgres, Redis or Mongo, in about a second. Every service of the project is given its variables, and
              every night a backup is made and proved.
            </Empty>
          ) : (
            <DatastoreTable project={project} datastores={data} />
          )}
        </Card>
      )}
      {creating && (
        <CreateDatastore
          project={project}
          taken={(data ?? []).map(({ name }) => name)}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  );
};

const DatastoreTable = ({ project, datastores }: { project: string; datastores: readonly Datastore[] }) => (
  <Table
    caption="Datastores"
    linked
    columns={[
      {
        head: 'Name',
        cell: ({ name }) => (
          <Link className="cover plain-link" href={to('datastore', { project, datastore: name })}>
            <strong>{name}</strong>
          </Link>
        ),
      },
      { head: 'Status', cell: (datastore) => <DatastoreStatus datastore={datastore} /> },
      { head: 'Kind', cell: ({ kind, version }) => <span className="nowrap">{`${kind} ${version}`}</span> },
      { head: 'On disk', cell: (datastore) => <DiskUse datastore={datastore} /> },
      { head: 'Last backup', cell: ({ last_backup }) => <LastBackup backup={last_backup} /> },
      { head: 'Created', cell: ({ created_at }) => <Ago at={created_at} /> },
    ]}
    rows={datastores}
    keyOf={({ name }) => name}
  />
);

export default DatastoresPage;
