import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Release } from '#modules/releases';
import type { Service } from '#modules/services';
import { releasesRead } from '../data/reads.ts';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { bytes } from '../ui/format.ts';
import { Card, Empty, SkeletonLines } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { ServiceFrame, type ServicePath } from './head.tsx';
import { rollbackOf } from './verbs.ts';

const ReleasesPage = (path: ServicePath) => (
  <ServiceFrame {...path}>{(service) => <Releases service={service} />}</ServiceFrame>
);

const Releases = ({ service }: { service: Service }) => {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    releasesRead(service.project, service.name),
  );
  const [target, setTarget] = useState<Release>();
  if (data === undefined && error !== null) return <ErrorCard error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonLines lines={4} />;
  const releases = data.pages.flatMap((page) => page.releases);
  if (releases.length === 0)
    return (
      <Card>
        <Empty icon="deploy" title="No releases yet">
          Every deploy that builds makes one; you can go back to any of them without building.
        </Empty>
      </Card>
    );
  return (
    <div className="stack">
      <Card title="Releases" flush>
        <ReleaseTable releases={releases} service={service} onRollback={setTarget} />
      </Card>
      {hasNextPage && (
        <span>
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older releases
          </Button>
        </span>
      )}
      {target !== undefined && (
        <Confirm
          title={`Roll ${service.name} back`}
          verb="Roll back"
          {...rollbackOf(service, target.id)}
          onClose={() => setTarget(undefined)}
        >
          <p className="quiet">
            To the release of <Ago at={target.created_at} />. Nothing is built; the replicas are exchanged one by one.
          </p>
        </Confirm>
      )}
    </div>
  );
};

interface ReleaseTableProps {
  releases: readonly Release[];
  service: Service;
  onRollback: (release: Release) => void;
}

const ReleaseTable = ({ releases, service, onRollback }: ReleaseTableProps) => {
  const may = useMay();
  return (
    <Table
      caption="Releases"
      rows={releases}
      keyOf={({ id }) => id}
      columns={[
        {
          head: 'Release',
          cell: (release) => (
            <span className="row">
              <code>{release.id}</code>
              {release.live && <Badge tone="ok">live</Badge>}
              {release.id === service.previous_release && <Badge>before</Badge>}
            </span>
          ),
        },
        { head: 'Built by', cell: ({ provider }) => provider },
        { head: 'Source', cell: (release) => <Source release={release} /> },
        { head: 'Size', end: true, cell: ({ size_bytes: size }) => bytes(size) },
        { head: 'Made', end: true, cell: ({ created_at: at }) => <Ago at={at} /> },
        { head: 'By', cell: ({ created_by: by }) => by },
        {
          head: 'Deploy',
          cell: ({ operation_id: operation }) => <Link href={to('operation', { operation })}>Log</Link>,
        },
        {
          head: 'Actions',
          silent: true,
          end: true,
          cell: (release) =>
            may('deploy') && !release.live ? (
              <Button
                slim
                icon="rollback"
                onClick={() => onRollback(release)}
                aria-label={`Roll back to ${release.id}`}
              >
                Roll back
              </Button>
            ) : null,
        },
      ]}
    />
  );
};

const Source = ({ release: { commit, source_sha256: digest } }: { release: Release }) => {
  if (commit !== null) return <code title={commit}>{commit.slice(0, 8)}</code>;
  return digest === null ? '–' : <code title={`Archive ${digest}`}>{digest.slice(0, 8)}</code>;
};

export default ReleasesPage;
