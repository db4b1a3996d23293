import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { Repo } from '#modules/repos';
import { to } from '../locations.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { LinkTabs, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Badge } from '../ui/status.tsx';
import { CloneDialog } from './clone.tsx';
import { repoTo, type RepoId, type Section } from './places.ts';
import { repoRead, useReposLive } from './reads.ts';

interface FrameProps {
  id: RepoId;
  section: Section;
  children: (repo: Repo) => ReactNode;
}

const TAB_OF: Record<Section, Section> = {
  tree: 'tree',
  file: 'tree',
  edit: 'tree',
  new: 'tree',
  commits: 'commits',
  commit: 'commits',
  compare: 'compare',
  settings: 'settings',
};

/** Head and tabs, the same on every page of a repository. */
export const Frame = ({ id, section, children }: FrameProps) => {
  const { data: repo, error, refetch } = useQuery(repoRead(id));
  const [cloning, setCloning] = useState(false);
  useReposLive(id.project);
  const tabs = [
    { to: repoTo(id, 'tree'), label: 'Files' },
    { to: repoTo(id, 'commits'), label: 'Commits' },
    { to: repoTo(id, 'compare'), label: 'Compare' },
    { to: repoTo(id, 'settings'), label: 'Settings' },
  ];
  return (
    <>
      <PageHead
        title={id.repo}
        crumbs={[
          { label: id.project, to: to('project', { project: id.project }) },
          { label: 'Repositories', to: to('repos', { project: id.project }) },
        ]}
        beside={repo?.mirror_of != null && <Badge tone={repo.mirror_error === null ? 'idle' : 'bad'}>mirror</Badge>}
        below={repo !== undefined && <OnPush id={id} repo={repo} />}
        actions={
          repo !== undefined && (
            <Button icon="terminal" onClick={() => setCloning(true)}>
              Clone
            </Button>
          )
        }
      />
      <LinkTabs label="Repository" tabs={tabs} current={repoTo(id, TAB_OF[section])} />
      {repo === undefined && error === null && <SkeletonLines lines={6} />}
      {repo === undefined && error !== null && (
        <ErrorCard
          error={error}
          onRetry={() => void refetch()}
          actions={<LinkButton to={to('repos', { project: id.project })}>All repositories</LinkButton>}
        />
      )}
      {repo !== undefined && children(repo)}
      {cloning && repo !== undefined && <CloneDialog repo={repo} onClose={() => setCloning(false)} />}
    </>
  );
};

/** What a push does, and where to change that. */
const OnPush = ({ id, repo }: { id: RepoId; repo: Repo }) => (
  <>
    <Deploys repo={repo} />
    {repo.deploy_service === null && (
      <>
        {' · '}
        <Link href={repoTo(id, 'settings')}>Link a service</Link>
      </>
    )}
  </>
);

/** What a push does. */
export const Deploys = ({ repo }: { repo: Repo }) => {
  if (repo.deploy_service === null) return <>A push deploys nothing</>;
  return (
    <>
      A push to <code>{repo.deploy_branch ?? repo.default_branch}</code> deploys{' '}
      <Link href={to('service', { project: repo.project, service: repo.deploy_service })}>{repo.deploy_service}</Link>
      {repo.root !== null && (
        <>
          {' '}
          from <code>{repo.root}</code>
        </>
      )}
      {repo.preview && '; other branches get previews'}
    </>
  );
};
