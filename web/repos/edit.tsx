import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { FileView } from '#modules/repos';
import { LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { Empty, Notice, SkeletonLines } from '../ui/layout.tsx';
import { EditForm } from './edit-form.tsx';
import { useBranch } from './file.tsx';
import { repoTo, type PartProps } from './places.ts';
import { commitsRead, fileRead } from './reads.ts';

/** A file to change, or a new one. */
export const EditFile = (props: PartProps & { isNew: boolean }) => {
  if (props.repo.mirror_of !== null)
    return (
      <Empty
        icon="repo"
        title="A mirror is only read"
        action={<LinkButton to={repoTo(props.id, 'settings')}>Settings</LinkButton>}
      >
        It follows <code>{props.repo.mirror_of}</code>: commit there, or stop mirroring in the settings.
      </Empty>
    );
  return props.isNew ? <NewFile {...props} /> : <ExistingFile {...props} />;
};

const NewFile = (props: PartProps) => {
  const branch = useBranch(props);
  const { data, error, isPending } = useInfiniteQuery({
    ...commitsRead(props.id, { ref: props.at, path: '', limit: 1 }),
    enabled: !props.repo.empty,
  });
  if (error !== null && data === undefined) return <ErrorCard error={error} />;
  if (isPending && !props.repo.empty) return <SkeletonLines lines={6} />;
  return (
    <EditForm
      {...props}
      branch={branch}
      file={undefined}
      head={data?.pages[0]?.commits[0]?.id ?? null}
      text=""
      path={props.path === '' ? '' : `${props.path}/`}
    />
  );
};

const ExistingFile = (props: PartProps) => {
  const { id, at, path } = props;
  const branch = useBranch(props);
  // What is being edited must not change under the hands of whoever edits: it is read once.
  const {
    data: file,
    error,
    refetch,
  } = useQuery({
    ...fileRead(id, { ref: at, path }),
    queryKey: ['edit', id.project, id.repo, at, path],
    staleTime: Infinity,
    gcTime: 0,
  });
  if (file === undefined && error !== null)
    return (
      <ErrorCard
        error={error}
        onRetry={() => void refetch()}
        actions={<LinkButton to={repoTo(id, 'tree', '', { ref: at })}>All files</LinkButton>}
      />
    );
  if (file === undefined) return <SkeletonLines lines={8} />;
  const reason = uneditable(file);
  if (reason !== undefined)
    return (
      <Notice tone="warn">
        {reason} <Link href={repoTo(id, 'file', path, { ref: at })}>Back to the file</Link>
      </Notice>
    );
  return <EditForm {...props} branch={branch} file={file} head={file.commit} text={file.content} />;
};

const uneditable = ({ kind, encoding, next_offset }: FileView): string | undefined => {
  if (kind === 'symlink') return 'A symbolic link is not edited here: use git.';
  if (encoding !== 'utf-8') return 'This file is not text: use git.';
  return next_offset === null ? undefined : 'This file is too large to edit in a page: use git.';
};
