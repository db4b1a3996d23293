import { connect } from 'node:net';

/** After this long without a reply it is checked whether the machine answers at all; a slow reply has all the time it wants. */
const PATIENCE_MS = 10_000;
const CONNECT_MS = 5000;

export interface Patience {
  /** Aborts when nothing answers there. */
  signal: AbortSignal;
  /** To be called once there is a reply. */
  end(): void;
}

export interface PatienceOptions {
  patienceMs?: number;
  /** Whether something takes connections there. */
  takesConnections?: (url: URL) => Promise<boolean>;
}

/** Bounds the wait for a machine that drops packets: the system itself would try for two minutes. */
export const watchConnection = (url: URL, options: PatienceOptions = {}): Patience => {
  const given = new AbortController();
  const takesConnections = options.takesConnections ?? connects;
  const look = async (): Promise<void> => {
    if (await takesConnections(url)) return;
    given.abort(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' }));
  };
  const timer = setTimeout(() => void look(), options.patienceMs ?? PATIENCE_MS);
  return { signal: given.signal, end: () => clearTimeout(timer) };
};

const connects = (url: URL): Promise<boolean> =>
  new Promise((resolve) => {
    const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
    const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ''), port, timeout: CONNECT_MS });
    const settle = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => settle(true));
    socket.once('timeout', () => settle(false));
    socket.once('error', () => settle(false));
  });
