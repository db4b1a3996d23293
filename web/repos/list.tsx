import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Repo } from '#modules/repos';
import { to } from '../locations.ts';
import { useMay } from '../session/session.ts';
import { Button } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { bytes } from '../ui/format.ts';
import { Card, Empty, PageHead, SkeletonLines } from '../ui/layout.tsx';
import { Badge, Status } from '../ui/status.tsx';
import { Table, type Column } from '../ui/table.tsx';
import { Ago } from '../ui/time.tsx';
import { CreateRepoDialog } from './create.tsx';
import { Deploys } from './frame.tsx';
import { repoTo } from './places.ts';
import { reposRead, useReposLive } from './reads.ts';

const COLUMNS: readonly Column<Repo>[] = [
  {
    head: 'Repository',
    cell: (repo) => (
      <>
        <Link className="cover strong" href={repoTo({ project: repo.project, repo: repo.name }, 'tree')}>
          {repo.name}
        </Link>{' '}
        {repo.mirror_of !== null && <Badge tone={repo.mirror_error === null ? 'idle' : 'bad'}>mirror</Badge>}
      </>
    ),
  },
  {
    head: 'On a push',
    cell: (repo) => (
      <span className="above quiet">
        <Deploys repo={repo} />
      </span>
    ),
  },
  {
    head: 'Last push',
    cell: (repo) => (repo.pushed_at === null ? <Status tone="none">nothing yet</Status> : <Ago at={repo.pushed_at} />),
  },
  { head: 'Size', end: true, cell: (repo) => <span className="nowrap">{bytes(repo.size_bytes)}</span> },
];

const Repos = ({ project }: { project: string }) => {
  const may = useMay();
  const [creating, setCreating] = useState(false);
  return (
    <>
      <PageHead
        title="Repositories"
        crumbs={[{ label: project, to: to('project', { project }) }]}
        below="Git repositories on this server. A push deploys."
        actions={
          may('manage_repos') && (
            <Button look="primary" icon="plus" onClick={() => setCreating(true)}>
              New repository
            </Button>
          )
        }
      />
      {may('manage_repos') ? (
        <List project={project} onCreate={() => setCreating(true)} />
      ) : (
        <Empty icon="repo" title="Not for this token">
          Reading and changing repositories needs the capability <code>manage_repos</code>. Ask whoever minted your
          token for one that has it.
        </Empty>
      )}
      {creating && <CreateRepoDialog project={project} onClose={() => setCreating(false)} />}
    </>
  );
};

const List = ({ project, onCreate }: { project: string; onCreate: () => void }) => {
  const { data: repos, error, refetch } = useQuery(reposRead(project));
  useReposLive(project);
  if (repos === undefined && error !== null) return <ErrorCard error={error} onRetry={() => void refetch()} />;
  if (repos === undefined) return <SkeletonLines lines={4} />;
  if (repos.length === 0)
    return (
      <Card>
        <Empty
          icon="repo"
          title="No repositories yet"
          action={
            <Button look="primary" icon="plus" onClick={onCreate}>
              Make the first one
            </Button>
          }
        >
          Push code to one, and it is live; or follow one at GitHub, GitLab, Gitea or Forgejo.
        </Empty>
      </Card>
    );
  return (
    <Card flush>
      <Table caption="Repositories" columns={COLUMNS} rows={repos} keyOf={({ name }) => name} linked />
    </Card>
  );
};

export default Repos;
