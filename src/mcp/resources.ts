import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ReadResourceResult,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { isName } from '#kernel/schema';
import { withCall, type Caller } from './caller.ts';
import { bounded } from './bounds.ts';
import { toolErrorOf } from './failure.ts';
import type { Call } from './tool.ts';
import { logs } from './tools/logs.ts';

const JSON_TYPE = 'application/json';
const LISTED = 200;

interface Template {
  uriTemplate: string;
  name: string;
  description: string;
  mimeType: string;
  /** Parts of a URI that it matches. */
  pattern: RegExp;
  read: (call: Call, parts: string[]) => Promise<string>;
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

const TEMPLATES: readonly Template[] = [
  {
    uriTemplate: 'berth://projects/{project}',
    name: 'project',
    description: 'State of a project: services, releases, datastores, names of variables, recent events',
    mimeType: JSON_TYPE,
    pattern: /^berth:\/\/projects\/([^/]+)$/,
    read: async ({ api }, [project = '']) =>
      json(bounded(await api.getProject(project), ['recent_events', 'releases'])),
  },
  {
    uriTemplate: 'berth://projects/{project}/services/{service}/logs',
    name: 'logs',
    description: 'Last 100 lines that a service wrote',
    mimeType: 'text/plain',
    pattern: /^berth:\/\/projects\/([^/]+)\/services\/([^/]+)\/logs$/,
    read: async (call, [project, service]) => (await logs.run(call, { project, service })).text ?? '',
  },
  {
    uriTemplate: 'berth://operations/{operation_id}',
    name: 'operation',
    description: 'A deploy or another long operation: status, phase, result, error',
    mimeType: JSON_TYPE,
    pattern: /^berth:\/\/operations\/(op_[0-9a-z]{1,40})$/,
    read: async ({ api }, [id = '']) => json(await api.getOperation(id)),
  },
];

const SKILL = {
  uri: 'berth://skill.md',
  name: 'skill',
  title: 'Guide for agents',
  description: 'How to use this hosting service, from nothing to a live URL',
  mimeType: 'text/markdown',
};

/** Resources: the guide, and what can be read of projects, services and operations. */
export const offerResources = (server: Server, caller: Caller): void => {
  server.setRequestHandler('resources/list', (_request, context) =>
    withCall(caller, context, async (call) => ({ resources: [SKILL, ...(await projectResources(call(false)))] })),
  );
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: TEMPLATES.map(({ uriTemplate, name, description, mimeType }) => ({
      uriTemplate,
      name,
      description,
      mimeType,
    })),
  }));
  server.setRequestHandler('resources/read', ({ params }, context) => read(caller, context, params.uri));
};

/** None for a token that may not look. */
const projectResources = async ({ api, note }: Call) => {
  try {
    const { projects } = await api.listProjects({ limit: LISTED });
    return projects.map(({ name }) => ({
      uri: `berth://projects/${name}`,
      name,
      description: `State of project ${name}`,
      mimeType: JSON_TYPE,
    }));
  } catch (thrown) {
    note(`projects cannot be listed: ${toolErrorOf(thrown).message}`);
    return [];
  }
};

const read = async (caller: Caller, context: ServerContext, uri: string): Promise<ReadResourceResult> => {
  const found = readerOf(uri);
  if (found === undefined) {
    const known = TEMPLATES.map((each) => each.uriTemplate).join(', ');
    throw new ResourceNotFoundError(uri, `no such resource; templates: ${known}`);
  }
  return withCall(caller, context, async (call) => {
    try {
      return { contents: [{ uri, mimeType: found.mimeType, text: await found.read(call(false)) }] };
    } catch (thrown) {
      throw asProtocolError(thrown, uri);
    }
  });
};

const readerOf = (uri: string): { mimeType: string; read: (call: Call) => Promise<string> } | undefined => {
  if (uri === SKILL.uri) return { mimeType: SKILL.mimeType, read: ({ api }) => api.skill() };
  for (const { pattern, mimeType, read: readParts } of TEMPLATES) {
    const [, ...parts] = pattern.exec(uri) ?? [];
    if (parts.length > 0 && parts.every((part) => isName(part) || part.startsWith('op_')))
      return { mimeType, read: (call) => readParts(call, parts) };
  }
  return undefined;
};

const asProtocolError = (thrown: unknown, uri: string): ProtocolError => {
  const error = toolErrorOf(thrown);
  const text = `${error.code}: ${error.message}; ${error.hint}`;
  if (error.code === 'NOT_FOUND') return new ResourceNotFoundError(uri, text);
  return new ProtocolError(ProtocolErrorCode.InternalError, text, { error });
};
