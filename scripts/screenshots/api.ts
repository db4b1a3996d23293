import type { Berth } from '#test/support/berth.ts';

/** The public API of a server, as whoever fills it uses it: what is refused ends the script. */
export interface Api {
  post<T = unknown>(path: string, body?: unknown): Promise<T>;
  put<T = unknown>(path: string, body: unknown): Promise<T>;
  patch<T = unknown>(path: string, body: unknown): Promise<T>;
}

export const apiOf = (berth: Berth, token = berth.token): Api => {
  const send = async <T>(method: string, path: string, body: unknown): Promise<T> => {
    const reply = await berth.api(path, { method, token, ...(body !== undefined && { body }) });
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body as T;
  };
  return {
    post: (path, body) => send('POST', path, body),
    put: (path, body) => send('PUT', path, body),
    patch: (path, body) => send('PATCH', path, body),
  };
};
