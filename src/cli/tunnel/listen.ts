import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createTunnelEnd, type TunnelEnd } from '#kernel/tunnel';
import { messageOf } from '#kernel/errors';
import { localError } from '../failure.ts';

export interface TunnelOptions {
  /** Address of the tunnel's route, http or https. */
  url: string;
  token: string | undefined;
  /** Certificates of a private authority, PEM. */
  ca: string | undefined;
  /** 0 picks a free one. */
  port: number;
  onConnection: (open: number) => void;
  onFailure: (message: string) => void;
}

export interface TunnelListener {
  port: number;
  close(): void;
}

/** Listens on loopback only; each connection becomes one WebSocket to the server. */
export const listenForTunnel = async (options: TunnelOptions): Promise<TunnelListener> => {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    options.onConnection(sockets.size);
    socket.on('close', () => {
      sockets.delete(socket);
      options.onConnection(sockets.size);
    });
    connect(socket, options);
  });
  await bind(server, options.port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};

const bind = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (thrown) => {
      reject(localError(`cannot listen on 127.0.0.1:${port}: ${messageOf(thrown)}`, 'choose another one with --port'));
    });
    server.listen(port, '127.0.0.1', () => resolve());
  });

const connect = (socket: Socket, { url, token, ca, onFailure }: TunnelOptions): void => {
  // Bun's WebSocket takes headers, which browsers do not have: the token stays out of the URL.
  const init = {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(ca === undefined ? {} : { tls: { ca } }),
  };
  const web = new WebSocket(url.replace(/^http/, 'ws'), init as unknown as string[]);
  web.binaryType = 'arraybuffer';
  let end: TunnelEnd | undefined;
  socket.pause();
  socket.on('error', () => web.close());
  socket.on('close', () => web.close());
  web.addEventListener('open', () => {
    end = createTunnelEnd({
      send: (message) => web.send(typeof message === 'string' ? message : Uint8Array.from(message)),
      close: () => web.close(),
    });
    end.stream.on('error', () => socket.destroy());
    end.stream.on('close', () => socket.end());
    end.stream.pipe(socket);
    socket.pipe(end.stream);
  });
  web.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) =>
    end?.message(typeof data === 'string' ? data : new Uint8Array(data)),
  );
  web.addEventListener('close', ({ reason }) => {
    if (end === undefined) {
      onFailure(reason === '' ? 'the server refused the connection' : reason);
      socket.destroy();
    }
    end?.closed();
  });
};
