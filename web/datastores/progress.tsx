import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { LiveEvent } from '#modules/live';
import type { Operation } from '#modules/operations';
import { queries } from '../data/client.ts';
import { operationRead } from '../data/reads.ts';
import { useConnection, useLive } from '../live.ts';
import { to } from '../locations.ts';
import { ApiError } from '../api.ts';
import { IconButton, LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Status } from '../ui/status.tsx';
import { Took } from '../ui/time.tsx';
import { dismissOperation, useWatchedOperation } from './activity.ts';
import { datastoresChanged } from './reads.ts';

const NAMES: Record<string, string> = {
  'datastore.create': 'Making it',
  'datastore.update': 'Changing its limits',
  'datastore.restart': 'Restarting',
  'datastore.rotate': 'Changing the credential',
  'datastore.backup': 'Backing up',
  'datastore.restore': 'Restoring',
  'datastore.undo_restore': 'Swapping the data back',
  'datastore.delete': 'Deleting',
};

const OUTCOMES: Record<string, string> = {
  'datastore.create': 'It is ready',
  'datastore.update': 'Its limits have changed',
  'datastore.restart': 'It has restarted',
  'datastore.rotate': 'The credential has changed',
  'datastore.backup': 'Backed up and verified',
  'datastore.restore': 'Restored',
  'datastore.undo_restore': 'The data was swapped back',
  'datastore.delete': 'Deleted',
};

interface Line {
  seq: number;
  text: string;
}

const SHOWN_LINES = 6;
/** Only while there is no live connection. */
const POLL_MS = 2000;

/** What is being done to a datastore right now, and how the last thing ended. */
export const Activity = ({ project, datastore }: { project: string; datastore: string }) => {
  const id = useWatchedOperation(project, datastore);
  return id === undefined ? null : <Progress key={id} id={id} project={project} datastore={datastore} />;
};

const Progress = ({ id, project, datastore }: { id: string; project: string; datastore: string }) => {
  const connection = useConnection();
  const { data: operation } = useQuery({
    ...operationRead(id),
    refetchInterval: ({ state }) =>
      state.data !== undefined && hasEnded(state.data) ? false : connection.state === 'live' ? 5 * POLL_MS : POLL_MS,
  });
  const ended = operation !== undefined && hasEnded(operation);
  const [lines, setLines] = useState<readonly Line[]>([]);
  useLive(ended ? undefined : `operation:${id}`, (events) => {
    setLines((before) => joined(before, events));
    if (events.some(({ kind }) => kind === 'phase' || kind === 'done'))
      void queries.invalidateQueries({ queryKey: ['operation', id] });
    if (events.some(({ kind }) => kind === 'done')) void datastoresChanged(project);
  });
  if (operation === undefined) return null;
  const dismiss = (): void => dismissOperation(project, datastore);
  if (operation.status === 'failed' && operation.error !== null)
    return (
      <ErrorCard
        error={new ApiError(operation.error, 0)}
        actions={
          <>
            <LinkButton slim look="quiet" to={to('operation', { operation: id })}>
              Operation
            </LinkButton>
            <IconButton slim icon="close" label="Dismiss" onClick={dismiss} />
          </>
        }
      />
    );
  return (
    <section className="activity" aria-label="What is being done">
      <div className="row">
        <span className="grow" role="status">
          <Status tone={ended ? 'ok' : 'busy'}>{(ended ? OUTCOMES : NAMES)[operation.kind] ?? operation.kind}</Status>
          {!ended && <span className="quiet"> · {operation.phase.replaceAll('_', ' ')}</span>}
        </span>
        <span className="small quiet">
          <Took from={operation.started_at ?? operation.created_at} to={operation.finished_at} />
        </span>
        <LinkButton slim look="quiet" to={to('operation', { operation: id })}>
          Operation
        </LinkButton>
        {ended && <IconButton slim icon="close" label="Dismiss" onClick={dismiss} />}
      </div>
      {lines.length > 0 && (
        <ol className="activity-lines">
          {lines.slice(-SHOWN_LINES).map(({ seq, text }) => (
            <li key={seq}>{text}</li>
          ))}
        </ol>
      )}
    </section>
  );
};

export const hasEnded = ({ status }: Pick<Operation, 'status'>): boolean =>
  status === 'succeeded' || status === 'failed';

/** Events may come again when another part of the page follows the same operation. */
const joined = (before: readonly Line[], events: readonly LiveEvent[]): readonly Line[] => {
  const last = before.at(-1)?.seq ?? 0;
  const fresh = events.flatMap(linesOf).filter(({ seq }) => seq > last);
  return fresh.length === 0 ? before : [...before, ...fresh].slice(-200);
};

const linesOf = (event: LiveEvent): Line[] => {
  if (event.kind === 'phase')
    return event.phase.message === '' ? [] : [{ seq: event.phase.seq, text: event.phase.message }];
  return event.kind === 'lines' ? event.lines.map(({ seq, line }) => ({ seq, text: line })) : [];
};
