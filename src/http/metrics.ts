import { findState } from './context.ts';

/** Upper bounds of the latency buckets in seconds. */
export const LATENCY_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** The requests of one operation. */
export interface RequestSeries {
  operationId: string;
  byStatus: Map<number, number>;
  /** Counts per bucket, not summed up; the last is for all above. */
  buckets: Uint32Array;
  seconds: number;
  count: number;
}

/** Counts requests by operation and status, with their latency. */
export interface HttpMetrics {
  observe(operationId: string, status: number, seconds: number): void;
  series(): readonly RequestSeries[];
}

export const createHttpMetrics = (): HttpMetrics => {
  const all = new Map<string, RequestSeries>();
  return {
    series: () => [...all.values()],
    observe: (operationId, status, seconds) => {
      let series = all.get(operationId);
      if (series === undefined) {
        series = {
          operationId,
          byStatus: new Map(),
          buckets: new Uint32Array(LATENCY_BUCKETS.length + 1),
          seconds: 0,
          count: 0,
        };
        all.set(operationId, series);
      }
      series.byStatus.set(status, (series.byStatus.get(status) ?? 0) + 1);
      const at = bucketOf(seconds);
      series.buckets[at] = (series.buckets[at] ?? 0) + 1;
      series.seconds += seconds;
      series.count += 1;
    },
  };
};

const bucketOf = (seconds: number): number => {
  for (let i = 0; i < LATENCY_BUCKETS.length; i += 1) if (seconds <= (LATENCY_BUCKETS[i] ?? 0)) return i;
  return LATENCY_BUCKETS.length;
};

type Fetch = (request: Request) => Response | Promise<Response>;

/** Measures a request until its reply begins; what the guard refuses counts as `refused`. */
export const measured = (fetch: Fetch, metrics: HttpMetrics): Fetch => {
  const observe = (request: Request, begun: number, response: Response): Response => {
    const operationId = findState(request)?.entry.operationId ?? 'refused';
    metrics.observe(operationId, response.status, (performance.now() - begun) / 1000);
    return response;
  };
  return (request) => {
    const begun = performance.now();
    const reply = fetch(request);
    return reply instanceof Promise
      ? reply.then((response) => observe(request, begun, response))
      : observe(request, begun, reply);
  };
};
