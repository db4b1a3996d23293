import type { Readable } from 'node:stream';
import type { Git } from '#engines/git/port';
import type { Ctx } from '#kernel/ctx';
import { BerthError, notFound } from '#kernel/errors';
import type { Page } from '#kernel/schema';
import {
  FILE_BYTES,
  PATCH_BYTES,
  TREE_LIMIT,
  type CommitView,
  type CompareView,
  type DiffView,
  type FileView,
  type RefView,
  type TreeView,
} from './content-model.ts';
import {
  commitCursor,
  commitView,
  fileView,
  parseCommitCursor,
  parseTreeCursor,
  readmeRank,
  refView,
  treeCursor,
} from './content-view.ts';
import type { RepoPath, Repos } from './service.ts';

/** One page, and the key that the next begins after. */
export interface Paged<T> {
  items: T[];
  next: string | null;
}

export interface Archive {
  fileName: string;
  mediaType: string;
  open(signal: AbortSignal): Promise<Readable>;
}

/** The verbs that read what is in a repository. */
export interface Contents {
  listRefs(ctx: Ctx, path: RepoPath, page: Page, kind?: 'branch' | 'tag'): Promise<Paged<RefView>>;
  listCommits(
    ctx: Ctx,
    path: RepoPath,
    page: Page,
    query: { ref?: string; path?: string; files?: boolean },
  ): Promise<Paged<CommitView>>;
  getCommit(ctx: Ctx, path: RepoPath, commit: string): Promise<CommitView>;
  getDiff(ctx: Ctx, path: RepoPath, commit: string, query: { path?: string; max_bytes?: number }): Promise<DiffView>;
  compare(
    ctx: Ctx,
    path: RepoPath,
    query: { base: string; head?: string; limit?: number; max_bytes?: number },
  ): Promise<CompareView>;
  getTree(
    ctx: Ctx,
    path: RepoPath,
    query: { ref?: string; path?: string; recursive?: boolean; limit?: number; after: string | undefined },
  ): Promise<Omit<TreeView, 'next_cursor'> & { next: string | null }>;
  getFile(
    ctx: Ctx,
    path: RepoPath,
    query: { path: string; ref?: string; offset?: number; length?: number },
  ): Promise<FileView>;
  /** Of a folder, under any of its usual names. */
  getReadme(ctx: Ctx, path: RepoPath, query: { ref?: string; path?: string }): Promise<FileView>;
  getArchive(
    ctx: Ctx,
    path: RepoPath,
    query: { ref?: string; path?: string; format?: 'tar' | 'tar.gz' },
  ): Promise<Archive>;
}

export interface ContentsDeps {
  git: Pick<Git, 'resolve' | 'refs' | 'commits' | 'commit' | 'tree' | 'file' | 'diff' | 'compare' | 'archive'>;
  repos: Pick<Repos, 'requireRepo'>;
}

const PREFIXES = { branch: 'refs/heads/', tag: 'refs/tags/' };
/** Entries of a folder among which a README is looked for. */
const README_AMONG = 5000;

