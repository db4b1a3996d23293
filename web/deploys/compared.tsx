import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Operation } from '#modules/operations';
import { detailsOf, nameOf } from '../events/kinds.ts';
import { to } from '../locations.ts';
import { Difference } from '../services/difference.tsx';
import { duration } from '../ui/format.ts';
import { Card } from '../ui/layout.tsx';
import { Ago } from '../ui/time.tsx';
import { changesBetweenRead } from './before.ts';

/** What is different from the deploy before: the release that was made, and what was changed meanwhile. */
export const Compared = ({ operation, before }: { operation: Operation; before: Operation }) => {
  const { project, service } = operation;
  const release = releaseOf(operation);
  const against = releaseOf(before);
  return (
    <Card
      title="Since the deploy before"
      actions={
        <span className="small quiet">
          {lengthText(operation, before)}
          <Link href={to('operation', { operation: before.operation_id })}>
            deploy of <Ago at={before.created_at} />
          </Link>
        </span>
      }
    >
      <div className="stack">
        {service !== null && release !== undefined && against !== undefined && (
          <ReleaseDifference {...{ project, service, release, against }} />
        )}
        <ChangesBetween operation={operation} before={before} released={release !== undefined} />
      </div>
    </Card>
  );
};

const releaseOf = ({ result }: Operation): string | undefined => {
  const release = result?.['release'];
  return typeof release === 'string' ? release : undefined;
};

const ReleaseDifference = (compared: { project: string; service: string; release: string; against: string }) =>
  compared.release === compared.against ? (
    <p className="quiet">The same release: source, build and variables gave the same image.</p>
  ) : (
    <Difference {...compared} />
  );

/** Variables, settings and replicas: what no build shows. */
const ChangesBetween = ({
  operation,
  before,
  released,
}: {
  operation: Operation;
  before: Operation;
  released: boolean;
}) => {
  const { data: changes } = useQuery(changesBetweenRead(before, operation));
  if (changes === undefined) return null;
  if (changes.length === 0)
    return released ? null : (
      <p className="quiet">It made no release. No variable or setting was changed since, so look at the source.</p>
    );
  return (
    <div>
      <h3 className="small quiet">Changed meanwhile</h3>
      <ul className="changes" aria-label="Changed meanwhile">
        {changes.map((event) => (
          <li key={event.id}>
            <strong>{nameOf(event.kind)}</strong>
            <span className="grow">
              {detailsOf(event).map(([name, value]) => (
                <span key={name}>
                  {name} <code>{value}</code>{' '}
                </span>
              ))}
            </span>
            <span className="small quiet nowrap">
              {event.actor}, <Ago at={event.ts} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
};

const lengthText = (operation: Operation, before: Operation): string => {
  const mine = lengthOf(operation);
  const theirs = lengthOf(before);
  if (operation.status !== 'succeeded' || mine === undefined || theirs === undefined) return 'After the ';
  const difference = theirs - mine;
  return Math.abs(difference) < AS_LONG_MS
    ? 'As long as the '
    : `${duration(Math.abs(difference))} ${difference > 0 ? 'faster' : 'slower'} than the `;
};

const AS_LONG_MS = 500;

const lengthOf = ({ started_at: from, finished_at: end }: Operation): number | undefined =>
  from === null || end === null ? undefined : Date.parse(end) - Date.parse(from);
