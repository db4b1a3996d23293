import type {
  CommitFiles,
  CommittedFiles,
  CommitView,
  CompareView,
  CreatedRepo,
  CreateRepo,
  DiffView,
  FileView,
  RefView,
  Repo,
  TreeView,
  UpdatedRepo,
  UpdateRepo,
} from '#modules/repos';
import type { List, Paging } from './api.ts';
import type { Http } from './http.ts';

type PathOf = (project: string, ...rest: string[]) => string;

/** The operations on git repositories. */
export const reposApi = (http: Http, project: PathOf) => ({
  listRepos: (of: string, page: Paging) =>
    http.json<List<'repos', Repo>>('GET', project(of, 'repos'), { query: { ...page } }),
  createRepo: (of: string, body: CreateRepo) => http.json<CreatedRepo>('POST', project(of, 'repos'), { json: body }),
  getRepo: (of: string, name: string) => http.json<Repo>('GET', project(of, 'repos', name)),
  updateRepo: (of: string, name: string, body: UpdateRepo) =>
    http.json<UpdatedRepo>('PATCH', project(of, 'repos', name), { json: body }),
  deleteRepo: (of: string, name: string) => http.json<Record<string, unknown>>('DELETE', project(of, 'repos', name)),
  syncRepo: (of: string, name: string) => http.json<{ started: true }>('POST', project(of, 'repos', name, 'sync')),
  listRepoCommits: (of: string, name: string, query: Paging & { ref?: string; path?: string; files?: boolean }) =>
    http.json<List<'commits', CommitView>>('GET', project(of, 'repos', name, 'commits'), { query: { ...query } }),
  listRepoRefs: (of: string, name: string, query: Paging & { kind?: string | undefined }) =>
    http.json<List<'refs', RefView>>('GET', project(of, 'repos', name, 'refs'), { query: { ...query } }),
  getRepoCommit: (of: string, name: string, commit: string) =>
    http.json<CommitView>('GET', project(of, 'repos', name, 'commits', commit)),
  getRepoDiff: (of: string, name: string, commit: string, query: { path?: string; max_bytes?: number }) =>
    http.json<DiffView>('GET', project(of, 'repos', name, 'commits', commit, 'diff'), { query: { ...query } }),
  compareRepoRefs: (
    of: string,
    name: string,
    query: { base: string; head?: string; limit?: number; max_bytes?: number },
  ) => http.json<CompareView>('GET', project(of, 'repos', name, 'compare'), { query: { ...query } }),
  getRepoReadme: (of: string, name: string, query: { ref?: string; path?: string }) =>
    http.json<FileView>('GET', project(of, 'repos', name, 'readme'), { query: { ...query } }),
  getRepoArchive: (of: string, name: string, query: { format: string; ref?: string; path?: string }) =>
    http.open('GET', project(of, 'repos', name, 'archive'), { query: { ...query } }),
  getRepoTree: (of: string, name: string, query: Paging & { ref?: string; path?: string; recursive?: boolean }) =>
    http.json<TreeView>('GET', project(of, 'repos', name, 'tree'), { query: { ...query } }),
  getRepoFile: (of: string, name: string, query: { path: string; ref?: string; offset?: number; length?: number }) =>
    http.json<FileView>('GET', project(of, 'repos', name, 'file'), { query: { ...query } }),
  commitRepoFiles: (of: string, name: string, body: CommitFiles) =>
    http.json<CommittedFiles>('POST', project(of, 'repos', name, 'commits'), { json: body }),
});
