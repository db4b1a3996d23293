import type { Repo } from '#modules/repos';
import { CodeBlock } from '../ui/code.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Notice } from '../ui/layout.tsx';

const cloneLines = ({ clone_url }: Repo): string => `git clone ${clone_url}`;

/** How to get a copy, and what git asks for. */
export const CloneDialog = ({ repo, onClose }: { repo: Repo; onClose: () => void }) => (
  <Dialog title={`Clone ${repo.name}`} onClose={onClose}>
    <CodeBlock code={cloneLines(repo)} label="Copy the clone line" />
    <Password />
    <p className="quiet">With the berth client, which signs git in by itself:</p>
    <CodeBlock code={`berth clone ${repo.name} -p ${repo.project}`} label="Copy the line for the client" />
  </Dialog>
);

const Password = () => (
  <p className="quiet">
    Git asks for a user name (any will do) and a password: a token with <code>manage_repos</code> for this project.
  </p>
);

/** From a folder with code to a first push: exactly what to type. */
export const EmptyHelp = ({ repo }: { repo: Repo }) => {
  const { default_branch: branch, clone_url: url } = repo;
  return (
    <div className="stack wide empty-repo">
      <div>
        <h2>Nothing was pushed yet</h2>
        <p className="quiet">
          Type this in a folder with code.{' '}
          {repo.deploy_service !== null && repo.mirror_of === null && (
            <FirstDeploy branch={branch} deployed={repo.deploy_branch ?? branch} service={repo.deploy_service} />
          )}
        </p>
      </div>
      {repo.mirror_of !== null ? (
        <Notice>
          This repository follows <code>{repo.mirror_of}</code>: it fills by itself once that was fetched. How that goes
          is in the settings.
        </Notice>
      ) : (
        <>
          <Lines
            title="A folder that is no git repository yet"
            code={[
              `git init --initial-branch=${branch}`,
              'git add --all',
              "git commit --message 'First'",
              `git remote add berth ${url}`,
              `git push --set-upstream berth ${branch}`,
            ]}
          />
          <Lines
            title="A git repository that is there already"
            code={[`git remote add berth ${url}`, `git push --set-upstream berth HEAD:refs/heads/${branch}`]}
          />
          <Password />
        </>
      )}
    </div>
  );
};

/** The lines push the default branch, which need not be the one that is deployed. */
const FirstDeploy = ({ branch, deployed, service }: { branch: string; deployed: string; service: string }) =>
  deployed === branch ? (
    <>
      The first push deploys <code>{service}</code>, and git shows how it goes.
    </>
  ) : (
    <>
      These lines push <code>{branch}</code>; it is a push to <code>{deployed}</code> that deploys{' '}
      <code>{service}</code>.
    </>
  );

const Lines = ({ title, code }: { title: string; code: readonly string[] }) => (
  <section className="stack tight" aria-label={title}>
    <h3>{title}</h3>
    <CodeBlock code={code.join('\n')} label={`Copy: ${title}`} />
  </section>
);
