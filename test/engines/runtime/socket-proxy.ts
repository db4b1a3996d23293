import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Stands between berth and Docker, and fails on demand. */
export interface SocketProxy {
  path: string;
  /** Docker is away: the socket is removed, and open connections are cut. */
  takeAway: () => Promise<void>;
  bringBack: () => Promise<void>;
  /** From now on, Docker accepts connections and answers nothing. */
  hang: () => void;
  /** Cuts open connections only. */
  cut: () => void;
  openConnections: () => number;
  close: () => Promise<void>;
}

export const openSocketProxy = async (target: string): Promise<SocketProxy> => {
  const directory = await mkdtemp(join(tmpdir(), 'berth-docker-'));
  const path = join(directory, 'docker.sock');
  const sockets = new Set<Socket>();
  let hangs = false;
  let server: Server | undefined;

  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
  };
  const accept = (near: Socket): void => {
    track(near);
    if (hangs) {
      near.resume();
      return;
    }
    const far = track(connect(target));
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  };
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const bringBack = async (): Promise<void> => {
    server = createServer(accept);
    const listening = Promise.withResolvers<void>();
    server.listen(path, listening.resolve);
    await listening.promise;
  };
  const takeAway = async (): Promise<void> => {
    const closed = Promise.withResolvers<void>();
    server?.close(() => closed.resolve());
    cut();
    await closed.promise;
  };

  await bringBack();
  return {
    path,
    takeAway,
    bringBack,
    cut,
    hang: () => {
      hangs = true;
    },
    openConnections: () => sockets.size,
    close: async () => {
      await takeAway();
      await rm(directory, { recursive: true });
    },
  };
};
