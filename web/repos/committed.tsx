import type { CommittedFiles, Repo } from '#modules/repos';
import { ApiError } from '../api.ts';
import { to } from '../locations.ts';
import { LinkButton } from '../ui/button.tsx';
import { ErrorLine } from '../ui/error-card.tsx';
import { Card } from '../ui/layout.tsx';
import { Status } from '../ui/status.tsx';
import { subjectOf } from './commit-line.tsx';
import { repoTo, type RepoId } from './places.ts';

/** Whether a commit on the branch begins a deploy. */
export const deploysBranch = (repo: Repo, branch: string): boolean =>
  repo.deploy_service !== null && (branch === (repo.deploy_branch ?? repo.default_branch) || repo.preview);

interface CommittedProps {
  id: RepoId;
  repo: Repo;
  reply: CommittedFiles;
  path: string;
}

/** What was committed, and what it deploys. */
export const Committed = ({ id, repo, reply, path }: CommittedProps) => {
  const { branch, changed, commit, deploys } = reply;
  const at = branch === repo.default_branch ? undefined : branch;
  return (
    <Card title={changed ? 'Committed' : 'Nothing to commit'}>
      <div className="stack" role="status">
        <p>
          {changed ? (
            <>
              <code>{commit.id.slice(0, 12)}</code> “{subjectOf(commit)}” is on <code>{branch}</code>.
            </>
          ) : (
            <>
              The file is like that on <code>{branch}</code> already.
            </>
          )}
        </p>
        {deploys.map(({ service, operation_id, error }) =>
          error === null ? (
            <div key={service} className="row wrap">
              <Status tone="busy">{service} is being deployed</Status>
              {operation_id !== null && (
                <LinkButton slim look="primary" to={to('operation', { operation: operation_id })}>
                  Follow the deploy
                </LinkButton>
              )}
            </div>
          ) : (
            <ErrorLine
              key={service}
              error={new ApiError({ ...error, message: `${service} is not deployed: ${error.message}` }, 0)}
            />
          ),
        )}
        {changed && deploys.length === 0 && <p className="quiet">It deploys nothing.</p>}
        <div className="row wrap">
          <LinkButton to={repoTo(id, 'file', path, { ref: at })}>Back to the file</LinkButton>
          <LinkButton to={repoTo(id, 'commit', commit.id)}>Show the commit</LinkButton>
          {branch !== repo.default_branch && (
            <LinkButton to={repoTo(id, 'compare', '', { base: repo.default_branch, head: branch })}>
              Compare with {repo.default_branch}
            </LinkButton>
          )}
        </div>
      </div>
    </Card>
  );
};
