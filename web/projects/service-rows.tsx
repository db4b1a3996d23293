import { Link } from 'wouter';
import type { ProjectSummary } from '#modules/live';
import { to } from '../locations.ts';
import { LiveUrl, ServiceQuay, ServiceStatus } from '../services/parts.tsx';
import { preload } from '../routes.tsx';
import { Ago } from '../ui/time.tsx';

/** Services as rows: what state, how many, where, since when. */
export const ServiceRows = ({ project, services }: { project: string; services: ProjectSummary['services'] }) => (
  <ul className="service-rows">
    {services.map((service) => (
      <li key={service.name} className="service-row" onPointerEnter={() => preload('service')}>
        <ServiceStatus status={service.status} />
        <Link href={to('service', { project, service: service.name })} className="name cut">
          {service.name}
        </Link>
        <span className="slots">
          <ServiceQuay service={service} />
        </span>
        <span className="url cut">{service.live_release !== null && <LiveUrl url={service.service_url} />}</span>
        <span className="when small quiet">
          <Ago at={service.updated_at} />
        </span>
      </li>
    ))}
  </ul>
);
