import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Operation } from '#modules/operations';
import type { ServiceDetail } from '#modules/services';
import { operationsRead } from '../data/reads.ts';
import { OperationRows } from '../deploys/operation-rows.tsx';
import { TroubleCard } from '../deploys/trouble.tsx';
import { to } from '../locations.ts';
import { LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { bytes, count } from '../ui/format.ts';
import { Card, Facts, Notice } from '../ui/layout.tsx';
import { Quay } from '../ui/status.tsx';
import { GlanceStrip } from '../usage/glance-strip.tsx';
import { ServiceFrame, type ServicePath } from './head.tsx';
import { LiveRelease } from './live-release.tsx';
import { Replicas } from './replicas.tsx';
import { needsAttention, replicaText, slotOf } from './state.ts';
import { LastWords } from './last-words.tsx';

const ServicePage = (path: ServicePath) => (
  <ServiceFrame {...path}>{(service) => <Overview service={service} />}</ServiceFrame>
);

/** Whether it is up, how loaded, on what, since when; and when it is not up, why. */
const Overview = ({ service }: { service: ServiceDetail }) => {
  const { project, name, live_release: live } = service;
  const { data: operations = [] } = useQuery(operationsRead({ project, service: name, limit: 10 }));
  const cause = causeOf(service, operations);
  return (
    <div className="stack wide">
      {cause !== undefined && service.status === 'running' && (
        <Notice>The last change failed; what served before serves on.</Notice>
      )}
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
      <TroubleCard service={service} otherwise={needsAttention(service) && <LastWords service={service} />} />
      {live !== null && <GlanceStrip project={project} service={name} />}
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
        <div className="stack">
          {live !== null && <LiveRelease service={service} live={live} />}
          <RunsAs service={service} />
        </div>
      </div>
    </div>
  );
};

const RunsAs = ({ service }: { service: ServiceDetail }) => (
  <Card
    title="Runs with"
    actions={
      <LinkButton slim look="quiet" to={to('serviceSettings', { project: service.project, service: service.name })}>
        Settings
      </LinkButton>
    }
  >
    <Facts
      facts={[
        ['Replicas', replicaText(service)],
        ['Memory', `${bytes(service.memory_mb * 1024 * 1024)} each`],
        ['CPU', `${count(service.cpus, 'core')} each`],
        [
          'Health',
          service.health_path === null ? 'accepts connections' : <code key="health">GET {service.health_path}</code>,
        ],
        ['Drains for', `${service.drain_seconds} s`],
      ]}
    />
  </Card>
);

/** Why it does not serve, when the last thing that was done to it failed. */
const causeOf = ({ status }: ServiceDetail, [last]: readonly Operation[]): Operation | undefined =>
  last !== undefined && last.error !== null && status !== 'deploying' && last.phase !== 'healthy' ? last : undefined;

export default ServicePage;
