import Docker from 'dockerode';
import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { inspect } from 'node:util';
import type { Clock } from '#kernel/clock';
import type { Log } from '#kernel/log';
import { withDeadline } from './deadline.ts';
import { engineError, isLinkFailure, isVersionRefusal } from './failures.ts';
import { hijack } from './hijack.ts';

/** The newest Docker API whose answers this code was written for; older engines offer less, and get what they offer. */
const NEWEST_API = '1.51';
const CALL_DEADLINE_MS = 30_000;

export interface CallOptions {
  deadlineMs?: number;
  signal?: AbortSignal | undefined;
}

type Call<T> = (docker: Docker, signal: AbortSignal) => Promise<T>;

/** The way to Docker: every call is negotiated, bounded in time, and fails with a BerthError. */
export interface Connection {
  /** `what` reads as in "Docker could not <what>". */
  call: <T>(what: string, run: Call<T>, options?: CallOptions) => Promise<T>;
  /** A GET whose body is read as it comes; only its opening has a deadline. Destroy it, or abort `signal`, to end it. */
  open: (what: string, path: string, options: OpenOptions) => Promise<Readable>;
  /** A POST after which the connection carries raw bytes both ways; only its opening has a deadline. Destroy it to end it. */
  hijack: (what: string, path: string, query: Record<string, string>) => Promise<Socket>;
}

export interface OpenOptions {
  query: Record<string, unknown>;
  signal?: AbortSignal | undefined;
}

export interface ConnectionOptions {
  socketPath: string;
  clock: Clock;
  log: Log;
}

/**
 * docker-modem formats each request for its debug log, enabled or not, agent and open sockets included. With a log followed
 * for every replica that would cost more than all the rest of berth.
 */
class PlainAgent extends Agent {
  [inspect.custom](): string {
    return 'Agent';
  }
}

export const createConnection = ({ socketPath, clock, log }: ConnectionOptions): Connection => {
  // A kept-alive connection of before a restart of Docker fails with EPIPE; a new one costs well below a millisecond.
  const agent = new PlainAgent({ keepAlive: false });
  const connect = (version?: string): Docker => {
    const target = { socketPath, agent, ...(version === undefined ? {} : { version }) };
    return new Docker(target);
  };

  let negotiated: Docker | undefined;
  const negotiate = async (signal: AbortSignal): Promise<Docker> => {
    const offered = await get<Docker.DockerVersion>(connect(), '/version', { signal });
    const version = chooseApiVersion(offered.ApiVersion, offered.MinAPIVersion);
    log.debug('negotiated the Docker API', { engine: offered.Version, version });
    return connect(`v${version}`);
  };
  const attempt = async <T>(run: Call<T>, signal: AbortSignal): Promise<T> => {
    negotiated ??= await negotiate(signal);
    try {
      return await run(negotiated, signal);
    } catch (error) {
      // Docker may come back as another version.
      if (isLinkFailure(error) || isVersionRefusal(error)) negotiated = undefined;
      throw error;
    }
  };
  const attemptTwice = async <T>(run: Call<T>, signal: AbortSignal): Promise<T> => {
    try {
      return await attempt(run, signal);
    } catch (error) {
      if (isVersionRefusal(error)) return await attempt(run, signal);
      throw error;
    }
  };

  const call: Connection['call'] = async (what, run, { deadlineMs = CALL_DEADLINE_MS, signal: outer } = {}) => {
    try {
      return await withDeadline({ clock, ms: deadlineMs, what, signal: outer }, (signal) => attemptTwice(run, signal));
    } catch (error) {
      throw engineError(what, error);
    }
  };

  const open: Connection['open'] = (what, path, { query, signal: outer }) =>
    call(
      what,
      async (docker, opening) => {
        const signal = outer === undefined ? opening : AbortSignal.any([opening, outer]);
        const body = await get<Readable>(docker, path, { query, signal, isStream: true });
        // Whoever reads the body sees its errors; one that comes before must not be an uncaught one.
        return body.on('error', () => undefined);
      },
      { signal: outer },
    );

  return {
    call,
    open,
    hijack: (what, path, query) =>
      call(what, async (docker, signal) => {
        const socket = await hijack(docker, { socketPath, path, query, signal });
        // As with `open`.
        return socket.on('error', () => undefined);
      }),
  };
};

/** The newest version that both sides know; an engine that has dropped ours gets its oldest. */
export const chooseApiVersion = (offered: string, oldest: string | undefined): string => {
  const wanted = compareVersions(offered, NEWEST_API) < 0 ? offered : NEWEST_API;
  return oldest !== undefined && compareVersions(oldest, wanted) > 0 ? oldest : wanted;
};

const compareVersions = (left: string, right: string): number => {
  const [leftMajor = 0, leftMinor = 0] = left.split('.').map(Number);
  const [rightMajor = 0, rightMinor = 0] = right.split('.').map(Number);
  return leftMajor - rightMajor || leftMinor - rightMinor;
};

interface GetOptions {
  query?: Record<string, unknown>;
  signal: AbortSignal;
  isStream?: boolean;
}

/** For what some of dockerode's own methods do not offer: an abort, and the answer as a stream. */
export const get = <T>(
  docker: Docker,
  path: string,
  { query = {}, signal, isStream = false }: GetOptions,
): Promise<T> =>
  new Promise((resolve, reject) => {
    const request = {
      path: `${path}?`,
      method: 'GET',
      options: { ...query },
      isStream,
      abortSignal: signal,
      statusCodes: { 200: true, 400: 'bad parameter', 404: 'not found', 500: 'server error' },
    };
    docker.modem.dial(request, (error: unknown, body: unknown) => {
      if (error instanceof Error) reject(error);
      else resolve(body as T);
    });
  });
