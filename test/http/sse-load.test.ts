import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';

const LIVE = 450;
const STALLED = 50;
const MIB = 1024 * 1024;

interface Figures {
  rss: number;
  sent: number;
  open: number;
}

const server = Bun.spawn([process.execPath, join(import.meta.dir, 'sse-load-server.ts')], {
  stdout: 'pipe',
  stderr: 'inherit',
});
afterAll(() => server.kill());

const firstLine = async (): Promise<string> => {
  for await (const chunk of server.stdout) return new TextDecoder().decode(chunk).trim();
  throw new Error('the server said nothing');
};

const figures = async (url: string): Promise<Figures> => (await fetch(`${url}/figures`)).json() as Promise<Figures>;

/** Counts the lines that reach each reader; those that stall stop reading once they are connected. */
const connectReaders = async (url: string): Promise<Uint32Array> => {
  const { port } = new URL(url);
  const lines = new Uint32Array(LIVE);
  for (let i = 0; i < LIVE + STALLED; i += 1) {
    await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(port),
      socket: {
        open: (socket) => void socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'),
        data: (socket, bytes) => {
          if (i >= LIVE) {
            socket.pause();
            return;
          }
          for (let at = bytes.indexOf('\nevent: log'); at !== -1; at = bytes.indexOf('\nevent: log', at + 1)) {
            lines[i] = (lines[i] ?? 0) + 1;
          }
        },
      },
    });
  }
  return lines;
};

test('500 readers get a thousand lines a second in bounded memory, and the 50 that stall are let go', async () => {
  const url = await firstLine();
  const lines = await connectReaders(url);
  while ((await figures(url)).open < LIVE + STALLED) await Bun.sleep(20);
  const before = await figures(url);
  await fetch(`${url}/begin`);
  let peak = before.rss;
  let now = before;
  const deadline = performance.now() + 60_000;
  while (now.open > LIVE && performance.now() < deadline) {
    await Bun.sleep(250);
    now = await figures(url);
    peak = Math.max(peak, now.rss);
  }
  expect(now.open).toBe(LIVE);
  expect((peak - before.rss) / MIB).toBeLessThan(STALLED + 150);
  await Bun.sleep(500);
  const slowest = Math.min(...lines);
  expect(slowest).toBeGreaterThan(now.sent * 0.9);
}, 90_000);
