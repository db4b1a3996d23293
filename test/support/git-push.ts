import { connect, type Socket } from 'node:net';
import { packet } from '#engines/git/pkt-line';
import type { GitServer } from './git-server.ts';

const ZERO = '0'.repeat(40);

export interface RawPush {
  ref?: string;
  before?: string;
  after: string;
  capabilities?: string;
}

/** The bytes of a push of everything that `after` reaches in the working copy. */
export const pushBytes = async (work: string, push: RawPush): Promise<Buffer<ArrayBuffer>> => {
  const { ref = 'refs/heads/main', before = ZERO, after, capabilities = 'report-status side-band-64k' } = push;
  const child = Bun.spawn(['git', '-C', work, 'pack-objects', '--stdout', '--revs', '--quiet'], {
    stdin: Buffer.from(`${after}\n`),
    stdout: 'pipe',
  });
  const pack = Buffer.from(await new Response(child.stdout).arrayBuffer());
  return Buffer.concat([packet(`${before} ${after} ${ref}\0${capabilities}`), Buffer.from('0000'), pack]);
};

const headersOf = (): Record<string, string> => ({
  authorization: `Basic ${btoa('anyone:right')}`,
  'content-type': 'application/x-git-receive-pack-request',
});

/** Sends it as one request; the reply's bytes as Latin-1. */
export const postPush = async (server: GitServer, body: Uint8Array<ArrayBuffer>, repo = 'site') => {
  const response = await fetch(`${server.origin}/git/shop/${repo}.git/git-receive-pack`, {
    method: 'POST',
    body,
    headers: headersOf(),
  });
  return { status: response.status, text: Buffer.from(await response.arrayBuffer()).toString('latin1') };
};

/** Opens a chunked push by hand, to be broken off at will. */
export const openPush = async (
  port: number,
  repo = 'site',
): Promise<{ socket: Socket; send(bytes: Uint8Array): Promise<void>; seen(): string }> => {
  const socket = connect(port, '127.0.0.1');
  let seen = '';
  socket.on('data', (chunk: Buffer) => (seen += chunk.toString('latin1')));
  socket.on('error', () => undefined);
  const write = (bytes: Uint8Array | string): Promise<void> =>
    new Promise((resolve) => void socket.write(bytes, () => resolve()));
  const headers = Object.entries(headersOf()).map(([name, value]) => `${name}: ${value}`);
  await write(
    [
      `POST /git/shop/${repo}.git/git-receive-pack HTTP/1.1`,
      'host: x',
      'transfer-encoding: chunked',
      ...headers,
      '',
      '',
    ].join('\r\n'),
  );
  return {
    socket,
    send: (bytes) =>
      write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])),
    seen: () => seen,
  };
};
