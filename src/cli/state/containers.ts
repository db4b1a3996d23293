/** One call to the Docker engine's API. */
export type DockerCall = (method: 'GET' | 'POST', path: string) => Promise<{ status: number; body: unknown }>;

export const dockerAt =
  (socket: string): DockerCall =>
  async (method, path) => {
    const response = await fetch(`http://docker${path}`, { method, unix: socket, signal: AbortSignal.timeout(60_000) });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };

interface Listed {
  Id: string;
  Names: string[];
  Mounts: { Source?: string }[];
}

/**
 * Restarts the running containers that have something of `dataDir` mounted (proxy and registry): a mount stays with the directory that
 * it was made of, wherever that was moved, until its container starts again. Returns their names.
 */
export const restartMounted = async (docker: DockerCall, dataDir: string): Promise<string[]> => {
  const { status, body } = await docker('GET', '/containers/json');
  if (status !== 200 || !Array.isArray(body))
    throw new Error(`Docker answered ${status} when asked for its containers`);
  const mounted = (body as Listed[]).filter(({ Mounts }) =>
    Mounts.some(({ Source }) => Source?.startsWith(`${dataDir}/`) === true),
  );
  for (const { Id } of mounted) {
    const answer = await docker('POST', `/containers/${Id}/restart`);
    if (answer.status !== 204)
      throw new Error(`Docker answered ${answer.status} when asked to restart container ${Id.slice(0, 12)}`);
  }
  return mounted.map(({ Id, Names }) => Names[0]?.replace(/^\//, '') ?? Id);
};
