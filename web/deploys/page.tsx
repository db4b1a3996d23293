import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Operation } from '#modules/operations';
import { asApiError, at, call } from '../api.ts';
import { queries } from '../data/client.ts';
import { operationsRead } from '../data/reads.ts';
import { to } from '../locations.ts';
import { LiveUrl } from '../services/parts.tsx';
import { useMay } from '../session/session.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Copyable } from '../ui/code.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { duration } from '../ui/format.ts';
import { Notice, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Status } from '../ui/status.tsx';
import { Ago, Took } from '../ui/time.tsx';
import { toast } from '../ui/toast.tsx';
import { isOpen, KIND_NAMES, statusOf } from './kinds.ts';
import { LogView } from './log-view.tsx';
import { Timeline } from './timeline.tsx';
import { useOperation } from './use-operation.ts';

/** One operation, mostly a deploy: how far it is, what it says, how it ended. */
const OperationPage = ({ operation: id }: { operation: string }) => {
  const { data: operation, error, refetch, view, renew } = useOperation(id);
  if (operation === undefined && error !== null)
    return (
      <>
        <PageHead title="Operation" />
        <ErrorCard error={error} onRetry={() => void refetch()} />
      </>
    );
  if (operation === undefined) return <SkeletonLines lines={6} />;
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
        <Timeline operation={operation} phases={view.phases} />
        <Ending operation={operation} />
        <LogView
          log={view.log}
          version={view.log.version}
          onChange={renew}
          open={isOpen(operation) || !view.done}
          fileName={`${operation.operation_id}.log`}
        />
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
    <Compared operation={operation} />
  </span>
);

/** How long the deploy before took. */
const Compared = ({ operation }: { operation: Operation }) => {
  const { project, service, kind, status } = operation;
  const { data: deploys = [] } = useQuery({
    ...operationsRead({ project, service, kind: 'deploy', status: 'succeeded', limit: 20 }),
    enabled: kind === 'deploy' && status === 'succeeded',
  });
  const before = deploys.find(({ operation_id: id }) => id < operation.operation_id);
  const mine = lengthOf(operation);
  const theirs = before === undefined ? undefined : lengthOf(before);
  if (before === undefined || mine === undefined || theirs === undefined || kind !== 'deploy') return null;
  const difference = theirs - mine;
  return (
    <span>
      ·{' '}
      <Link href={to('operation', { operation: before.operation_id })}>
        {Math.abs(difference) < 500
          ? 'as long as the deploy before'
          : `${duration(Math.abs(difference))} ${difference > 0 ? 'faster' : 'slower'} than the deploy before`}
      </Link>
    </span>
  );
};

const lengthOf = ({ started_at: from, finished_at: end }: Operation): number | undefined =>
  from === null || end === null ? undefined : Date.parse(end) - Date.parse(from);

const Actions = ({ operation }: { operation: Operation }) => {
  const may = useMay();
  const [busy, setBusy] = useState(false);
  const { operation_id: id, project, service } = operation;
  if (!isOpen(operation))
    return service === null || operation.kind === 'service.delete' ? null : (
      <LinkButton to={to('service', { project, service })}>To the service</LinkButton>
    );
  if (!may('deploy')) return null;
  const cancel = async (): Promise<void> => {
    setBusy(true);
    try {
      queries.setQueryData(['operation', id], await call<Operation>('POST', at('operations', id, 'cancel')));
    } catch (thrown) {
      toast('bad', `Not canceled: ${asApiError(thrown).message}`);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button look="danger" busy={busy} onClick={() => void cancel()}>
      Cancel
    </Button>
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
