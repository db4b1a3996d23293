/** Browsers that have the dashboard open, as far as the server sees them: a stream of events each, which is read. */
import { readOptions, ready, report, untilTold } from '../kit/process-side.ts';

export interface DashboardsOptions {
  url: string;
  token: string;
  pages: OpenPage[];
}

export interface OpenPage {
  topics: string[];
  /** What it reads anew while it is open. */
  reads: { path: string; everySeconds: number }[];
}

export interface DashboardsResult {
  events: number;
  /** Streams that were still open in the end. */
  open: number;
}

const { url, token, pages } = readOptions() as DashboardsOptions;
const headers = { authorization: `Bearer ${token}` };
const ended = new AbortController();
const OPENED_EVERY_MS = 300;
let events = 0;
let open = 0;

const follow = async ({ topics, reads }: OpenPage): Promise<void> => {
  const address = `${url}/v1/live?topics=${encodeURIComponent(topics.join(','))}`;
  const response = await fetch(address, { headers, signal: ended.signal });
  if (!response.ok || response.body === null) throw new Error(`the stream answered ${response.status}`);
  open += 1;
  void count(response.body);
  for (const { path, everySeconds } of reads) setInterval(() => void read(path), everySeconds * 1000);
};

const read = async (path: string): Promise<void> => {
  const response = await fetch(`${url}${path}`, { headers });
  if (!response.ok) throw new Error(`${path} answered ${response.status}`);
  await response.arrayBuffer();
};

const EVENT = /^event: /gm;

const count = async (body: ReadableStream<Uint8Array>): Promise<void> => {
  const decoder = new TextDecoder();
  try {
    for await (const chunk of body) events += decoder.decode(chunk, { stream: true }).match(EVENT)?.length ?? 0;
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  }
  if (!ended.signal.aborted) open -= 1;
};

// Nobody opens all of them at one moment, and then they would all read at once.
for (const page of pages) {
  await follow(page);
  await Bun.sleep(OPENED_EVERY_MS);
}
ready();
await untilTold();
const result: DashboardsResult = { events, open };
ended.abort();
report(result);
