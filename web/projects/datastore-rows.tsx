import { Link } from 'wouter';
import type { Datastore } from '#modules/datastores';
import { to } from '../locations.ts';
import { isThere } from '../routes.tsx';
import { Badge, Status, type Tone } from '../ui/status.tsx';
import { capitalised } from '../ui/format.ts';

const TONES: Record<string, Tone> = { ready: 'ok', provisioning: 'busy', failed: 'bad' };

export const DatastoreRows = ({ datastores }: { datastores: readonly Datastore[] }) => {
  if (datastores.length === 0) return <p className="card-body quiet">No datastores.</p>;
  return (
    <ul className="plain-rows">
      {datastores.map(({ name, kind, status, project }) => (
        <li key={name}>
          <span className="grow cut">
            {isThere('datastore') ? (
              <Link href={to('datastore', { project, datastore: name })}>{name}</Link>
            ) : (
              <strong>{name}</strong>
            )}{' '}
            <span className="quiet">{kind}</span>
          </span>
          <Status tone={TONES[status] ?? 'warn'}>{capitalised(status)}</Status>
        </li>
      ))}
    </ul>
  );
};

/** A datastore in passing. */
export const DatastoreBadge = ({
  datastore: { name, kind, status },
}: {
  datastore: Pick<Datastore, 'name' | 'kind' | 'status'>;
}) => (
  <Badge tone={status === 'ready' ? 'idle' : (TONES[status] ?? 'warn')}>
    {kind} {name}
    {status !== 'ready' && `: ${status}`}
  </Badge>
);
