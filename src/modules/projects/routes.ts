import { Type } from '@sinclair/typebox';
import { Elysia, status } from 'elysia';
import { ctxOf } from '#http/context';
import { ListQuery, listReply, pageOf } from '#http/list';
import { jsonText, type ReplySettings } from '#http/json-text';
import { route } from '#http/route';
import { DryRunSchema, listOf, Name, type DryRun } from '#kernel/schema';
import { AcceptedSchema, acceptedOr } from '#modules/operations';
import { CreateProjectBody, CreateProjectReply, ProjectSchema, ProjectTreeSchema, type ProjectTree } from './model.ts';
import type { Projects } from './service.ts';

const ProjectPath = Type.Object({ project: Name });

export const projectsRoutes = ({ projects }: { projects: Projects }) =>
  new Elysia()
    .post('/v1/projects', async ({ request, body }) => createdOr(await projects.createProject(ctxOf(request), body)), {
      body: CreateProjectBody,
      response: { 200: Type.Union([CreateProjectReply, DryRunSchema]), 201: CreateProjectReply },
      ...route({
        operationId: 'createProject',
        capability: 'manage_projects',
        tag: 'projects',
        summary: 'Create a project; 200 with `created: false` when it is there already',
        errors: ['NOT_FOUND', 'CONFLICT', 'QUOTA_EXCEEDED'],
        dryRun: true,
      }),
    })
    .get(
      '/v1/projects',
      ({ request, query }) => {
        const page = pageOf(query);
        return listReply('projects', projects.listProjects(ctxOf(request), page), (project) => project.name, page);
      },
      {
        query: ListQuery,
        response: { 200: listOf('projects', ProjectSchema) },
        ...route({
          operationId: 'listProjects',
          capability: 'read',
          tag: 'projects',
          summary: 'List the projects that the token can see',
        }),
      },
    )
    .get(
      '/v1/projects/:project',
      ({ request, params, set }) => treeReply(projects.getProject(ctxOf(request), params.project), set),
      {
        params: ProjectPath,
        response: { 200: ProjectTreeSchema },
        ...route({
          operationId: 'getProject',
          capability: 'read',
          tag: 'projects',
          summary: 'Show the full state tree: services, releases, env keys, recent events',
          errors: ['NOT_FOUND'],
        }),
      },
    )
    .delete(
      '/v1/projects/:project',
      ({ request, params }) => acceptedOr(projects.deleteProject(ctxOf(request), params.project)),
      {
        params: ProjectPath,
        response: { 200: DryRunSchema, 202: AcceptedSchema },
        ...route({
          operationId: 'deleteProject',
          capability: 'manage_projects',
          tag: 'projects',
          summary: 'Delete a project with all that belongs to it',
          errors: ['NOT_FOUND'],
          dryRun: true,
          confirm: true,
        }),
      },
    );

const createdOr = (reply: CreateProjectReply | DryRun) =>
  'created' in reply && reply.created ? status(201, reply) : reply;

/** Sends the tree's text as it is; typed as what it says, for clients that infer replies from the routes. */
const treeReply = (text: string, set: ReplySettings): ProjectTree => jsonText(text, set) as unknown as ProjectTree;
