import { isoTime, type Clock } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { invalidInput } from '#kernel/errors';
import { requireProject } from '#kernel/scope';
import { parseSince } from '#kernel/since';
import type { Usage } from './model.ts';
import { TIERS, type UsageStore } from './store.ts';
import { seriesOf } from './view.ts';

export interface UsageRequest {
  project: string;
  service: string;
  /** A time in RFC 3339, or how long ago. */
  from?: string | undefined;
  to?: string | undefined;
  points?: number | undefined;
}

/** What services have used. */
export interface UsageReads {
  usage(ctx: Ctx, request: UsageRequest): Usage;
}

export interface UsageDeps {
  clock: Clock;
  store: Pick<UsageStore, 'range'>;
  /** When the service was made, in milliseconds: what is older was another's of its name. NOT_FOUND for a missing one. */
  createdAt: (project: string, service: string) => number;
}

const HOUR_MS = 3_600_000;
const DEFAULT_POINTS = 120;
export const MOST_POINTS = 1500;

export const createUsage = ({ clock, store, createdAt }: UsageDeps): UsageReads => ({
  usage: (ctx, request) => {
    const { project, service } = request;
    requireProject(ctx.actor, project);
    const born = createdAt(project, service);
    const now = clock.now();
    const to = request.to === undefined ? now : parseSince(request.to, now, 'to');
    const from = request.from === undefined ? to - HOUR_MS : parseSince(request.from, now, 'from');
    if (from >= to)
      throw invalidInput('query.from is not before query.to', 'ask for a time that has a length, such as from=1h');
    const tier = TIERS.find(({ kept }) => from >= now - kept * 1000) ?? TIERS.at(-1);
    const finest = tier?.step ?? 0;
    const wanted = (to - from) / 1000 / (request.points ?? DEFAULT_POINTS);
    const step = Math.max(1, Math.ceil(wanted / finest)) * finest;
    const start = Math.max(from, born) / 1000;
    const range = {
      project,
      service,
      step: finest,
      from: Math.floor(start - (start % step)),
      to: Math.ceil(to / 1000),
    };
    return {
      project,
      service,
      from: isoTime(from),
      to: isoTime(to),
      step_seconds: step,
      ...seriesOf(
        store.range(range).filter(({ ts }) => (ts + finest) * 1000 > born),
        step,
      ),
    };
  },
});
