import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Operation } from '#modules/operations';
import { at, call } from '../api.ts';
import { keepTold, queries } from '../data/client.ts';
import { useSummaries } from '../data/follow.ts';
import { useSearchChange } from '../data/search.ts';
import { isOpen, KIND_NAMES, statusOf } from '../deploys/kinds.ts';
import { useLive } from '../live.ts';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Select } from '../ui/field.tsx';
import { Card, Empty, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Ago, Took } from '../ui/time.tsx';
import { CancelOperation } from './cancel.tsx';

const STATUS_OPTIONS = [
  { value: '', label: 'Any status' },
  { value: 'queued', label: 'Queued' },
  { value: 'running', label: 'Running' },
  { value: 'succeeded', label: 'Succeeded' },
  { value: 'failed', label: 'Failed' },
];

const KIND_OPTIONS = [
  { value: '', label: 'Any kind' },
  ...Object.entries(KIND_NAMES).map(([value, label]) => ({ value, label })),
];

/** Everything that is done, was done or waits, in all projects that the token may see. */
const OperationsPage = () => {
  const may = useMay();
  return (
    <>
      <PageHead title="Operations" below="Deploys, changes, backups and restores of all your projects, newest first" />
      {may('read') ? (
        <Operations />
      ) : (
        <Empty icon="operations" title="This token may not read operations">
          It lacks the capability “read”. Sign in with one that has it.
        </Empty>
      )}
    </>
  );
};

export default OperationsPage;

interface OperationsReply {
  operations: Operation[];
  next_cursor: string | null;
}

const Operations = () => {
  const [search, change] = useSearchChange();
  const filter = {
    project: search.get('project') ?? '',
    status: search.get('status') ?? '',
    kind: search.get('kind') ?? '',
  };
  useOperationsLive();
  const projects = useSummaries() ?? [];
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['operations', 'all', filter],
    queryFn: ({ signal, pageParam }) =>
      call<OperationsReply>('GET', at('operations'), { signal, query: { ...filter, limit: 50, cursor: pageParam } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });
  const operations = data?.pages.flatMap((page) => page.operations);
  const filtered = Object.values(filter).some((value) => value !== '');
  return (
    <div className="stack">
      <div className="filters" role="group" aria-label="Filters">
        <Select
          aria-label="Project"
          value={filter.project}
          onChange={(event) => change({ project: event.target.value })}
          options={[
            { value: '', label: 'All projects' },
            ...withChosen(
              projects.map(({ name }) => name),
              filter.project,
            ),
          ]}
        />
        <Select
          aria-label="Status"
          value={filter.status}
          onChange={(event) => change({ status: event.target.value })}
          options={STATUS_OPTIONS}
        />
        <Select
          aria-label="Kind"
          value={filter.kind}
          onChange={(event) => change({ kind: event.target.value })}
          options={KIND_OPTIONS}
        />
        {filtered && (
          <Button look="quiet" icon="close" onClick={() => change({ project: '', status: '', kind: '' })}>
            Clear
          </Button>
        )}
      </div>
      {error !== null && <ErrorCard error={error} onRetry={() => void refetch()} />}
      {operations === undefined && error === null && <SkeletonLines lines={8} />}
      {operations?.length === 0 && (
        <Empty icon="operations" title={filtered ? 'No operation fits' : 'Nothing has been done yet'}>
          Each deploy, change, backup and restore is an operation: it can be watched, and most can be canceled.
        </Empty>
      )}
      {operations !== undefined && operations.length > 0 && <OperationTable operations={operations} />}
      {hasNextPage && (
        <div className="row">
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Earlier operations
          </Button>
        </div>
      )}
    </div>
  );
};

/** Keeps the list as new as the server tells it. */
const useOperationsLive = (): void => {
  useLive('operations', (events) => {
    for (const event of events)
      if (event.kind === 'operation') keepTold(['operation', event.operation.operation_id], event.operation);
    void queries.invalidateQueries({ queryKey: ['operations'] });
  });
};

const withChosen = (names: readonly string[], chosen: string): { value: string; label: string }[] =>
  (chosen === '' || names.includes(chosen) ? names : [chosen, ...names]).map((name) => ({ value: name, label: name }));

const OperationTable = ({ operations }: { operations: readonly Operation[] }) => {
  const may = useMay();
  const [canceling, setCanceling] = useState<Operation>();
  return (
    <Card flush>
      <Table
        caption="Operations"
        linked
        brief
        rows={operations}
        keyOf={(operation) => operation.operation_id}
        columns={[
          { head: 'Status', cell: (operation) => <OperationStatus operation={operation} /> },
          { head: 'Operation', title: true, cell: (operation) => <What operation={operation} /> },
          { head: 'Project', cell: ({ project }) => project },
          { head: 'By', cell: ({ created_by: by }) => <span className="quiet">{by}</span> },
          {
            head: 'Took',
            end: true,
            cell: ({ started_at: from, finished_at: end }) => (from === null ? '–' : <Took from={from} to={end} />),
          },
          { head: 'Begun', end: true, cell: ({ created_at: begun }) => <Ago at={begun} /> },
          {
            head: 'Actions',
            silent: true,
            end: true,
            cell: (operation) =>
              isOpen(operation) && may('deploy') ? (
                <Button slim look="danger" onClick={() => setCanceling(operation)}>
                  Cancel
                  <span className="sr-only">
                    {' '}
                    {KIND_NAMES[operation.kind]} of {subjectOf(operation)}
                  </span>
                </Button>
              ) : null,
          },
        ]}
      />
      {canceling !== undefined && (
        <CancelOperation
          operation={canceling}
          onClose={() => {
            setCanceling(undefined);
            void queries.invalidateQueries({ queryKey: ['operations'] });
          }}
        />
      )}
    </Card>
  );
};

const OperationStatus = ({ operation }: { operation: Operation }) => {
  const { tone, word } = statusOf(operation);
  return <Status tone={tone}>{word}</Status>;
};

const subjectOf = ({ service, datastore, project }: Operation): string => service ?? datastore ?? project;

const What = ({ operation }: { operation: Operation }) => (
  <span className="operation-what">
    <Link href={to('operation', { operation: operation.operation_id })} className="cover operation-link">
      {KIND_NAMES[operation.kind]} <strong>{subjectOf(operation)}</strong>
    </Link>
    {operation.error !== null && <span className="small quiet operation-why">{operation.error.message}</span>}
  </span>
);
