import { connect } from 'node:net';

/** Sends bytes that no HTTP client would, and returns what came back until the peer closed, or was silent for a second. */
export const rawHttp = (host: string, port: number, request: string | Uint8Array): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, host);
    const chunks: Buffer[] = [];
    const end = (): void => {
      socket.destroy();
      resolve(Buffer.concat(chunks).toString('latin1'));
    };
    socket.setTimeout(1000, end);
    socket.on('connect', () => socket.write(request));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('end', end);
    socket.on('error', (error: Error & { code?: string }) => {
      // The server may close before it has read all of what it refuses.
      if (error.code === 'ECONNRESET' || error.code === 'EPIPE') end();
      else reject(error);
    });
  });

/** The status of the first reply in `answer`; 0 when the connection was closed without one. */
export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
