import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { createConnection, type Connection } from '#engines/docker/connection';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';

const dir = mkdtempSync(join(tmpdir(), 'berth-connection-'));
let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  rmSync(dir, { recursive: true, force: true });
});

/** An engine that answers `/version`, and opens a stream without end for `/endless`. */
const listen = async (): Promise<Connection> => {
  const socketPath = join(dir, 'docker.sock');
  server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    if (request.url?.includes('/endless') === true) response.write('begun\n');
    else response.end(JSON.stringify({ ApiVersion: '1.41', MinAPIVersion: '1.12', Version: 'test' }));
  });
  await new Promise<void>((resolve) => server?.listen(socketPath, resolve));
  return createConnection({ socketPath, clock: systemClock, log: createLog('error', () => undefined, Date.now) });
};

const millisecondsOfCalls = async ({ call }: Connection, count: number): Promise<number> => {
  const begun = process.cpuUsage();
  for (let number = 0; number < count; number += 1) await call('ask', (docker) => docker.version());
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
};

test('a call costs no more while many streams are open', async () => {
  const connection = await listen();
  await millisecondsOfCalls(connection, 50);
  const alone = await millisecondsOfCalls(connection, 50);
  const streams: Readable[] = [];
  for (let number = 0; number < 40; number += 1)
    streams.push(await connection.open('follow', '/endless', { query: {} }));
  const beside = await millisecondsOfCalls(connection, 50);
  for (const stream of streams) stream.destroy();
  // Formatting the open sockets made it fifty times as much.
  expect(beside).toBeLessThan(alone * 6 + 20);
});
