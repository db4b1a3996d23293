/** Requests at a fixed rate, requests that take 5 s, and WebSockets that talk all the time; counts what goes wrong. */
import { startLoad } from '#test/support/load.ts';
import { readOptions, ready, report, untilTold } from '../kit/process-side.ts';

export interface TrafficOptions {
  port: number;
  host: string;
  perSecond: number;
  slowPerSecond: number;
  sockets: number;
}

export interface TrafficResult {
  ok: number;
  slowOk: number;
  messages: number;
  /** WebSockets that the app closed with a reason, and that were opened again. */
  closedWell: number;
  failed: number;
  reasons: Record<string, number>;
}

const EVERY_MS = 500;
/** So long an answer may take before the message counts as lost. */
const ECHO_WITHIN_MS = 10_000;

const options = readOptions() as TrafficOptions;
const reasons: Record<string, number> = {};
const count = { messages: 0, closedWell: 0 };
const stop = new AbortController();

const fail = (reason: string, times = 1): void => {
  reasons[reason] = (reasons[reason] ?? 0) + times;
};

// Bun takes options where the DOM's types know of protocols only.
const open = (): WebSocket =>
  new WebSocket(`ws://127.0.0.1:${options.port}/`, { headers: { host: options.host } } as unknown as string[]);

/** One WebSocket that lives as long as it may, and is opened again after that. */
const talk = async (number: number): Promise<void> => {
  while (!stop.signal.aborted) {
    const socket = open();
    const closed = new Promise<CloseEvent>((resolve) => socket.addEventListener('close', resolve, { once: true }));
    let opened = false;
    let sent = 0;
    let due: number | undefined;
    const send = (): void => {
      due = performance.now();
      socket.send(`${number} ${(sent += 1)}`);
    };
    socket.addEventListener('open', () => {
      opened = true;
      send();
    });
    socket.addEventListener('message', ({ data }) => {
      if (data !== `${number} ${sent}`) fail('a WebSocket got the wrong message');
      count.messages += 1;
      due = undefined;
      setTimeout(() => socket.readyState === WebSocket.OPEN && send(), EVERY_MS);
    });
    const watch = setInterval(() => {
      if (stop.signal.aborted) socket.close(1000);
      if (due !== undefined && performance.now() - due > ECHO_WITHIN_MS) {
        due = undefined;
        fail('a WebSocket message came not back');
      }
    }, 100);
    const { code } = await closed;
    clearInterval(watch);
    if (code === 1001) count.closedWell += 1;
    else if (!stop.signal.aborted) fail(opened ? `a WebSocket ended with ${code}` : 'a WebSocket did not open');
  }
};

const request = (path: string) => (): Promise<Response> =>
  fetch(`http://127.0.0.1:${options.port}${path}`, { headers: { host: options.host } });

const talks = Array.from({ length: options.sockets }, (_, number) => talk(number));
const fast = startLoad({ request: request('/'), perSecond: options.perSecond });
const slow = startLoad({ request: request('/slow'), perSecond: options.slowPerSecond });
ready();
await untilTold();
stop.abort();
const [fastResult, slowResult] = await Promise.all([fast.stop(), slow.stop(), ...talks]);
for (const [reason, times] of fastResult.failures) fail(reason, times);
for (const [reason, times] of slowResult.failures) fail(`of 5 s: ${reason}`, times);
const failed = Object.values(reasons).reduce((sum, times) => sum + times, 0);
const result: TrafficResult = { ok: fastResult.ok, slowOk: slowResult.ok, ...count, failed, reasons };
report(result);
