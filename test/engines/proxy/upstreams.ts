import type { Upstream } from '#engines/proxy/port';

type Handler = (request: Request) => Response | Promise<Response>;

export interface TestUpstream extends Upstream {
  requests: number;
  /** Finishes what is under way and accepts nothing new, as an app does on SIGTERM. */
  drain(): Promise<void>;
  kill(): Promise<void>;
}

/** A small app on loopback, which Traefik reaches as it shares the host's network. */
export const startUpstream = (handler: Handler): TestUpstream => {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 60,
    maxRequestBodySize: 2 ** 31,
    fetch: (request) => {
      upstream.requests += 1;
      return handler(request);
    },
  });
  const upstream: TestUpstream = {
    ip: '127.0.0.1',
    port: server.port ?? 0,
    requests: 0,
    drain: () => server.stop(false),
    kill: () => server.stop(true),
  };
  return upstream;
};

export const named = (name: string): TestUpstream => startUpstream(() => new Response(name));

export interface Load {
  sent: number;
  failures: string[];
  stop(): Promise<void>;
}

/** Requests from `workers` clients without a pause: every second one a POST, whose body must come back whole. */
export const startLoad = (url: string, host: string, workers: number): Load => {
  const stopping = new AbortController();
  const load: Load = {
    sent: 0,
    failures: [],
    stop: async () => {
      stopping.abort();
      await Promise.all(all);
    },
  };
  const work = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      load.sent += 1;
      const failure = await once(url, host, load.sent);
      if (failure !== null) load.failures.push(failure);
    }
  };
  const all = Array.from({ length: workers }, work);
  return load;
};

const once = async (url: string, host: string, number: number): Promise<string | null> => {
  const post = number % 2 === 0 ? { method: 'POST', body: `body ${number}` } : {};
  try {
    const response = await fetch(url, { ...post, headers: { Host: host } });
    const text = await response.text();
    if (response.status !== 200) return `${response.status} ${text}`;
    return number % 2 === 0 && text !== `body ${number}` ? `answered ${text}` : null;
  } catch (error) {
    return String(error);
  }
};
