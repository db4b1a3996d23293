import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Release } from '#modules/releases';
import type { Service } from '#modules/services';
import { releasesRead } from '../data/reads.ts';
import { useSearchChange } from '../data/search.ts';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Segmented } from '../ui/field.tsx';
import { bytes } from '../ui/format.ts';
import { Card, Empty, SkeletonLines } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { Ago } from '../ui/time.tsx';
import { Difference } from './difference.tsx';
import { ServiceFrame, type ServicePath } from './head.tsx';
import { Source } from './parts.tsx';
import { RollbackDialog } from './rollback.tsx';

const ReleasesPage = (path: ServicePath) => (
  <ServiceFrame {...path}>{(service) => <Releases service={service} />}</ServiceFrame>
);

const Releases = ({ service }: { service: Service }) => {
  const { data, error, refetch, fetchNextPage, hasNextPage, isFetchingNextPage } = useInfiniteQuery(
    releasesRead(service.project, service.name),
  );
  const [target, setTarget] = useState<string>();
  const [search, change] = useSearchChange();
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
  const opened = search.get('release') ?? '';
  return (
    <div className="stack">
      <Card title="Releases" flush>
        <ul className="release-rows">
          {releases.map((release, index) => (
            <ReleaseRow
              key={release.id}
              service={service}
              release={release}
              before={releases[index + 1]}
              open={opened === release.id}
              onOpen={() => change({ release: opened === release.id ? '' : release.id, with: '' })}
              onRollback={() => setTarget(release.id)}
            />
          ))}
        </ul>
      </Card>
      {hasNextPage && (
        <span>
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older releases
          </Button>
        </span>
      )}
      {target !== undefined && (
        <RollbackDialog service={service} release={target} onClose={() => setTarget(undefined)} />
      )}
    </div>
  );
};

interface ReleaseRowProps {
  service: Service;
  release: Release;
  /** The one made before it, as far as it is known. */
  before: Release | undefined;
  open: boolean;
  onOpen: () => void;
  onRollback: () => void;
}

const ReleaseRow = ({ service, release, before, open, onOpen, onRollback }: ReleaseRowProps) => {
  const may = useMay();
  const { id, live, operation_id: operation } = release;
  return (
    <li className={live ? 'release-row live' : 'release-row'}>
      <div className="release-line">
        <span className="row wrap release-name">
          <code>{id}</code>
          {live && <Badge tone="ok">live</Badge>}
          {id === service.previous_release && <Badge>live before</Badge>}
        </span>
        <span className="small quiet release-from">
          <Source release={release} /> · {release.provider} · {bytes(release.size_bytes)}
          {before !== undefined && <Growth by={release.size_bytes - before.size_bytes} />}
        </span>
        <span className="small quiet release-made">
          <Ago at={release.created_at} /> by {release.created_by}
        </span>
        <span className="row release-actions">
          <Button slim look="quiet" aria-expanded={open} onClick={onOpen} aria-label={`What differs in ${id}`}>
            What differs
          </Button>
          <Link href={to('operation', { operation })} className="btn slim quiet">
            Log<span className="sr-only"> of the deploy of {id}</span>
          </Link>
          {may('deploy') && !live && (
            <Button slim icon="rollback" onClick={onRollback} aria-label={`Roll back to ${id}`}>
              Roll back
            </Button>
          )}
        </span>
      </div>
      {open && <Differences service={service} release={release} before={before} />}
    </li>
  );
};

const Growth = ({ by }: { by: number }) =>
  Math.abs(by) < 1024 ? null : (
    <span className="faint">
      {' '}
      ({by > 0 ? '+' : '−'}
      {bytes(Math.abs(by))})
    </span>
  );

/** Held against the one before it, or against what is live. */
const Differences = ({ service, release, before }: Pick<ReleaseRowProps, 'service' | 'release' | 'before'>) => {
  const [search, change] = useSearchChange();
  const live = release.live ? null : service.live_release;
  const options = [
    ...(before === undefined ? [] : [{ value: 'before', label: 'Release before it', against: before.id }]),
    ...(live === null || live === before?.id ? [] : [{ value: 'live', label: 'Live release', against: live }]),
  ];
  const chosen = options.find(({ value }) => value === search.get('with')) ?? options[0];
  if (chosen === undefined)
    return <p className="release-differences quiet">It is the first: there is none to compare.</p>;
  return (
    <section className="release-differences stack tight" aria-label={`What differs in ${release.id}`}>
      <div className="row wrap">
        <span className="small quiet">Compared with</span>
        {options.length > 1 ? (
          <Segmented
            label="Compared with"
            value={chosen.value}
            options={options}
            onChange={(value) => change({ with: value })}
          />
        ) : (
          <span className="small quiet">
            the {chosen.label.toLowerCase()} <code>{chosen.against}</code>
          </span>
        )}
      </div>
      <Difference project={service.project} service={service.name} release={release.id} against={chosen.against} />
    </section>
  );
};

export default ReleasesPage;
