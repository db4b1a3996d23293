import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { to } from '../locations.ts';
import { reposRead } from '../repos/reads.ts';
import { Card } from '../ui/layout.tsx';
import { LinkButton } from '../ui/button.tsx';
import { Ago } from '../ui/time.tsx';

const MOST = 6;

/** Repositories of a project: what they deploy, when something was pushed last. */
export const RepoCard = ({ project }: { project: string }) => {
  const { data: repos = [] } = useQuery(reposRead(project));
  return (
    <Card
      title="Repositories"
      flush
      actions={
        <LinkButton slim look="quiet" to={to('repos', { project })}>
          All
        </LinkButton>
      }
    >
      {repos.length === 0 ? (
        <p className="card-body quiet">No repositories.</p>
      ) : (
        <ul className="plain-rows">
          {repos.slice(0, MOST).map(({ name, deploy_service: service, pushed_at: pushed }) => (
            <li key={name}>
              <span className="grow cut">
                <Link href={to('repo', { project, repo: name })}>{name}</Link>{' '}
                {service !== null && <span className="quiet">deploys {service}</span>}
              </span>
              <span className="small quiet">{pushed === null ? 'empty' : <Ago at={pushed} />}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
};
