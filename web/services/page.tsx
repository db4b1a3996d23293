import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Operation } from '#modules/operations';
import type { ReplicaView, ServiceDetail } from '#modules/services';
import { operationsRead } from '../data/reads.ts';
import { OperationRows } from '../deploys/operation-rows.tsx';
import { to } from '../locations.ts';
import { ErrorCard } from '../ui/error-card.tsx';
import { bytes, count, percent } from '../ui/format.ts';
import { Card, Empty, Facts } from '../ui/layout.tsx';
import { Badge, Quay, Status, type Tone } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { ServiceFrame, type ServicePath } from './head.tsx';
import { replicaText, slotOf } from './state.ts';

const ServicePage = (path: ServicePath) => (
  <ServiceFrame {...path}>{(service) => <Overview service={service} />}</ServiceFrame>
);

const Overview = ({ service }: { service: ServiceDetail }) => {
  const { project, name } = service;
  const { data: operations = [] } = useQuery(operationsRead({ project, service: name, limit: 10 }));
  const cause = causeOf(service, operations);
  return (
    <div className="stack wide">
      {cause !== undefined && (
        <ErrorCard
          error={cause.error}
          actions={
            <Link href={to('operation', { operation: cause.operation_id })} className="nowrap">
              See what happened
            </Link>
          }
        />
      )}
      <Card
        title="Replicas"
        actions={<Quay slots={service.replica_states.map(slotOf)} label={replicaText(service)} />}
        flush
      >
        <Replicas service={service} />
      </Card>
      <div className="columns">
        <Card title="Deploys and changes" flush>
          {operations.length === 0 ? (
            <p className="card-body quiet">Nothing has been done yet.</p>
          ) : (
            <OperationRows operations={operations} />
          )}
        </Card>
        <Card title="Runs as">
          <Facts
            facts={[
              ['Release', service.live_release === null ? 'none' : <code key="release">{service.live_release}</code>],
              ['Replicas', replicaText(service)],
              ['Memory', `${bytes(service.memory_mb * 1024 * 1024)} each`],
              ['CPU', `${count(service.cpus, 'core')} each`],
              [
                'Health',
                service.health_path === null ? (
                  'accepts connections'
                ) : (
                  <code key="health">GET {service.health_path}</code>
                ),
              ],
              ['Drains for', `${service.drain_seconds} s`],
            ]}
          />
        </Card>
      </div>
    </div>
  );
};

/** Why it does not serve, when the last thing that was done to it failed. */
const causeOf = ({ status }: ServiceDetail, [last]: readonly Operation[]): Operation | undefined =>
  last !== undefined && last.error !== null && status !== 'deploying' && last.phase !== 'healthy' ? last : undefined;

const Replicas = ({ service }: { service: ServiceDetail }) => {
  const { replica_states: replicas } = service;
  if (replicas.length === 0)
    return (
      <Empty icon="service" title={service.live_release === null ? 'No release yet' : 'Nothing runs'}>
        {service.live_release === null
          ? 'Deploy a folder, and it runs here.'
          : 'It is scaled to 0, or its replicas are gone.'}
      </Empty>
    );
  return (
    <Table
      caption="Replicas"
      rows={replicas}
      keyOf={(replica) => replica.name}
      columns={[
        { head: 'Replica', cell: (replica) => <code>{replica.slot}</code> },
        { head: 'State', cell: (replica) => <ReplicaStatus replica={replica} /> },
        { head: 'Release', cell: (replica) => <code>{replica.release}</code> },
        { head: 'CPU', end: true, cell: ({ cpu }) => (cpu === null ? '–' : percent(cpu)) },
        { head: 'Memory', end: true, cell: (replica) => <Memory replica={replica} /> },
        {
          head: 'Restarts',
          end: true,
          cell: ({ restarts, oom_killed: oom }) => (
            <span className="row end">
              {oom && <Badge tone="bad">out of memory</Badge>}
              {restarts}
            </span>
          ),
        },
        {
          head: 'Started',
          end: true,
          cell: ({ started_at: started }) => (started === null ? '–' : <Ago at={started} />),
        },
      ]}
    />
  );
};

const EXITED = { tone: 'bad', word: 'Exited' } as const;
const STATES: Record<string, { tone: Tone; word: string }> = {
  live: { tone: 'ok', word: 'Live' },
  starting: { tone: 'busy', word: 'Starting' },
  draining: { tone: 'idle', word: 'Draining' },
  exited: EXITED,
};

const ReplicaStatus = ({ replica: { state, exit_code: code } }: { replica: ReplicaView }) => {
  const { tone, word } = STATES[state] ?? EXITED;
  return (
    <Status tone={tone}>
      {word}
      {state === 'exited' && code !== null && ` with ${code}`}
    </Status>
  );
};

const Memory = ({ replica: { memory_bytes: used, memory_limit_bytes: limit } }: { replica: ReplicaView }) => {
  if (used === null) return '–';
  return (
    <span className={limit !== null && used > limit * 0.9 ? 'near-limit nowrap' : 'nowrap'}>
      {bytes(used)}
      {limit !== null && <span className="faint"> of {bytes(limit)}</span>}
    </span>
  );
};

export default ServicePage;
