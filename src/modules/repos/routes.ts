import { Type } from '@sinclair/typebox';
import { Elysia, status } from 'elysia';
import { ctxOf } from '#http/context';
import { ListQuery, listReply, pageOf } from '#http/list';
import { originOf } from '#http/origin';
import { route } from '#http/route';
import { DryRunSchema, listOf, Name } from '#kernel/schema';
import { CreateRepoBody, CreateRepoReply, RepoSchema, UpdateRepoBody, UpdateRepoReply } from './model.ts';
import type { Repos } from './service.ts';

const ProjectPath = Type.Object({ project: Name });
const RepoPath = Type.Object({ project: Name, repo: Name });
const tag = 'repos';

/** Repositories themselves; what is in them: content-routes.ts. */
export const reposRoutes = ({ repos }: { repos: Repos }) =>
  new Elysia()
    .get(
      '/v1/projects/:project/repos',
      ({ request, params, query }) => {
        const page = pageOf(query);
        const found = repos.listRepos(ctxOf(request), params.project, page, originOf(request));
        return listReply('repos', found, (repo) => repo.name, page);
      },
      {
        params: ProjectPath,
        query: ListQuery,
        response: { 200: listOf('repos', RepoSchema) },
        ...route({
          operationId: 'listRepos',
          capability: 'manage_repos',
          tag,
          summary: 'List git repositories',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .post(
      '/v1/projects/:project/repos',
      async ({ request, params, body }) => {
        const reply = await repos.createRepo(ctxOf(request), params.project, body, originOf(request));
        return 'created' in reply && reply.created ? status(201, reply) : reply;
      },
      {
        params: ProjectPath,
        body: CreateRepoBody,
        response: { 200: Type.Union([CreateRepoReply, DryRunSchema]), 201: CreateRepoReply },
        ...route({
          operationId: 'createRepo',
          capability: 'manage_repos',
          tag,
          summary: 'Make a git repository; with deploy_service, every push to its branch deploys that service',
          description:
            'With `mirror_of` it is a copy of a repository elsewhere, kept up to date by webhooks and polling.',
          errors: ['NOT_FOUND', 'CONFLICT', 'QUOTA_EXCEEDED'],
          dryRun: true,
        }),
      },
    )
    .get(
      '/v1/projects/:project/repos/:repo',
      ({ request, params }) => repos.getRepo(ctxOf(request), params, originOf(request)),
      {
        params: RepoPath,
        response: { 200: RepoSchema },
        ...route({
          operationId: 'getRepo',
          capability: 'manage_repos',
          tag,
          summary: 'Show a repository: clone address, what a push deploys, size',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .patch(
      '/v1/projects/:project/repos/:repo',
      ({ request, params, body }) => repos.updateRepo(ctxOf(request), params, body, originOf(request)),
      {
        params: RepoPath,
        body: UpdateRepoBody,
        response: { 200: Type.Union([UpdateRepoReply, DryRunSchema]) },
        ...route({
          operationId: 'updateRepo',
          capability: 'manage_repos',
          tag,
          summary: 'Rename a repository, or change its default branch or what its pushes deploy',
          errors: ['NOT_FOUND', 'CONFLICT'],
          dryRun: true,
        }),
      },
    )
    .delete('/v1/projects/:project/repos/:repo', ({ request, params }) => repos.deleteRepo(ctxOf(request), params), {
      params: RepoPath,
      response: { 200: Type.Union([Type.Object({ deleted: Type.Literal(true) }), DryRunSchema]) },
      ...route({
        operationId: 'deleteRepo',
        capability: 'manage_repos',
        tag,
        summary: 'Delete a repository with all its history; services stay as they are',
        errors: ['NOT_FOUND', 'CONFLICT'],
        dryRun: true,
      }),
    });
