import { Type } from '@sinclair/typebox';
import { Elysia, status } from 'elysia';
import type { Readable } from 'node:stream';
import { ctxOf } from '#http/context';
import { encodeCursor, pageOf } from '#http/list';
import { route, type RouteSpec } from '#http/route';
import { DryRunSchema, listOf, Name } from '#kernel/schema';
import type { CommitVerbs } from './commit-files.ts';
import {
  ArchiveQuery,
  CommitFilesBody,
  CommitFilesReply,
  CommitSchema,
  CommitsQuery,
  CompareQuery,
  CompareReply,
  DiffQuery,
  DiffReply,
  FileQuery,
  FileReply,
  ReadmeQuery,
  RefSchema,
  RefsQuery,
  TreeQuery,
  TreeReply,
} from './content-model.ts';
import type { Archive, Contents, Paged } from './content.ts';

export interface ContentRoutesDeps {
  contents: Contents;
  commitVerbs: CommitVerbs;
}

const BASE = '/v1/projects/:project/repos/:repo';
const RepoPath = Type.Object({ project: Name, repo: Name });
const CommitPath = Type.Object({
  project: Name,
  repo: Name,
  commit: Type.String({ minLength: 1, maxLength: 1000, description: 'a commit id, also its beginning; or a ref' }),
});

const declare = (operationId: string, summary: string, more: Partial<RouteSpec> = {}) =>
  route({ operationId, summary, capability: 'manage_repos', tag: 'repos', errors: ['NOT_FOUND'], ...more });

/** What is in repositories. */
export const contentRoutes = (deps: ContentRoutesDeps) =>
  new Elysia().use(historyRoutes(deps)).use(differenceRoutes(deps)).use(fileRoutes(deps)).use(commitRoutes(deps));

const historyRoutes = ({ contents }: ContentRoutesDeps) =>
  new Elysia()
    .get(
      `${BASE}/refs`,
      async ({ request, params, query }) =>
        listed('refs', await contents.listRefs(ctxOf(request), params, pageOf(query), query.kind)),
      {
        params: RepoPath,
        query: RefsQuery,
        response: { 200: listOf('refs', RefSchema) },
        ...declare('listRepoRefs', 'List branches and tags, and the commits that they point at'),
      },
    )
    .get(
      `${BASE}/commits`,
      async ({ request, params, query }) =>
        listed('commits', await contents.listCommits(ctxOf(request), params, pageOf(query), given(query))),
      {
        params: RepoPath,
        query: CommitsQuery,
        response: { 200: listOf('commits', CommitSchema) },
        ...declare('listRepoCommits', 'List commits, newest first', {
          description:
            'With `path`, those that changed it (renames are not followed). Further pages show the history as it was when the first was read.',
        }),
      },
    )
    .get(
      `${BASE}/commits/:commit`,
      ({ request, params }) => contents.getCommit(ctxOf(request), params, params.commit),
      {
        params: CommitPath,
        response: { 200: CommitSchema },
        ...declare('getRepoCommit', 'Show a commit and the files that it changed'),
      },
    );

const differenceRoutes = ({ contents }: ContentRoutesDeps) =>
  new Elysia()
    .get(
      `${BASE}/commits/:commit/diff`,
      ({ request, params, query }) => contents.getDiff(ctxOf(request), params, params.commit, given(query)),
      {
        params: CommitPath,
        query: DiffQuery,
        response: { 200: DiffReply },
        ...declare('getRepoDiff', 'Show what a commit changed, as a unified diff against its first parent'),
      },
    )
    .get(`${BASE}/compare`, ({ request, params, query }) => contents.compare(ctxOf(request), params, given(query)), {
      params: RepoPath,
      query: CompareQuery,
      response: { 200: CompareReply },
      ...declare('compareRepoRefs', 'Compare two refs: commits of head that base lacks, and what they change', {
        description:
          'The diff is from their last common commit to `head` (the default branch when omitted); without one, from `base` to `head`.',
      }),
    });

