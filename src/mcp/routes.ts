import { Elysia } from 'elysia';
import { stateOf } from '#http/context';
import { route } from '#http/route';
import type { createMcpHttp, McpHttpDeps } from './http.ts';

/** MCP over Streamable HTTP. What it needs is loaded with the first request: servers without agents do not pay for it. */
export const mcpRoutes = (deps: McpHttpDeps) => {
  let loading: Promise<ReturnType<typeof createMcpHttp>> | undefined;
  return new Elysia().post(
    '/mcp',
    async ({ request }) => {
      loading ??= import('./http.ts').then((http) => http.createMcpHttp(deps));
      return (await loading)(request, stateOf(request));
    },
    {
      parse: 'none',
      ...route({
        operationId: 'callMcp',
        capability: 'any',
        tag: 'mcp',
        summary: 'Tools for agents, over the Model Context Protocol',
        page: true,
        // The protocol's library bounds and reads the body itself.
        upload: true,
        idempotent: false,
        bearerOnly: true,
      }),
    },
  );
};
