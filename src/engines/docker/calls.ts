import { StringDecoder } from 'node:string_decoder';
import type { Readable } from 'node:stream';
import type Docker from 'dockerode';

interface Request {
  method: 'GET' | 'POST';
  path: string;
  query: Record<string, unknown>;
  /** Body of the request. */
  file?: Readable;
  signal: AbortSignal;
}

/**
 * A request whose answer is a stream. dockerode's own `buildImage` opens a gRPC session for BuildKit, which a build of a
 * plain tar does not need.
 */
export const askForStream = (docker: Docker, request: Request): Promise<Readable> =>
  dial<Readable>(docker, request, true);

/** A request whose answer is one value, or none. For what dockerode's own methods take no options or no signal for. */
export const ask = <T>(docker: Docker, request: Request): Promise<T> => dial<T>(docker, request, false);

const dial = <T>(docker: Docker, { method, path, query, file, signal }: Request, isStream: boolean): Promise<T> =>
  new Promise((resolve, reject) => {
    const request = {
      path: `${path}?`,
      method,
      options: { _query: query, _body: {} },
      ...(file === undefined ? {} : { file }),
      isStream,
      abortSignal: signal,
      statusCodes: { 200: true, 204: true, 400: 'bad parameter', 404: 'not found', 500: 'server error' },
    };
    docker.modem.dial(request, (error: unknown, body: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve(body as T);
    });
  });

/** One message of a stream of Docker's progress. */
export interface ProgressMessage {
  /** The kind of `aux`, or the layer that `status` is about. */
  id?: string;
  status?: string;
  aux?: unknown;
  error?: string;
  progressDetail?: { current?: number; total?: number };
}

/** The JSON messages of a stream of progress, one a line. */
export async function* readMessages(body: AsyncIterable<unknown>): AsyncGenerator<ProgressMessage> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.write(chunk as Buffer)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as ProgressMessage;
  }
  if (rest.trim() !== '') yield JSON.parse(rest) as ProgressMessage;
}
