import { ProtocolError, ProtocolErrorCode, Server, type Tool as ProtocolTool } from '@modelcontextprotocol/server';
import { CliFailure } from '#cli/failure';
import { didYouMean } from '#cli/suggest';
import { VERSION } from '#cli/version';
import { BerthError } from '#kernel/errors';
import { apiOf, withCall, type Caller } from './caller.ts';
import { callTool, failureResult } from './calling.ts';
import { toolErrorOf } from './failure.ts';
import { offerResources } from './resources.ts';
import { inputSchema, outputSchema } from './schemas.ts';
import type { Call, Surface, Tool } from './tool.ts';
import { toolsOf } from './tools/index.ts';

const INSTRUCTIONS =
  'berth hosts apps: source in, live URL out. Usual way: service_list_projects or service_create_project, service_deploy, and when it fails do what error.hint says. service_get_skill is the whole guide. Errors are {code, message, hint, retryable}: retry unchanged only when retryable is true.';

/** One server of the protocol for one caller: tools and resources, each a call of the API with the caller's token. */
export const createMcpServer = (caller: Caller): Server => {
  const server = new Server(
    { name: 'berth', title: 'berth', version: VERSION },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', (_request, context) =>
    withCall(caller, context, async (call) => {
      const may = await permissions(call(false));
      const tools = listed(caller.surface).filter(({ tool }) => may(tool));
      return { tools: tools.map(({ shown }) => shown) };
    }),
  );
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = toolsOf(caller.surface).find(({ name }) => name === params.name);
    if (tool === undefined) throw unknownTool(params.name, caller.surface);
    const result = await withCall(caller, context, (call) => callTool(tool, params.arguments, call));
    return caller.ended.aborted ? failureResult(toolErrorOf(await whyEnded(caller))) : result;
  });
  offerResources(server, caller);
  return server;
};

/** Those tools are listed that the token may use. When the API does not answer, nothing is known, and all are. */
const permissions = async ({ api, note }: Call): Promise<(tool: Tool) => boolean> => {
  try {
    const { capabilities } = await api.whoami();
    return ({ capability }) =>
      capability === 'any' ||
      capability === 'public' ||
      capabilities.includes('admin') ||
      capabilities.includes(capability);
  } catch (thrown) {
    const { code, message } = toolErrorOf(thrown);
    note(`what the token may do is not known: ${message}`);
    return ({ capability }) => code !== 'UNAUTHENTICATED' || capability === 'public';
  }
};

type Shown = ReturnType<typeof show>;
const SHOWN = new Map<Surface, { tool: Tool; shown: Shown }[]>();

const listed = (surface: Surface): { tool: Tool; shown: Shown }[] => {
  const known = SHOWN.get(surface) ?? toolsOf(surface).map((tool) => ({ tool, shown: show(tool) }));
  SHOWN.set(surface, known);
  return known;
};

const show = (tool: Tool) => ({
  name: tool.name,
  title: tool.title,
  description: tool.description,
  inputSchema: inputSchema(tool) as ProtocolTool['inputSchema'],
  outputSchema: outputSchema(tool) as ProtocolTool['inputSchema'],
  annotations: {
    title: tool.title,
    readOnlyHint: tool.hints.readOnly ?? false,
    destructiveHint: tool.hints.destructive ?? false,
    idempotentHint: tool.hints.idempotent ?? false,
    openWorldHint: tool.hints.openWorld ?? false,
  },
});

const unknownTool = (name: string, surface: Surface): ProtocolError => {
  const names = toolsOf(surface).map((tool) => tool.name);
  const shown = name.slice(0, 60);
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `unknown tool "${shown}"; ${didYouMean(shown, names, `tools: ${names.join(', ')}`)}`,
  );
};

/** A call ended from this side: the token is not valid any more, or the server stops. */
const whyEnded = async (caller: Caller): Promise<unknown> => {
  try {
    await apiOf(caller, AbortSignal.timeout(2000)).whoami();
  } catch (thrown) {
    if (thrown instanceof CliFailure && thrown.body.code === 'UNAUTHENTICATED') return thrown;
  }
  return new BerthError('INTERNAL_ERROR', 'the server is stopping', {
    hint: 'what was begun goes on: look with service_status in a moment',
    retryable: true,
  });
};
