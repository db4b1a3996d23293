import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Suspense, lazy } from 'react';
import { Link } from 'wouter';
import type { TreeView } from '#modules/repos';
import { withQuery } from '../api.ts';
import { useMay } from '../session/session.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { bytes } from '../ui/format.ts';
import { Icon } from '../ui/icons.tsx';
import { Card, SkeletonLines } from '../ui/layout.tsx';
import { LastCommit } from './commit-line.tsx';
import { DeployState } from './deploy-state.tsx';
import { isGone, NotHere } from './not-here.tsx';
import { PathLine } from './path-line.tsx';
import { nameOf, parentOf, repoTo, type PartProps } from './places.ts';
import { readmeRead, repoApi, treeRead } from './reads.ts';
import { RefPicker } from './ref-picker.tsx';

const Markdown = lazy(() => import('./markdown.tsx'));

type Entry = TreeView['entries'][number];

/** A folder: its entries, and its README. */
export const Tree = ({ id, repo, at, path }: PartProps) => {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    treeRead(id, { ref: at, path }),
  );
  const entries = isGone(error) ? undefined : data?.pages.flatMap((page) => page.entries);
  const current = at ?? repo.default_branch;
  const may = useMay();
  return (
    <div className="stack">
      {path === '' && may('read') && <DeployState id={id} repo={repo} />}
      <div className="row wrap">
        <RefPicker id={id} current={current} hrefOf={(ref) => repoTo(id, 'tree', path, { ref })} />
        <PathLine id={id} at={at} path={path} />
        {entries !== undefined && (
          <div className="row">
            {repo.mirror_of === null && (
              <LinkButton to={repoTo(id, 'new', path, { ref: at })} icon="plus" slim>
                New file
              </LinkButton>
            )}
            <a className="btn slim" download href={withQuery(repoApi(id, 'archive'), { ref: at, path })}>
              <Icon name="download" />
              Download
            </a>
          </div>
        )}
      </div>
      {error !== null && entries === undefined && (
        <NotHere {...{ id, at, path, error }} section="tree" onRetry={() => void refetch()} />
      )}
      {entries === undefined && error === null && <SkeletonLines lines={6} />}
      {entries !== undefined && (
        <Card flush>
          <LastCommit id={id} at={at} path={path} />
          <Entries entries={entries} {...{ id, at, path }} />
          {hasNextPage && (
            <div className="more-row">
              <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                Show more entries
              </Button>
            </div>
          )}
        </Card>
      )}
      {entries !== undefined && <Readme id={id} at={at} path={path} />}
    </div>
  );
};

type WhereProps = Omit<PartProps, 'repo'>;

const Entries = ({ id, at, path, entries }: WhereProps & { entries: readonly Entry[] }) => (
  <ul className="tree" aria-label={path === '' ? 'Files' : `Files in ${path}`}>
    {path !== '' && (
      <li>
        <Link href={repoTo(id, 'tree', parentOf(path), { ref: at })}>
          <Icon name="folder" />
          <span className="mono">..</span>
          <span className="sr-only">the folder above</span>
        </Link>
      </li>
    )}
    {[...entries].sort(foldersFirst).map((entry) => (
      <li key={entry.raw_path ?? entry.path}>
        <EntryLine id={id} at={at} entry={entry} />
      </li>
    ))}
    {entries.length === 0 && <li className="quiet">This folder is empty.</li>}
  </ul>
);

const foldersFirst = (a: Entry, b: Entry): number => Number(b.kind === 'directory') - Number(a.kind === 'directory');

const EntryLine = ({ id, at, entry }: { id: WhereProps['id']; at: string | undefined; entry: Entry }) => {
  const { kind, path, raw_path, size, id: object, mode } = entry;
  const name = <span className="mono grow entry-name">{nameOf(path)}</span>;
  // The API can't be asked for a name that is no text.
  if (raw_path !== undefined)
    return (
      <span className="entry" title="Its name is not UTF-8: clone the repository to read it">
        <Icon name="file" />
        {name}
        <span className="small faint">name is not UTF-8</span>
      </span>
    );
  if (kind === 'submodule')
    return (
      <span className="entry">
        <Icon name="link" />
        {name}
        <span className="small faint">submodule at {object.slice(0, 12)}</span>
      </span>
    );
  const folder = kind === 'directory';
  return (
    <Link href={repoTo(id, folder ? 'tree' : 'file', path, { ref: at })}>
      <Icon name={folder ? 'folder' : kind === 'symlink' ? 'link' : 'file'} />
      {name}
      {folder && <span className="sr-only">folder</span>}
      {kind === 'symlink' && <span className="small faint">link</span>}
      {mode === '100755' && <span className="small faint">executable</span>}
      {size !== null && kind === 'file' && <span className="small faint nowrap">{bytes(size)}</span>}
    </Link>
  );
};

const Readme = ({ id, at, path }: WhereProps) => {
  const { data: file } = useQuery(readmeRead(id, { ref: at, path }));
  if (file === undefined || file === null || file.encoding !== 'utf-8') return null;
  const markdown = /\.(?:md|markdown)$/i.test(file.path);
  return (
    <Card title={nameOf(file.path)}>
      {markdown ? (
        <Suspense fallback={<SkeletonLines lines={4} />}>
          <Markdown id={id} at={at} folder={path} text={file.content} />
        </Suspense>
      ) : (
        <pre className="plain-text">{file.content}</pre>
      )}
    </Card>
  );
};
