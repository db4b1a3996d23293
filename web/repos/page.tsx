import type { Repo } from '#modules/repos';
import { LinkButton } from '../ui/button.tsx';
import { Empty } from '../ui/layout.tsx';
import { CommitPage } from './commit.tsx';
import { Commits } from './commits.tsx';
import { Compare } from './compare.tsx';
import { EmptyHelp } from './clone.tsx';
import { EditFile } from './edit.tsx';
import { FilePage } from './file.tsx';
import { Frame } from './frame.tsx';
import { parsePlace, repoTo, type RepoId, type RepoPlace } from './places.ts';
import { RepoSettings } from './settings.tsx';
import { Tree } from './tree.tsx';
import { useQueryPart } from './use-search.ts';

interface RepoPageProps extends RepoId {
  /** What stands behind the name; see `parsePlace`. */
  rest?: string;
}

const RepoPage = ({ project, repo: name, rest = '' }: RepoPageProps) => {
  const id = { project, repo: name };
  const place = parsePlace(rest);
  return (
    <Frame id={id} section={place?.section ?? 'tree'}>
      {(repo) => (place === undefined ? <NoSuchPart id={id} /> : <Part id={id} repo={repo} place={place} />)}
    </Frame>
  );
};

const Part = ({ id, repo, place: { section, path } }: { id: RepoId; repo: Repo; place: RepoPlace }) => {
  const query = useQueryPart();
  if (section === 'settings') return <RepoSettings id={id} repo={repo} />;
  const part = { id, repo, at: query('ref'), path };
  // A new file may well be the first.
  if (repo.empty && section !== 'new') return <EmptyRepo id={id} repo={repo} />;
  switch (section) {
    case 'tree':
      return <Tree {...part} />;
    case 'file':
      return <FilePage {...part} />;
    case 'edit':
    case 'new':
      return <EditFile {...part} isNew={section === 'new'} />;
    case 'commits':
      return <Commits {...part} path={query('path') ?? ''} />;
    case 'commit':
      return <CommitPage id={id} commit={path} />;
    case 'compare':
    default:
      return <Compare id={id} repo={repo} base={query('base')} head={query('head')} />;
  }
};

const EmptyRepo = ({ id, repo }: { id: RepoId; repo: Repo }) => (
  <div className="stack wide">
    <EmptyHelp repo={repo} />
    {repo.mirror_of === null && (
      <div className="row wrap">
        <span className="quiet">Or begin here:</span>
        <LinkButton to={repoTo(id, 'new')} icon="plus">
          Write a first file
        </LinkButton>
      </div>
    )}
  </div>
);

const NoSuchPart = ({ id }: { id: RepoId }) => (
  <Empty
    icon="anchor"
    title="This address leads nowhere"
    action={<LinkButton to={repoTo(id, 'tree')}>All files</LinkButton>}
  >
    It is no part of this repository.
  </Empty>
);

export default RepoPage;
