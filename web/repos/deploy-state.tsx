import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Release } from '#modules/releases';
import type { Repo } from '#modules/repos';
import { asApiError } from '../api.ts';
import { useProjectLive } from '../data/follow.ts';
import { operationsRead, releasesRead, serviceRead } from '../data/reads.ts';
import { isOpen, statusOf } from '../deploys/kinds.ts';
import { to } from '../locations.ts';
import { SERVICE_STATUS } from '../services/state.ts';
import { LinkButton } from '../ui/button.tsx';
import { count } from '../ui/format.ts';
import { Status } from '../ui/status.tsx';
import { repoTo, type RepoId } from './places.ts';
import { compareRead } from './reads.ts';

interface DeployStateProps {
  id: RepoId;
  repo: Repo;
}

/** What a push deploys: how that service is, and how far what is live is behind the branch. */
export const DeployState = ({ id, repo }: DeployStateProps) => {
  const service = repo.deploy_service;
  if (service === null) return null;
  return <Linked id={id} service={service} branch={repo.deploy_branch ?? repo.default_branch} />;
};

interface LinkedProps {
  id: RepoId;
  service: string;
  branch: string;
}

const Linked = ({ id, service, branch }: LinkedProps) => {
  const { project } = id;
  useProjectLive(project);
  const { data, error } = useQuery(serviceRead(project, service));
  const { data: operations = [] } = useQuery(operationsRead({ project, service, kind: 'deploy', limit: 1 }));
  const { data: releases } = useInfiniteQuery(releasesRead(project, service));
  const live = releases?.pages.flatMap((page) => page.releases).find((release) => release.live);
  const last = operations[0];
  const missing = error !== null && asApiError(error).status === 404;
  const { tone, word } =
    data === undefined ? { tone: 'none' as const, word: 'Not there yet' } : SERVICE_STATUS[data.status];
  return (
    <section className="deploy-state" aria-label="What is deployed">
      <span className="row wrap grow">
        <Link className="strong" href={to('service', { project, service })}>
          {service}
        </Link>
        {(data !== undefined || missing) && <Status tone={tone}>{word}</Status>}
        {missing && (
          <span className="quiet">
            The next push to <code>{branch}</code> makes it.
          </span>
        )}
        {live !== undefined && <Behind id={id} live={live} branch={branch} />}
      </span>
      {last !== undefined && (isOpen(last) || last.status === 'failed') && (
        <span className="row">
          <Status tone={statusOf(last).tone}>
            {isOpen(last) ? `deploying: ${statusOf(last).word.toLowerCase()}` : 'the last deploy failed'}
          </Status>
          <LinkButton slim to={to('operation', { operation: last.operation_id })}>
            {isOpen(last) ? 'Follow' : 'See why'}
          </LinkButton>
        </span>
      )}
    </section>
  );
};

/** Where the live release stands in the history of the branch. */
const Behind = ({ id, live, branch }: { id: RepoId; live: Release; branch: string }) => {
  const { commit } = live;
  const { data, error } = useQuery({
    ...compareRead(id, commit ?? '', `refs/heads/${branch}`),
    enabled: commit !== null,
  });
  if (commit === null) return <span className="quiet">What is live was not made from a commit.</span>;
  const link = (
    <Link href={repoTo(id, 'commit', commit)}>
      <code>{commit.slice(0, 12)}</code>
    </Link>
  );
  // Deployed from elsewhere, or rewritten since.
  if (error !== null) return <span className="quiet">Live is a commit that this repository lacks.</span>;
  if (data === undefined) return <span className="quiet">Live at {link}</span>;
  if (data.ahead === 0 && data.behind === 0)
    return (
      <span className="quiet">
        Live at {link}, the newest of <code>{branch}</code>
      </span>
    );
  return (
    <span className="quiet">
      Live at {link};{' '}
      <Link href={repoTo(id, 'compare', '', { base: commit, head: branch })}>
        {data.ahead > 0 ? `${count(data.ahead, 'commit')} of ${branch} not deployed` : `ahead of ${branch}`}
      </Link>
    </span>
  );
};
