import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Release } from '#modules/releases';
import type { Service } from '#modules/services';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Copyable } from '../ui/code.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { bytes } from '../ui/format.ts';
import { Card, Facts, SkeletonLines } from '../ui/layout.tsx';
import { Ago } from '../ui/time.tsx';
import { DifferenceList } from './difference.tsx';
import { Source } from './parts.tsx';
import { comparisonRead } from './reads.ts';
import { RollbackDialog } from './rollback.tsx';

/** The release that takes traffic, what it brought, and the way back. */
export const LiveRelease = ({ service, live }: { service: Service; live: string }) => {
  const { project, name, previous_release: previous } = service;
  const may = useMay();
  const [rolling, setRolling] = useState(false);
  const compared = { project, service: name, release: live, against: previous ?? live };
  const { data, error } = useQuery(comparisonRead(compared));
  return (
    <Card
      title="Live release"
      actions={
        <LinkButton slim look="quiet" to={to('releases', { project, service: name })}>
          All releases
        </LinkButton>
      }
    >
      {data === undefined ? (
        error === null ? (
          <SkeletonLines lines={3} />
        ) : (
          <ErrorLine error={error} />
        )
      ) : (
        <div className="stack">
          <Facts facts={factsOf(data.to)} />
          {previous !== null && (
            <section className="stack tight" aria-label="What it changed">
              <div className="row">
                <h3 className="grow">What it changed</h3>
                {may('deploy') && (
                  <Button slim icon="rollback" onClick={() => setRolling(true)}>
                    Roll back
                  </Button>
                )}
              </div>
              <DifferenceList comparison={data} label="What the live release changed" />
            </section>
          )}
        </div>
      )}
      {rolling && previous !== null && (
        <RollbackDialog service={service} release={previous} onClose={() => setRolling(false)} />
      )}
    </Card>
  );
};

const factsOf = (release: Release) => {
  const facts = [
    ['Release', <Copyable key="id" text={release.id} />],
    [
      'Made',
      <span key="made">
        <Ago at={release.created_at} /> by {release.created_by}
      </span>,
    ],
    ['Source', <Source key="source" release={release} />],
    ['Built by', `${release.provider}, ${bytes(release.size_bytes)}`],
  ] as const;
  return release.start_command === null
    ? facts
    : [...facts, ['Starts with', <code key="start">{release.start_command.join(' ')}</code>] as const];
};
