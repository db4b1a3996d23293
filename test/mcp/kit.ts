import type { Capability } from '#kernel/scope';
import { createWorld, type Answer, type World } from '#test/app/world.ts';

/** What a client of the protocol sends with every request. */
export const HEADERS = { accept: 'application/json, text/event-stream' };

interface Sent {
  token?: string | null;
  headers?: Record<string, string>;
}

/** A message of the protocol, as it is answered over HTTP. */
export const post = (world: World, body: unknown, { token, headers }: Sent = {}): Promise<Answer> =>
  world.call('POST /mcp', { body, headers: { ...HEADERS, ...headers }, ...(token === undefined ? {} : { token }) });

/** The messages of a reply, whether it is a stream or one object. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into messages of many shapes
export const messagesOf = (answer: Answer): any[] => {
  if (answer.body !== undefined) return [answer.body].flat();
  const lines = answer.text.split('\n').filter((line) => line.startsWith('data: {'));
  return lines.map((line) => JSON.parse(line.slice('data: '.length)));
};

export const request = (method: string, params: unknown = {}, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

/** Asks, and gives the message that answers. */
export const ask = async (world: World, method: string, params: unknown = {}, sent: Sent = {}) =>
  messagesOf(await post(world, request(method, params), sent)).at(-1);

export const callTool = async (world: World, name: string, args: unknown, sent: Sent = {}) =>
  (await ask(world, 'tools/call', { name, arguments: args }, sent)).result;

/** The names of the tools that a token sees. */
export const namesFor = async (world: World, token?: string): Promise<string[]> => {
  const { result } = await ask(world, 'tools/list', {}, token === undefined ? {} : { token });
  return result.tools.map((tool: { name: string }) => tool.name);
};

export const tokenWith = async (world: World, capabilities: Capability[], projects = ['*']): Promise<string> =>
  (await world.mint(capabilities, projects)).secret;

export { createWorld };
