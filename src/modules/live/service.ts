import type { SseReader } from '#http/sse';
import type { Clock } from '#kernel/clock';
import type { Ctx } from '#kernel/ctx';
import { toBerthError } from '#kernel/errors';
import { inScope, projectNotFound, requireCapability, requireProject } from '#kernel/scope';
import type { Events } from '#modules/events';
import type { ServiceLogs } from '#modules/logs';
import type { Operation, Operations } from '#modules/operations';
import type { Capacity } from '#modules/system';
import type { Reading, Sampler } from '#modules/usage';
import { frameOf } from './model.ts';
import { followEvents, followLog, followOperation, type Stop } from './sources.ts';
import { createStates, type States, type StatesDeps } from './states.ts';
import type { Topic, Wanted } from './topics.ts';

/** What is new, for pages that stay open: one stream carries all that a page looks at. */
export interface Live {
  /** Feeds a reader; returns what ends it. A topic that cannot be had is a `problem`, and the others go on. */
  open(ctx: Ctx, reader: SseReader, topics: readonly Wanted[]): Promise<Stop>;
}

export interface LiveDeps extends Omit<StatesDeps, 'clock'> {
  clock: Clock;
  events: Events;
  operations: Operations;
  logs: Pick<ServiceLogs, 'read'>;
  sampler: Pick<Sampler, 'watch'>;
  capacity: () => Promise<Capacity>;
  /** NOT_FOUND for a missing project or service. */
  requireService: (project: string, service: string) => void;
  onFault: (message: string, thrown: unknown) => void;
}

const CAPACITY_MS = 5000;
const LOG_TAIL = 200;
/** Operations that are shown at the start besides those under way. */
const OPEN_OPERATIONS = 200;

type Send = (frame: Uint8Array) => void;

interface OperationWatcher {
  topic: string;
  wants: (operation: Operation) => boolean;
  send: (frame: Uint8Array) => void;
}

export const createLive = (deps: LiveDeps): Live => {
  const { events, clock, onFault } = deps;
  const states = createStates(deps);
  const changes = createChanges(deps, states);
  const capacity = createTicker({
    clock,
    everyMs: CAPACITY_MS,
    read: async () => frameOf('capacity', 'admin', null, { capacity: await deps.capacity() }),
    onFault,
  });

  const encoded = new WeakMap<Reading, Uint8Array>();
  const usage = ({ project, service }: { project: string; service: string }, name: string, send: Send): Stop =>
    deps.sampler.watch(project, service, (reading) => {
      const frame = encoded.get(reading) ?? frameOf('usage', name, null, reading);
      encoded.set(reading, frame);
      send(frame);
    });

  const start = (ctx: Ctx, reader: SseReader, wanted: Wanted): Stop | Promise<Stop> => {
    const { topic, name } = wanted;
    const send: Send = (frame) => reader.send(frame);
    requireAllowed(deps, ctx, topic);
    if (topic.kind === 'projects')
      return changes.hold(() => {
        const stop = states.watch({ form: 'summary', wants: (project) => inScope(ctx.actor, project), send });
        send(frameOf('ready', name, null, {}));
        return stop;
      });
    if (topic.kind === 'project')
      return changes.hold(() => states.watch({ form: 'tree', wants: (project) => project === topic.project, send }));
    if (topic.kind === 'operations') return changes.watchAll(ctx, send);
    if (topic.kind === 'operation') return changes.watchOne(topic.id, wanted, reader);
    if (topic.kind === 'events') return followEvents(events, reader, wanted, topic.project);
    if (topic.kind === 'logs')
      return followLog(deps.logs.read(topic.project, topic.service, logStart(wanted)), reader, wanted);
    if (topic.kind === 'usage') return usage(topic, name, send);
    return capacity.join(send);
  };

  return {
    open: async (ctx, reader, topics) => {
      const stops: Stop[] = [];
      const stopAll = (): void => {
        for (const stop of stops.splice(0)) stop();
      };
      const begin = async (wanted: Wanted): Promise<void> => {
        try {
          const stop = await start(ctx, reader, wanted);
          stops.push(stop);
        } catch (thrown) {
          const error = toBerthError(thrown);
          if (error.kind === 'INTERNAL_ERROR') onFault('a live topic failed', thrown);
          reader.send(frameOf('problem', wanted.name, null, { error: error.toBody() }));
        }
        if (reader.ended) stopAll();
      };
      await Promise.all(topics.map(begin));
      return stopAll;
    },
  };
};

