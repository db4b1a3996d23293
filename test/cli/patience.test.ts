import { expect, test } from 'bun:test';
import { createServer, type AddressInfo } from 'node:net';
import { explainConnection } from '#cli/client/connection-failures';
import { watchConnection } from '#cli/client/patience';
import { atEnd } from '#test/support/preload.ts';
import { until } from '#test/support/until.ts';

const SERVER = new URL('http://berth.example.com:4400');

test('a machine that answers nothing is given up, with a word of its own', async () => {
  const patience = watchConnection(SERVER, { patienceMs: 1, takesConnections: async () => false });
  await until(() => patience.signal.aborted, 5);
  expect(explainConnection(patience.signal.reason, SERVER, undefined)).toMatchObject({
    message: 'cannot reach http://berth.example.com:4400: no answer',
    retryable: true,
  });
});

test('a slow reply of one that takes connections is waited for', async () => {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', () => done()));
  atEnd(() => void server.close());
  const accepted = new Promise<void>((done) =>
    server.once('connection', (socket) => socket.once('close', () => done())),
  );
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const patience = watchConnection(url, { patienceMs: 1 });
  await accepted;
  expect(patience.signal.aborted).toBe(false);
});

test('once there is a reply, nothing is looked at any more', async () => {
  let looked = 0;
  const takesConnections = async (): Promise<boolean> => {
    looked += 1;
    return false;
  };
  watchConnection(SERVER, { patienceMs: 1, takesConnections }).end();
  const other = watchConnection(SERVER, { patienceMs: 5, takesConnections });
  await until(() => other.signal.aborted, 5);
  expect(looked).toBe(1);
});
