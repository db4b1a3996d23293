import { request } from 'node:http';
import type { Socket } from 'node:net';
import type Docker from 'dockerode';

export interface HijackRequest {
  socketPath: string;
  path: string;
  query: Record<string, string>;
  /** Gives up waiting for the answer; the connection is the caller's once it is there. */
  signal: AbortSignal;
}

/**
 * Asks Docker to turn the connection into a raw one, which then carries a container's streams. dockerode's own `attach` sends
 * its options as a body, which Docker may take for the first bytes of stdin.
 */
export const hijack = (docker: Docker, { socketPath, path, query, signal }: HijackRequest): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const { version } = docker.modem as unknown as { version?: string };
    const asked = request({
      socketPath,
      method: 'POST',
      path: `${version === undefined ? '' : `/${version}`}${path}?${new URLSearchParams(query).toString()}`,
      headers: { Connection: 'Upgrade', Upgrade: 'tcp' },
      agent: false,
    });
    const giveUp = (): void => void asked.destroy(new Error('the request was cancelled'));
    signal.addEventListener('abort', giveUp, { once: true });
    const settled = (): void => signal.removeEventListener('abort', giveUp);
    asked.on('upgrade', (_, socket, head) => {
      settled();
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    asked.on('response', (response) => {
      settled();
      let said = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => (said += part));
      response.on('error', reject);
      response.on('end', () => reject(refusal(response.statusCode ?? 0, said)));
    });
    asked.on('error', (error) => {
      settled();
      reject(error);
    });
    asked.end();
  });

/** In the form of dockerode's errors. */
const refusal = (statusCode: number, said: string): Error =>
  Object.assign(new Error(`(HTTP code ${statusCode}) unexpected - ${said}`), { statusCode, json: parsed(said) });

const parsed = (said: string): unknown => {
  try {
    return JSON.parse(said);
  } catch (error) {
    if (error instanceof SyntaxError) return { message: said };
    throw error;
  }
};
