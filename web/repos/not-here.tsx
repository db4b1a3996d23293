import { useQuery } from '@tanstack/react-query';
import { Redirect } from 'wouter';
import { ApiError, asApiError, call } from '../api.ts';
import { LinkButton } from '../ui/button.tsx';
import { ErrorCard } from '../ui/error-card.tsx';
import { SkeletonLines } from '../ui/layout.tsx';
import { repoTo, type PartProps } from './places.ts';
import { repoApi } from './reads.ts';

/** Whether there is nothing at a ref or a path, any more: what was read before must not be shown then. */
export const isGone = (error: unknown): boolean => error !== null && asApiError(error).status === 404;

/** What is missing with a next step of the page: the API names its own operations. */
export const inWords = (error: unknown): ApiError => {
  const failure = asApiError(error);
  if (failure.status !== 404) return failure;
  const { code, message, status, requestId } = failure;
  const hint = 'it may have been renamed or deleted: choose another branch, or look at the commits';
  return new ApiError({ code, message, hint, retryable: false }, status, requestId);
};

type Section = 'tree' | 'file';

interface NotHereProps extends Omit<PartProps, 'repo'> {
  section: Section | 'commits';
  error: unknown;
  onRetry: () => void;
}

/** A path or a ref that can't be shown, and the ways on. A folder that was taken for a file is opened, and the reverse. */
export const NotHere = (props: NotHereProps) => {
  const { id, at, path, section, error, onRetry } = props;
  const failure = asApiError(error);
  if (failure.status === 400 && section !== 'commits' && path !== '') return <OtherKind {...props} section={section} />;
  return (
    <ErrorCard
      error={inWords(failure)}
      {...(failure.retryable && { onRetry })}
      actions={
        <>
          {path !== '' && section !== 'commits' && (
            <LinkButton to={repoTo(id, 'commits', '', { ref: at, path })}>Commits that changed it</LinkButton>
          )}
          {path !== '' && <LinkButton to={repoTo(id, 'tree', '', { ref: at })}>All files</LinkButton>}
          {at !== undefined && <LinkButton to={repoTo(id, 'tree')}>The default branch</LinkButton>}
        </>
      }
    />
  );
};

const OtherKind = ({ id, at, path, section, error }: NotHereProps & { section: Section }) => {
  const other = section === 'tree' ? 'file' : 'tree';
  const { isPending, isSuccess } = useQuery({
    queryKey: ['repo', id.project, id.repo, 'is', other, at, path],
    queryFn: () => call('GET', repoApi(id, other), { query: { ref: at, path, ...smallest(other) } }),
  });
  if (isSuccess) return <Redirect to={repoTo(id, other, path, { ref: at })} replace />;
  if (isPending) return <SkeletonLines lines={6} />;
  return (
    <ErrorCard error={error} actions={<LinkButton to={repoTo(id, 'tree', '', { ref: at })}>All files</LinkButton>} />
  );
};

const smallest = (section: Section) => (section === 'file' ? { offset: 0, length: 1 } : { limit: 1 });