const logStart = ({ cursor }: Wanted) => (cursor === undefined ? { lines: LOG_TAIL } : { after: cursor, filter: {} });

/** The same as the operation of the API that gives what the topic does. */
const requireAllowed = (deps: LiveDeps, ctx: Ctx, topic: Topic): void => {
  requireCapability(ctx.actor, topic.kind === 'admin' ? 'admin' : 'read');
  if ('project' in topic) {
    requireProject(ctx.actor, topic.project);
    if (deps.read(topic.project) === undefined) throw projectNotFound(topic.project);
  }
  if ('service' in topic) deps.requireService(topic.project, topic.service);
  if (topic.kind === 'operation') deps.operations.require(ctx, topic.id);
};

/** What changes: operations, and through them and the events of projects, projects. Listened to while anybody looks. */
const createChanges = ({ events, operations }: LiveDeps, states: States) => {
  const watchers = new Set<OperationWatcher>();
  let holders = 0;
  let stop: Stop | undefined;

  const changed = (id: string): void => {
    const operation = operations.get(id);
    if (operation === undefined) return;
    states.touch(operation.project);
    const frames = new Map<string, Uint8Array>();
    for (const { topic, wants, send } of watchers) {
      if (!wants(operation)) continue;
      const frame = frames.get(topic) ?? frameOf('operation', topic, null, { operation });
      frames.set(topic, frame);
      send(frame);
    }
  };
  const listen = (): Stop => {
    const stops = [operations.watch(changed), events.watch(states.touch)];
    return () => {
      for (const each of stops) each();
    };
  };
  const hold = (begin: () => Stop): Stop => {
    holders += 1;
    stop ??= listen();
    const release = (): void => {
      holders -= 1;
      if (holders > 0) return;
      stop?.();
      stop = undefined;
    };
    try {
      const end = begin();
      return () => {
        end();
        release();
      };
    } catch (thrown) {
      release();
      throw thrown;
    }
  };
  const watch = (watcher: OperationWatcher, known: readonly Operation[]): Stop =>
    hold(() => {
      for (const operation of known) watcher.send(frameOf('operation', watcher.topic, null, { operation }));
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    });

  return {
    hold,
    watchAll: (ctx: Ctx, send: (frame: Uint8Array) => void): Stop => {
      const page = { limit: OPEN_OPERATIONS, after: undefined };
      const open = (['running', 'queued'] as const).flatMap((status) =>
        operations.list({ projects: ctx.actor.projects, status }, page),
      );
      const stopWatching = watch(
        { topic: 'operations', wants: ({ project }) => inScope(ctx.actor, project), send },
        open,
      );
      send(frameOf('ready', 'operations', null, {}));
      return stopWatching;
    },
    watchOne: async (id: string, wanted: Wanted, reader: SseReader): Promise<Stop> => {
      const operation = operations.get(id);
      const send = (frame: Uint8Array): void => reader.send(frame);
      const wants = (each: Operation): boolean => each.operation_id === id;
      const stopWatching = watch({ topic: wanted.name, wants, send }, operation === undefined ? [] : [operation]);
      const stopFollowing = await followOperation(operations, reader, wanted, id);
      return () => {
        stopWatching();
        stopFollowing();
      };
    },
  };
};

interface TickerOptions {
  clock: Clock;
  everyMs: number;
  read: () => Promise<Uint8Array>;
  onFault: (message: string, thrown: unknown) => void;
}

/** A reading that is taken again and again, once for all who look, while anybody does. */
const createTicker = ({ everyMs, read, onFault }: TickerOptions) => {
  const readers = new Set<(frame: Uint8Array) => void>();
  let timer: ReturnType<typeof setInterval> | undefined;
  let last: Uint8Array | undefined;
  let busy = false;

  const tick = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    try {
      last = await read();
      for (const send of readers) send(last);
    } catch (thrown) {
      onFault('a live reading failed', thrown);
    } finally {
      busy = false;
    }
  };
  return {
    join: (send: (frame: Uint8Array) => void): Stop => {
      readers.add(send);
      if (timer === undefined) {
        timer = setInterval(() => void tick(), everyMs);
        void tick();
      } else if (last !== undefined) send(last);
      return () => {
        readers.delete(send);
        if (readers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
        last = undefined;
      };
    },
  };
};