const fileRoutes = ({ contents }: ContentRoutesDeps) =>
  new Elysia()
    .get(
      `${BASE}/tree`,
      async ({ request, params, query }) => {
        const { after } = pageOf({ cursor: query.cursor });
        const { next, ...tree } = await contents.getTree(ctxOf(request), params, { ...given(query), after });
        return { ...tree, next_cursor: next === null ? null : encodeCursor(next) };
      },
      {
        params: RepoPath,
        query: TreeQuery,
        response: { 200: TreeReply },
        ...declare('getRepoTree', 'List a folder, or all files below it, with modes and sizes'),
      },
    )
    .get(`${BASE}/file`, ({ request, params, query }) => contents.getFile(ctxOf(request), params, given(query)), {
      params: RepoPath,
      query: FileQuery,
      response: { 200: FileReply },
      ...declare('getRepoFile', 'Read a file: text, or base64 when it is binary', {
        description:
          'A file of more than 1 MiB is INVALID_INPUT (413) unless `offset` or `length` is given; `next_offset` then says where to go on.',
      }),
    })
    .get(`${BASE}/readme`, ({ request, params, query }) => contents.getReadme(ctxOf(request), params, given(query)), {
      params: RepoPath,
      query: ReadmeQuery,
      response: { 200: FileReply },
      ...declare('getRepoReadme', 'Read the README of a folder'),
    })
    .get(
      `${BASE}/archive`,
      async ({ request, params, query }) =>
        attachment(request, await contents.getArchive(ctxOf(request), params, given(query))),
      {
        params: RepoPath,
        query: ArchiveQuery,
        ...declare('getRepoArchive', 'Download the files of a commit as a tar', {
          description: 'Files with the attribute `export-ignore` are left out. Links stay links.',
        }),
      },
    );

const commitRoutes = ({ commitVerbs }: ContentRoutesDeps) =>
  new Elysia().post(
    `${BASE}/commits`,
    async ({ request, params, body }) => {
      const reply = await commitVerbs.commitFiles(ctxOf(request), params, body);
      return 'changed' in reply && reply.changed ? status(201, reply) : reply;
    },
    {
      params: RepoPath,
      body: CommitFilesBody,
      response: { 200: Type.Union([CommitFilesReply, DryRunSchema]), 201: CommitFilesReply },
      ...declare('commitRepoFiles', 'Change files in one commit: write, delete, move, make executable', {
        description:
          'Replies 201 with the commit and the deploys that it began; 200 with `changed: false` when the files are like that already. All files speak about the commit that is built upon, so two files can be swapped. In an empty repository the first branch is made, and becomes the default one.',
        errors: ['NOT_FOUND', 'CONFLICT', 'QUOTA_EXCEEDED'],
        dryRun: true,
      }),
    },
  );

const listed = <K extends string, T>(plural: K, { items, next }: Paged<T>) =>
  ({ [plural]: items, next_cursor: next === null ? null : encodeCursor(next) }) as { [P in K]: T[] } & {
    next_cursor: string | null;
  };

type Given<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** A query without what was not given. */
const given = <T extends object>(query: T): Given<T> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined)) as Given<T>;

const attachment = async (request: Request, archive: Archive): Promise<Response> => {
  const headers = {
    'content-type': archive.mediaType,
    'content-disposition': `attachment; filename="${archive.fileName}"`,
  };
  if (request.method === 'HEAD') return new Response(null, { headers });
  return new Response(streamOf(await archive.open(request.signal)), { headers });
};

/** Takes from git only what the client takes. */
const streamOf = (tar: Readable): ReadableStream<Uint8Array> => {
  const chunks = tar[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        const next = (await chunks.next()) as IteratorResult<Uint8Array, undefined>;
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: () => void tar.destroy(),
    },
    { highWaterMark: 0 },
  );
};
