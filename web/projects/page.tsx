import { useQuery } from '@tanstack/react-query';
import { useProjectLive } from '../data/follow.ts';
import { operationsRead, projectRead } from '../data/reads.ts';
import { OperationRows } from '../deploys/operation-rows.tsx';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { count } from '../ui/format.ts';
import { Card, Empty, Notice, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { DatastoreRows } from './datastore-rows.tsx';
import { EventRows } from './event-rows.tsx';
import { RepoCard } from './repo-rows.tsx';
import { ServiceTable } from './service-table.tsx';

/** One project: what runs, what it stands on, what happened last. */
const ProjectPage = ({ project }: { project: string }) => {
  const { data: tree, error, refetch } = useQuery(projectRead(project));
  const { data: operations = [] } = useQuery(operationsRead({ project, limit: 8 }));
  const may = useMay();
  useProjectLive(project);
  if (tree === undefined && error !== null)
    return (
      <>
        <PageHead title={project} />
        <ErrorCard
          error={error}
          onRetry={() => void refetch()}
          actions={<LinkButton to={to('home')}>All projects</LinkButton>}
        />
      </>
    );
  if (tree === undefined) return <SkeletonLines lines={6} />;
  const { services, datastores, env_keys: keys, recent_events: events } = tree;
  return (
    <>
      <PageHead
        title={project}
        below={`${count(services.length, 'service')}, ${count(datastores.length, 'datastore')}, ${count(keys.length, 'variable')}`}
        actions={
          may('deploy') && (
            <LinkButton to={to('newService', { project })} look="primary" icon="plus">
              New service
            </LinkButton>
          )
        }
      />
      <div className="stack wide">
        {tree.state === 'deleting' && (
          <Notice tone="warn">This project is being deleted, with all that belongs to it.</Notice>
        )}
        <Card title="Services" flush>
          {services.length === 0 ? (
            <Empty icon="service" title="No services yet">
              A service is made by its first deploy.
            </Empty>
          ) : (
            <ServiceTable services={services} />
          )}
        </Card>
        <div className="columns">
          <Card
            title="Operations"
            flush
            actions={
              <LinkButton slim look="quiet" to={`${to('operations')}?${new URLSearchParams({ project }).toString()}`}>
                All
              </LinkButton>
            }
          >
            {operations.length === 0 ? (
              <p className="card-body quiet">Nothing has been done yet.</p>
            ) : (
              <OperationRows operations={operations} />
            )}
          </Card>
          <div className="stack">
            <Card
              title="Datastores"
              flush
              actions={
                <LinkButton slim look="quiet" to={to('datastores', { project })}>
                  All
                </LinkButton>
              }
            >
              <DatastoreRows datastores={datastores} />
            </Card>
            <RepoCard project={project} />
            <Card
              title="Environment"
              actions={
                <LinkButton slim look="quiet" to={to('env', { project })}>
                  Edit
                </LinkButton>
              }
            >
              {keys.length === 0 ? (
                <p className="quiet">No variables are set.</p>
              ) : (
                <div className="row wrap">
                  {keys.map((key) => (
                    <Badge key={key}>
                      <span className="mono">{key}</span>
                    </Badge>
                  ))}
                </div>
              )}
            </Card>
            <Card
              title="Events"
              flush
              actions={
                <LinkButton slim look="quiet" to={to('events', { project })}>
                  All
                </LinkButton>
              }
            >
              <EventRows events={events.toReversed()} most={8} />
            </Card>
          </div>
        </div>
      </div>
    </>
  );
};

export default ProjectPage;
