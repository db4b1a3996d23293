import { defineCommand } from '../command.ts';

export const mcp = defineCommand({
  name: 'mcp',
  summary: 'Serve the tools for agents over stdio (Model Context Protocol)',
  details: [
    'For the configuration of an agent, which starts it: requests come on stdin, replies go to stdout, and its log to stderr. It ends with its stdin. See docs/mcp.md.',
    'The agent sees the tools that the token may use. The same tools, without a program to install, are at /mcp of the server.',
  ],
  examples: [
    { line: 'berth mcp', says: 'with the server that you logged in to, or SERVICE_ENDPOINT and SERVICE_TOKEN' },
    { line: 'claude mcp add berth -- berth mcp', says: 'give the tools to an agent' },
  ],
  scope: 'server',
  args: {},
  flags: {},
  run: async (context) => {
    const { endpoint, token, ca } = await context.server();
    const { io, out } = context;
    const { serveMcpStdio } = await import('#src/mcp/stdio.ts');
    await serveMcpStdio({
      endpoint,
      token,
      ca,
      cwd: io.cwd,
      input: process.stdin,
      output: process.stdout,
      note: (text) => io.stderr.write(`${text}\n`),
      signal: io.signal,
    });
    if (io.signal.aborted) out.note('stopped');
  },
});
