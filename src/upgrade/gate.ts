import { messageOf } from '#kernel/errors';
import type { Build } from './journal.ts';

export interface GateRequest {
  /** `host:port` of the server's API. */
  listen: string;
  /** Loopback port of the proxy's API. */
  proxyApiPort: number;
  expected: Pick<Build, 'version' | 'schema'>;
  /** Routers that the proxy must have. */
  routes: readonly string[];
  timeoutMs: number;
  /** How long it has to stay well without a break. */
  settleMs: number;
  /** Ends the wait at once with this reason, when it gives one. */
  gaveUp: () => string | undefined;
}

const PAUSE_MS = 100;
const PATIENCE_MS = 3000;

/** Waits until the server is what it should be and stays so. Resolves with undefined then, else with what was wrong last. */
export const passGate = async (request: GateRequest): Promise<string | undefined> => {
  const deadline = performance.now() + request.timeoutMs;
  let wellSince: number | undefined;
  let wrong = 'it did not answer';
  while (performance.now() < deadline) {
    const gaveUp = request.gaveUp();
    if (gaveUp !== undefined) return gaveUp;
    const found = await findWrong(request);
    const now = performance.now();
    if (found === undefined) {
      wellSince ??= now;
      if (now - wellSince >= request.settleMs) return undefined;
    } else {
      wellSince = undefined;
      wrong = found;
    }
    await Bun.sleep(PAUSE_MS);
  }
  return wellSince === undefined ? wrong : `it was well for too short a time; before that, ${wrong}`;
};

/** Names of the routers that the proxy has in use. */
export const readRoutes = async (proxyApiPort: number): Promise<string[]> => {
  const names: string[] = [];
  for (let page = 1; page > 0;) {
    const response = await fetch(`http://127.0.0.1:${proxyApiPort}/api/http/routers?per_page=1000&page=${page}`, {
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (!response.ok) throw new Error(`the proxy's API answered ${response.status}`);
    const routers = (await response.json()) as { name: string; status: string }[];
    names.push(...routers.filter(({ status }) => status === 'enabled').map(({ name }) => name));
    const next = Number(response.headers.get('x-next-page') ?? 1);
    page = next > page ? next : 0;
  }
  return names.sort();
};

const findWrong = async ({ listen, proxyApiPort, expected, routes }: GateRequest): Promise<string | undefined> => {
  try {
    const response = await fetch(`http://${listen}/v1/health`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!response.ok) return `its health answered ${response.status}`;
    const health = (await response.json()) as Partial<{
      status: string;
      version: string;
      schema: number;
      checks: object;
    }>;
    if (health.version !== expected.version) return `it says that it is version ${health.version}`;
    if (health.schema !== expected.schema) return `its database has schema ${health.schema}, not ${expected.schema}`;
    if (health.status !== 'ok') return `its health is ${health.status}: ${JSON.stringify(health.checks)}`;
    const present = new Set(await readRoutes(proxyApiPort));
    const missing = routes.filter((name) => !present.has(name));
    return missing.length === 0 ? undefined : `the proxy lost ${missing.length} of ${routes.length} routes`;
  } catch (thrown) {
    return `it does not answer (${messageOf(thrown)})`;
  }
};
