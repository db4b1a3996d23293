import { Type } from '@sinclair/typebox';
import { listOf } from '#kernel/schema';
import { CreateProjectBody, CreateProjectReply, ProjectSchema, ProjectTreeSchema } from '#modules/projects';
import { ServiceDetailSchema } from '#modules/services';
import { bounded } from '../bounds.ts';
import { defineTool, PROJECT, SERVICE } from '../tool.ts';
import { PAGE } from './page.ts';

const getSkill = defineTool({
  name: 'service_get_skill',
  title: 'Read the guide',
  description:
    'The guide to this hosting service: how to lay out a source, how it is built, PORT, phases, every error with its remedy, datastores, repositories. Read it once before the first deploy, or when an error is not clear.',
  operationId: 'getSkill',
  capability: 'public',
  hints: { readOnly: true, idempotent: true },
  input: {},
  output: Type.Object({ skill: Type.String({ description: 'Markdown' }) }),
  run: async ({ api }) => {
    const skill = await api.skill();
    return { data: { skill }, text: skill };
  },
});

const listProjects = defineTool({
  name: 'service_list_projects',
  title: 'List projects',
  description:
    'The projects that this token can see. A project holds services (apps), environment variables, datastores and repositories. Next: service_status for one of them, or service_create_project.',
  operationId: 'listProjects',
  capability: 'read',
  hints: { readOnly: true, idempotent: true },
  input: PAGE,
  output: listOf('projects', ProjectSchema),
  run: async ({ api }, page) => ({ data: await api.listProjects(page) }),
});

const createProject = defineTool({
  name: 'service_create_project',
  title: 'Create a project',
  description:
    'Creates a project; safe to repeat: an existing one is returned with created false. Next: service_deploy.',
  operationId: 'createProject',
  capability: 'manage_projects',
  hints: { idempotent: true },
  dryRun: true,
  input: CreateProjectBody.properties,
  output: CreateProjectReply,
  run: async ({ api }, { name }) => ({ data: await api.createProject(name) }),
});

const TREE = ProjectTreeSchema.properties;
const DETAIL = ServiceDetailSchema.properties;

const status = defineTool({
  name: 'service_status',
  title: 'Show the state of a project or service',
  description:
    'The state of a project: services with status and live URL, releases, datastores, names of environment variables, recent events. With service: that one alone, with its replicas (restarts, exit codes, memory). Use it to see what is there, to find a release to roll back to, and after a failure. Next: service_logs.',
  operationId: 'getProject',
  capability: 'read',
  hints: { readOnly: true, idempotent: true },
  input: { project: PROJECT, service: Type.Optional(SERVICE) },
  output: Type.Partial(
    Type.Object({
      ...TREE,
      ...DETAIL,
      shortened: Type.Boolean({ description: 'too long: releases or recent_events were left out' }),
    }),
  ),
  run: async ({ api }, { project, service }) => ({
    data:
      service === undefined
        ? bounded(await api.getProject(project), ['recent_events', 'releases'])
        : await api.getService(project, service),
  }),
});

export const projectTools = [getSkill, listProjects, createProject, status];
