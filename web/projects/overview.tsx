import { useState } from 'react';
import { Link } from 'wouter';
import type { ProjectSummary } from '#modules/live';
import { unreachable } from '../api.ts';
import { useSummaries } from '../data/follow.ts';
import { fellLately } from '../deploys/trouble.ts';
import { useSearchChange } from '../data/search.ts';
import { nameOf, subjectOf, toneOf } from '../events/kinds.ts';
import { reconnect, useConnection } from '../live.ts';
import { to } from '../locations.ts';
import { needsAttention } from '../services/state.ts';
import { ServiceStatus } from '../services/parts.tsx';
import { useMay } from '../session/session.ts';
import { FirstRun } from '../start/first-run.tsx';
import { Button, LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { SearchInput } from '../ui/field.tsx';
import { count } from '../ui/format.ts';
import { Card, Empty, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { DatastoreBadge } from './datastore-rows.tsx';
import { NewProject } from './create.tsx';
import { Glyph } from '../ui/status.tsx';
import { Status } from '../ui/status.tsx';
import { Ago, useNow } from '../ui/time.tsx';
import { ServiceRows } from './service-rows.tsx';

/** Every project that the token sees, with what runs in it now. */
const Overview = () => {
  const may = useMay();
  const projects = useSummaries();
  const { state } = useConnection();
  const [text, setText] = useState('');
  const [search, change] = useSearchChange();
  // The first deploy makes a project before anything of it runs, and stays in sight meanwhile.
  const [begun, setBegun] = useState(false);
  if (!may('read')) return <NothingToSee />;
  if (projects === undefined)
    return state === 'lost' ? <ErrorCard error={unreachable()} onRetry={reconnect} /> : <SkeletonLines lines={6} />;
  if (projects.length === 0 || begun) return may('deploy') ? <FirstRun onBegun={setBegun} /> : <NothingToSee />;
  const shown = projects.filter((project) => fits(project, text));
  return (
    <>
      <PageHead
        title="Projects"
        below={summaryOf(projects)}
        actions={
          <>
            {may('manage_projects') && (
              <Button icon="plus" onClick={() => change({ do: 'new' })}>
                New project
              </Button>
            )}
            {may('deploy') && (
              <LinkButton to={to('start')} look="primary" icon="deploy">
                Deploy
              </LinkButton>
            )}
          </>
        }
      />
      {search.get('do') === 'new' && may('manage_projects') && <NewProject onClose={() => change({ do: undefined })} />}
      <Attention projects={projects} />
      {projects.length > 3 && (
        <div className="filter">
          <SearchInput
            label="Find a project or service"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      )}
      <div className="stack">
        {shown.map((project) => (
          <ProjectCard key={project.name} summary={project} />
        ))}
        {shown.length === 0 && <Empty icon="search" title={`Nothing is called “${text}”`} />}
      </div>
    </>
  );
};

const fits = ({ name, services }: ProjectSummary, text: string): boolean => {
  const wanted = text.trim().toLowerCase();
  return wanted === '' || [name, ...services.map((service) => service.name)].some((each) => each.includes(wanted));
};

const summaryOf = (projects: readonly ProjectSummary[]): string => {
  const services = projects.flatMap((project) => project.services);
  const running = services.filter(({ status }) => status === 'running').length;
  return `${count(projects.length, 'project')}, ${running} of ${count(services.length, 'service')} running`;
};

/** What is down or degraded, first of all. */
const Attention = ({ projects }: { projects: readonly ProjectSummary[] }) => {
  const now = useNow();
  // An app that falls again and again runs in between: what happened last tells it from one that is well.
  const troubled = projects.flatMap(({ name, services, last_event: last }) =>
    services
      .filter((service) => needsAttention(service) || fellLately(service.name, last, now))
      .map((service) => ({ project: name, service })),
  );
  if (troubled.length === 0) return null;
  return (
    <section className="attention" aria-label="Needs attention">
      <h2>Needs attention</h2>
      <ul>
        {troubled.map(({ project, service }) => (
          <li key={`${project}/${service.name}`}>
            <Link href={to('service', { project, service: service.name })} className="trouble">
              {needsAttention(service) ? (
                <ServiceStatus status={service.status} />
              ) : (
                <Status tone="warn">Restarted</Status>
              )}
              <strong className="cut">
                {project} / {service.name}
              </strong>
              <span className="quiet small nowrap">
                {service.running_replicas} of {service.replicas} run
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
};

const ProjectCard = ({ summary }: { summary: ProjectSummary }) => {
  const { name: project, services, datastores, state, last_event: last } = summary;
  return (
    <section className="card project-card" aria-label={project}>
      <div className="card-head">
        <h2 className="grow project-name">
          <Link href={to('project', { project })} className="plain-link">
            {project}
          </Link>
        </h2>
        <span className="small quiet">{state === 'deleting' ? 'being deleted' : ''}</span>
        {datastores.map((datastore) => (
          <DatastoreBadge key={datastore.name} datastore={datastore} />
        ))}
        {last !== null && (
          <span className="last-event small quiet">
            <Glyph tone={toneOf(last.kind)} />
            <span className="cut">
              {nameOf(last.kind)} {subjectOf(last)} <Ago at={last.ts} />
            </span>
          </span>
        )}
      </div>
      {services.length === 0 ? (
        <p className="card-body quiet">
          No services yet. <Link href={to('newService', { project })}>Deploy one</Link>
        </p>
      ) : (
        <ServiceRows project={project} services={services} />
      )}
    </section>
  );
};

const NothingToSee = () => {
  const may = useMay();
  return (
    <>
      <PageHead title="Projects" />
      <Card>
        <Empty icon="projects" title={may('read') ? 'No projects yet' : 'This token may not look'}>
          {may('read')
            ? 'Whoever may deploy here has not deployed anything yet.'
            : 'It lacks the capability “read”. Ask an admin for a token that has it.'}
        </Empty>
      </Card>
    </>
  );
};

export default Overview;
