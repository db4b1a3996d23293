import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Service } from '#modules/services';
import { to } from '../locations.ts';
import { preload } from '../routes.tsx';
import { LiveUrl, ServiceQuay, ServiceStatus } from '../services/parts.tsx';
import { Sparkline } from '../ui/spark.tsx';
import { measuresOf, type Measure } from '../usage/glance.ts';
import { glanceRead, useUsageLive } from '../usage/read.ts';

/** The services of one project: where they answer, and how loaded they are. */
export const ServiceTable = ({ services }: { services: readonly Service[] }) => (
  <ul className="service-table">
    {services.map((service) => (
      <ServiceLine key={service.name} service={service} />
    ))}
  </ul>
);

const ServiceLine = ({ service }: { service: Service }) => {
  const { project, name, live_release: live } = service;
  return (
    <li className="service-line" onPointerEnter={() => preload('service')}>
      <span className="service-name">
        <Link href={to('service', { project, service: name })} className="name cut">
          {name}
        </Link>
        <span className="small cut">
          {live === null ? <span className="quiet">Nothing is live yet</span> : <LiveUrl url={service.service_url} />}
        </span>
      </span>
      <span className="service-state">
        <ServiceStatus status={service.status} />
        <ServiceQuay service={service} />
      </span>
      {live !== null && <Load project={project} service={name} />}
    </li>
  );
};

const Load = ({ project, service }: { project: string; service: string }) => {
  const { data } = useQuery(glanceRead(project, service));
  useUsageLive(project, service);
  if (data === undefined) return null;
  return (
    <span className="service-load">
      {measuresOf(data).map((measure) => (
        <LoadItem key={measure.name} measure={measure} />
      ))}
    </span>
  );
};

const LoadItem = ({ measure: { name, now, values, words, alarming } }: { measure: Measure }) => (
  <span className={alarming ? 'load-item alarming' : 'load-item'}>
    <span className="small quiet">{name}</span>
    <span className="load-now">
      {now}
      {name === 'Requests' && <Sparkline values={values} width={56} height={18} label={words} />}
    </span>
  </span>
);
