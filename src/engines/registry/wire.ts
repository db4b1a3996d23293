import { BerthError, messageOf } from '#kernel/errors';

const DEADLINE_MS = 15_000;
const ACCEPT = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

export interface AskOptions {
  body?: string;
  /** Media type of the body. */
  type?: string;
  deadlineMs?: number;
}

/** Requests to the registry on loopback. A registry that is away, or refuses, is a retryable INTERNAL_ERROR. */
export interface Wire {
  /** `path` is one below `/v2/`, or an address that the registry gave. */
  ask(method: string, path: string, options?: AskOptions): Promise<Response>;
  /** Fails on any status that is no success. */
  expect(method: string, path: string, options?: AskOptions): Promise<Response>;
  /** Fine when it is gone. */
  delete(path: string): Promise<void>;
}

export const createWire = (port: number): Wire => {
  const base = `http://127.0.0.1:${port}/v2/`;
  const ask: Wire['ask'] = async (method, path, { body, type, deadlineMs = DEADLINE_MS } = {}) => {
    try {
      return await fetch(new URL(path, base), {
        method,
        headers: { accept: ACCEPT, ...(type === undefined ? {} : { 'content-type': type }) },
        signal: AbortSignal.timeout(deadlineMs),
        ...(body === undefined ? {} : { body }),
      });
    } catch (thrown) {
      throw away(messageOf(thrown), thrown);
    }
  };
  return {
    ask,
    expect: async (method, path, options) => {
      const answer = await ask(method, path, options);
      if (!answer.ok) throw unexpected(answer);
      return answer;
    },
    delete: async (path) => {
      const answer = await ask('DELETE', path);
      await answer.body?.cancel();
      if (!answer.ok && answer.status !== 404) throw unexpected(answer);
    },
  };
};

const away = (said: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `the image registry does not answer: ${said}`, {
    hint: 'retry; if it persists, see: berth doctor',
    retryable: true,
    cause,
  });

export const unexpected = (answer: Response): BerthError => away(`status ${answer.status}`, undefined);