/** Every verb reads one commit, which its first step finds: what is pushed meanwhile does not mix in. */
export const createContents = ({ git, repos }: ContentsDeps): Contents => {
  const readFile = async (
    repo: string,
    commit: string,
    query: { path: string; offset?: number; length?: number },
  ): Promise<FileView> => {
    const { path, offset = 0, length = FILE_BYTES } = query;
    const ranged = query.offset !== undefined || query.length !== undefined;
    const file = await git.file(repo, { ref: commit, path, offset, length });
    if (!ranged && file.size > length) throw tooLarge(path, file.size);
    return fileView(commit, file);
  };

  return {
    listRefs: async (ctx, path, page, kind) => {
      const row = repos.requireRepo(ctx, path);
      const prefix = kind === undefined ? {} : { prefix: PREFIXES[kind] };
      const found = await git.refs(row.id, { limit: page.limit + 1, after: page.after, ...prefix });
      const shown = found.slice(0, page.limit).map((ref) => refView(ref, row.default_branch));
      return { items: shown, next: found.length > page.limit ? (shown.at(-1)?.ref ?? null) : null };
    },
    listCommits: async (ctx, path, page, query) => {
      const { id } = repos.requireRepo(ctx, path);
      const { start, after } =
        page.after === undefined
          ? { start: await git.resolve(id, query.ref), after: {} }
          : parseCommitCursor(page.after);
      const { files = false } = query;
      const pathQuery = query.path === undefined ? {} : { path: query.path };
      const found = await git.commits(id, { ref: start, limit: page.limit + 1, files, ...pathQuery, ...after });
      const shown = found.slice(0, page.limit).map(commitView);
      const last = shown.at(-1);
      return { items: shown, next: found.length > page.limit && last ? commitCursor(start, last.id) : null };
    },
    getCommit: async (ctx, path, commit) => commitView(await git.commit(repos.requireRepo(ctx, path).id, commit)),
    getDiff: async (ctx, path, name, query) => {
      const { id } = repos.requireRepo(ctx, path);
      const commit = await git.resolve(id, name);
      const pathQuery = query.path === undefined ? {} : { path: query.path };
      const diff = await git.diff(id, commit, { maxBytes: query.max_bytes ?? PATCH_BYTES, ...pathQuery });
      return { commit, ...diff };
    },
    compare: async (ctx, path, query) => {
      const { id } = repos.requireRepo(ctx, path);
      const [base, head] = await Promise.all([git.resolve(id, query.base), git.resolve(id, query.head)]);
      const { limit = 50, max_bytes: maxBytes = PATCH_BYTES } = query;
      const { mergeBase, ahead, behind, commits, diff } = await git.compare(id, { base, head, limit, maxBytes });
      return { base, head, merge_base: mergeBase, ahead, behind, commits: commits.map(commitView), ...diff };
    },
    getTree: async (ctx, path, query) => {
      const { id } = repos.requireRepo(ctx, path);
      const { limit = TREE_LIMIT, recursive = false } = query;
      const folder = query.path?.replace(/\/$/, '');
      const { commit, after } =
        query.after === undefined
          ? { commit: await git.resolve(id, query.ref), after: {} }
          : parseTreeCursor(query.after);
      const below = folder === undefined ? {} : { path: folder };
      const found = await git.tree(id, { ref: commit, recursive, limit: limit + 1, ...below, ...after });
      const entries = found.slice(0, limit);
      const last = entries.at(-1);
      const next = found.length > limit && last !== undefined ? treeCursor(commit, last) : null;
      return { commit, path: folder ?? '', entries, next };
    },
    getFile: async (ctx, path, query) => {
      const { id } = repos.requireRepo(ctx, path);
      return readFile(id, await git.resolve(id, query.ref), query);
    },
    getReadme: async (ctx, path, query) => {
      const { id } = repos.requireRepo(ctx, path);
      const commit = await git.resolve(id, query.ref);
      const folder = query.path === undefined ? {} : { path: query.path.replace(/\/$/, '') };
      const entries = await git.tree(id, { ref: commit, recursive: false, limit: README_AMONG, ...folder });
      const [best] = entries
        .filter((entry) => entry.kind === 'file' && readmeRank(entry.path) !== undefined)
        .sort((a, b) => (readmeRank(a.path) ?? 0) - (readmeRank(b.path) ?? 0));
      if (best === undefined)
        throw notFound('there is no README in this folder', 'add a README.md, or name its folder with path');
      return readFile(id, commit, { path: best.path });
    },
    getArchive: async (ctx, path, { ref, path: root, format = 'tar.gz' }) => {
      const row = repos.requireRepo(ctx, path);
      const commit = await git.resolve(row.id, ref);
      const name = `${row.name}-${commit.slice(0, 12)}`;
      const below = root === undefined ? {} : { root: root.replace(/\/$/, '') };
      const gzip = format === 'tar.gz';
      return {
        fileName: `${name}.${format}`,
        mediaType: gzip ? 'application/gzip' : 'application/x-tar',
        open: (signal) => git.archive(row.id, { commit, gzip, prefix: `${name}/`, signal, ...below }),
      };
    },
  };
};

/** Not a part of it in silence: who then wrote that back would lose the rest. */
const tooLarge = (path: string, size: number): BerthError =>
  new BerthError(
    'INVALID_INPUT',
    `${JSON.stringify(path.slice(0, 200))} has ${size} bytes, more than the ${FILE_BYTES} of one reply`,
    { hint: 'read it in ranges with offset and length, or clone the repository', httpStatus: 413 },
  );
