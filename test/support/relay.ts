import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Berth } from './berth.ts';

/** A network between a browser and a server, which can fail. */
export interface Relay {
  /** The server as it is reached through it. */
  readonly berth: Berth;
  /** Connections open now. */
  readonly open: number;
  /** Breaks all connections; until `mend`, there are no others. */
  cut(): void;
  /** Lets requests through, and breaks the connection as soon as a reply to one would come back. */
  loseReplies(): void;
  mend(): void;
  close(): void;
}

export const openRelay = async (berth: Berth): Promise<Relay> => {
  const sockets = new Set<Socket>();
  let broken = false;
  let losing = false;
  const server = createServer((near) => {
    if (broken) {
      near.destroy();
      return;
    }
    const far = connect(berth.ports.api, berth.address);
    near.pipe(far);
    far.on('data', (chunk) => (losing ? near.destroy() : near.write(chunk)));
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      // Whoever is cut off needs no other word.
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    berth: Object.create(berth, { url: { value: url } }) as Berth,
    get open() {
      return sockets.size / 2;
    },
    cut: () => {
      broken = true;
      breakAll();
    },
    loseReplies: () => {
      losing = true;
    },
    mend: () => {
      losing = false;
      broken = false;
    },
    close: () => {
      server.close();
      breakAll();
    },
  };
};
