import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { CommitView, CompareView, DiffView, FileView, RefView, Repo, TreeView } from '#modules/repos';
import { asApiError, at, call, callAll } from '../api.ts';
import { queries } from '../data/client.ts';
import { useLive } from '../live.ts';
import { useMay } from '../session/session.ts';
import type { RepoId } from './places.ts';

export const repoApi = ({ project, repo }: RepoId, ...parts: string[]): string =>
  at('projects', project, 'repos', repo, ...parts);

/** Everything of a repository is under this key, since a push changes most of it. */
const key = ({ project, repo }: RepoId, ...more: unknown[]) => ['repo', project, repo, ...more];

/** What was read by the id of a commit never changes. */
const staleOf = (ref: string | undefined) =>
  ref !== undefined && /^[0-9a-f]{40}$/.test(ref) ? { staleTime: Infinity } : {};

export const reposRead = (project: string) =>
  queryOptions({
    queryKey: ['repos', project],
    queryFn: ({ signal }) => callAll<Repo>(at('projects', project, 'repos'), 'repos', { signal }),
  });

export const repoRead = (id: RepoId) =>
  queryOptions({ queryKey: key(id), queryFn: ({ signal }) => call<Repo>('GET', repoApi(id), { signal }) });

/** The first of each kind; whoever has more types the name. */
export const refsRead = (id: RepoId) =>
  queryOptions({
    queryKey: key(id, 'refs'),
    queryFn: async ({ signal }) => {
      const read = (kind: 'branch' | 'tag') =>
        call<{ refs: RefView[]; next_cursor: string | null }>('GET', repoApi(id, 'refs'), {
          signal,
          query: { kind, limit: 200 },
        });
      const [branches, tags] = await Promise.all([read('branch'), read('tag')]);
      return {
        branches: branches.refs,
        tags: tags.refs,
        more: branches.next_cursor !== null || tags.next_cursor !== null,
      };
    },
  });

interface Where {
  ref: string | undefined;
  path: string;
}

export const treeRead = (id: RepoId, { ref, path }: Where) =>
  infiniteQueryOptions({
    queryKey: key(id, 'tree', ref, path),
    queryFn: ({ signal, pageParam }) =>
      call<TreeView>('GET', repoApi(id, 'tree'), { signal, query: { ref, path, cursor: pageParam, limit: 500 } }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    ...staleOf(ref),
  });

/** Bytes of a file that are shown at first. */
export const SHOWN_BYTES = 512 * 1024;

export const fileRead = (id: RepoId, { ref, path }: Where) =>
  queryOptions({
    queryKey: key(id, 'file', ref, path),
    queryFn: ({ signal }) =>
      call<FileView>('GET', repoApi(id, 'file'), { signal, query: { ref, path, offset: 0, length: SHOWN_BYTES } }),
    ...staleOf(ref),
  });

/** Null where there is none. */
export const readmeRead = (id: RepoId, { ref, path }: Where) =>
  queryOptions({
    queryKey: key(id, 'readme', ref, path),
    queryFn: async ({ signal }) => {
      try {
        return await call<FileView>('GET', repoApi(id, 'readme'), { signal, query: { ref, path } });
      } catch (thrown) {
        const { status } = asApiError(thrown);
        if (status === 404 || status === 413) return null;
        throw thrown;
      }
    },
    ...staleOf(ref),
  });

export const commitsRead = (id: RepoId, { ref, path, limit = 30 }: Where & { limit?: number }) =>
  infiniteQueryOptions({
    queryKey: key(id, 'commits', ref, path, limit),
    queryFn: ({ signal, pageParam }) =>
      call<{ commits: CommitView[]; next_cursor: string | null }>('GET', repoApi(id, 'commits'), {
        signal,
        query: { ref, path, cursor: pageParam, limit },
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
  });

export const commitRead = (id: RepoId, commit: string) =>
  queryOptions({
    queryKey: key(id, 'commit', commit),
    queryFn: ({ signal }) => call<CommitView>('GET', repoApi(id, 'commits', commit), { signal }),
    ...staleOf(commit),
  });

export const diffRead = (id: RepoId, commit: string) =>
  queryOptions({
    queryKey: key(id, 'diff', commit),
    queryFn: ({ signal }) => call<DiffView>('GET', repoApi(id, 'commits', commit, 'diff'), { signal }),
    ...staleOf(commit),
  });

export const compareRead = (id: RepoId, base: string, head: string) =>
  queryOptions({
    queryKey: key(id, 'compare', base, head),
    queryFn: ({ signal }) => call<CompareView>('GET', repoApi(id, 'compare'), { signal, query: { base, head } }),
  });

/** After a change by this page or by a push. */
export const refreshRepos = (project: string): void => {
  void queries.invalidateQueries({ queryKey: ['repos', project] });
  void queries.invalidateQueries({ queryKey: ['repo', project] });
};

/** Reads anew what a push, a mirror or somebody else has changed. */
export const useReposLive = (project: string): void => {
  const may = useMay();
  useLive(may('read') ? `events:${project}` : undefined, (events) => {
    if (events.some((event) => event.kind === 'event' && event.event.kind.startsWith('repo.'))) refreshRepos(project);
  });
};
