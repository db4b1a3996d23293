/** What a load saw. */
export interface LoadResult {
  ok: number;
  /** Requests that failed or answered something other than 2xx, by reason. */
  failures: Map<string, number>;
  /** Milliseconds from when each request was due to the end of its answer. */
  latencies: number[];
}

export interface LoadOptions {
  /** One request; it throws, or returns the response whose body is then read. */
  request: () => Promise<Response>;
  perSecond: number;
}

/** Sends requests at a fixed rate, whatever the answers take, until `stop` is called. */
export const startLoad = ({ request, perSecond }: LoadOptions): { stop: () => Promise<LoadResult> } => {
  const result: LoadResult = { ok: 0, failures: new Map(), latencies: [] };
  const inFlight = new Set<Promise<void>>();
  const fail = (reason: string): void => void result.failures.set(reason, (result.failures.get(reason) ?? 0) + 1);
  const one = async (dueAt: number): Promise<void> => {
    try {
      const response = await request();
      await response.text();
      if (response.ok) result.ok += 1;
      else fail(`status ${response.status}`);
    } catch (error) {
      fail(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    }
    result.latencies.push(performance.now() - dueAt);
  };
  const begun = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - begun) / 1000) * perSecond);
    for (; sent < due; sent += 1) {
      const work = one(begun + (sent * 1000) / perSecond).finally(() => inFlight.delete(work));
      inFlight.add(work);
    }
  }, 5);
  return {
    stop: async () => {
      clearInterval(timer);
      await Promise.all(inFlight);
      return result;
    },
  };
};

/** The latency that 99 of 100 requests stayed below. */
export const p99 = ({ latencies }: LoadResult): number =>
  latencies.toSorted((a, b) => a - b)[Math.ceil(latencies.length * 0.99) - 1] ?? Number.POSITIVE_INFINITY;
