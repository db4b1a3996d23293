import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Operation } from '#modules/operations';
import { to } from '../locations.ts';
import { LiveUrl } from '../services/parts.tsx';
import { useMay } from '../session/session.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Copyable } from '../ui/code.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Notice, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Status } from '../ui/status.tsx';
import { Ago, Took } from '../ui/time.tsx';
import { CancelOperation } from '../operations/cancel.tsx';
import { phaseLengths, phasesRead, useDeployBefore } from './before.ts';
import { Compared } from './compared.tsx';
import { isOpen, KIND_NAMES, statusOf } from './kinds.ts';
import { LogView } from './log-view.tsx';
import { Timeline } from './timeline.tsx';
import { useOperation } from './use-operation.ts';

/** One operation, mostly a deploy: how far it is, what it says, how it ended. */
const OperationPage = ({ operation: id }: { operation: string }) => <OperationView key={id} id={id} />;

const OperationView = ({ id }: { id: string }) => {
  const following = useOperation(id);
  const { data: operation, error, refetch } = following;
  if (operation === undefined && error !== null)
    return (
      <>
        <PageHead title="Operation" />
        <ErrorCard error={error} onRetry={() => void refetch()} />
      </>
    );
  if (operation === undefined) return <SkeletonLines lines={6} />;
  return <Details operation={operation} following={following} />;
};

interface DetailsProps {
  operation: Operation;
  following: ReturnType<typeof useOperation>;
}

const Details = ({ operation, following: { view, renew } }: DetailsProps) => {
  const before = useDeployBefore(operation);
  const { data: phases } = useQuery({
    ...phasesRead(before?.operation_id ?? ''),
    enabled: before !== null && before !== undefined,
  });
  const lengths =
    phases === undefined
      ? undefined
      : phaseLengths(phases, Date.parse(before?.finished_at ?? before?.created_at ?? ''));
  const { tone, word } = statusOf(operation);
  const { project, service } = operation;
  return (
    <>
      <PageHead
        title={`${KIND_NAMES[operation.kind]}${service === null ? '' : ` of ${service}`}`}
        crumbs={[
          { label: project, to: to('project', { project }) },
          ...(service === null ? [] : [{ label: service, to: to('service', { project, service }) }]),
        ]}
        beside={<Status tone={tone}>{word}</Status>}
        below={<Below operation={operation} />}
        actions={<Actions operation={operation} />}
      />
      <div className="stack">
        <Timeline operation={operation} phases={view.phases} before={lengths} />
        <Ending operation={operation} />
        <LogView
          log={view.log}
          onChange={renew}
          open={isOpen(operation) || !view.done}
          fileName={`${operation.operation_id}.log`}
        />
        {before !== null && before !== undefined && !isOpen(operation) && (
          <Compared operation={operation} before={before} />
        )}
      </div>
    </>
  );
};

const Below = ({ operation }: { operation: Operation }) => (
  <span className="row wrap">
    <Copyable text={operation.operation_id} />
    <span>
      by {operation.created_by}, <Ago at={operation.created_at} />
      {operation.started_at !== null && (
        <>
          , {operation.finished_at === null ? 'running for' : 'took'}{' '}
          <Took from={operation.started_at} to={operation.finished_at} />
        </>
      )}
    </span>
  </span>
);

const Actions = ({ operation }: { operation: Operation }) => {
  const may = useMay();
  const [canceling, setCanceling] = useState(false);
  const { project, service } = operation;
  if (!isOpen(operation))
    return service === null || operation.kind === 'service.delete' ? null : (
      <LinkButton to={to('service', { project, service })}>To the service</LinkButton>
    );
  if (!may('deploy')) return null;
  return (
    <>
      <Button look="danger" onClick={() => setCanceling(true)}>
        Cancel
      </Button>
      {canceling && <CancelOperation operation={operation} onClose={() => setCanceling(false)} />}
    </>
  );
};

/** What became of it: where it lives, or why it failed and what to do. */
const Ending = ({ operation }: { operation: Operation }) => {
  const { status, error, service_url: url, kind, phase } = operation;
  if (error !== null)
    return (
      <>
        {phase === 'rolled_back' && <Notice>What served before serves on: nothing has changed for users.</Notice>}
        <ErrorCard error={error} />
      </>
    );
  if (status !== 'succeeded' || url === null || kind === 'service.delete') return null;
  return (
    <div className="landed">
      <Status tone="ok">Live at</Status>
      <LiveUrl url={url} />
    </div>
  );
};

export default OperationPage;
