import { join } from 'node:path';
import type { Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import { messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { maskLine, type Masker } from '#kernel/mask';
import { createCursor, type Cursor } from './cursor.ts';
import { startFollower, type Follower } from './follower.ts';
import { matcher, type LogFilter, type LogLine } from './model.ts';
import { openServiceLog, type ServiceLog } from './service-log.ts';

/** A replica whose log is stored. */
export interface LoggedReplica {
  containerId: string;
  /** Of the container; also names the replica in the lines. */
  name: string;
  project: string;
  service: string;
  release: string;
}

export interface TailRequest extends LogFilter {
  lines: number;
}

/** Stored logs: every replica's lines, masked, dead replicas' too, within a size per service. */
export interface ServiceLogs {
  /** Starts to store a container's log, where it was left off. Idempotent. */
  attach(replica: LoggedReplica): void;
  /** Stores what is left and stops following. */
  detach(containerId: string): Promise<void>;
  /** The last lines that match, oldest first. */
  tail(project: string, service: string, request: TailRequest): LogLine[];
  /** The last lines of one container, straight from the engine, for failure reports. */
  recent(replica: Pick<LoggedReplica, 'containerId' | 'project'>, count: number): Promise<string[]>;
  /** A reader that begins at a line, or with the last lines that match. It counts as present until `leave`. */
  read(project: string, service: string, from: { after: number; filter: LogFilter } | TailRequest): LogReader;
  /** Ends the readers and deletes what is stored. */
  remove(project: string, service: string): Promise<void>;
  /** Lines that could not be stored because the disk refused. */
  lostLines(): number;
  /** Stops following and writes what waits; nothing is lost, the engine keeps the rest. */
  stop(): Promise<void>;
}

export interface LogReader {
  cursor: Cursor;
  /** Sequence number of the line that comes next as of now: a reader that does not follow ends there. */
  end: number;
  /** False once the log is removed. */
  open(): boolean;
  wait(): Promise<void>;
  leave(): void;
  onFault(error: unknown): void;
}

export interface ServiceLogsDeps {
  runtime: Pick<Runtime, 'logs' | 'inspect'>;
  clock: Clock;
  log: Log;
  config: Pick<Config, 'dataDir' | 'logBytesPerService'>;
  maskerFor: (project: string) => Masker;
}

interface Attached {
  replica: LoggedReplica;
  follower: Follower;
}

export const createServiceLogs = (deps: ServiceLogsDeps): ServiceLogs => {
  const attached = new Map<string, Attached>();
  const logs = createRegistry(deps);

  const attach = (replica: LoggedReplica): void => {
    if (attached.has(replica.containerId)) return;
    const { project, service, name, release } = replica;
    const serviceLog = logs.ofOrNone(project, service);
    if (serviceLog === undefined) return;
    const follower = startFollower({
      ...deps,
      containerId: replica.containerId,
      cursor: () => serviceLog.cursorOf(name),
      take: ({ ts, stream, line }) =>
        serviceLog.append({
          ts,
          stream,
          release,
          replica: name,
          line: maskLine(deps.maskerFor(project), line),
        }),
    });
    attached.set(replica.containerId, { replica, follower });
    void settle(replica, follower);
  };
  const settle = async ({ containerId, project, service, name }: LoggedReplica, follower: Follower): Promise<void> => {
    const end = await follower.done;
    if (end !== 'gone' || attached.get(containerId)?.follower !== follower) return;
    attached.delete(containerId);
    logs.of(project, service).forget(name);
  };
  const detach = async (containerId: string): Promise<void> => {
    const found = attached.get(containerId);
    if (found === undefined) return;
    await found.follower.drain();
    attached.delete(containerId);
    const serviceLog = logs.of(found.replica.project, found.replica.service);
    serviceLog.flush();
    serviceLog.forget(found.replica.name);
  };

  return {
    attach,
    detach,
    tail: (project, service, request) => {
      const serviceLog = logs.of(project, service);
      const cursor = cursorFor(serviceLog, request);
      const lines: LogLine[] = [];
      for (let texts = cursor.nextTexts(); texts !== undefined; texts = cursor.nextTexts()) {
        for (const text of texts) lines.push(JSON.parse(text) as LogLine);
      }
      return lines;
    },
    recent: async ({ containerId, project }, count) => {
      const masker = deps.maskerFor(project);
      const lines: string[] = [];
      for await (const { line } of deps.runtime.logs(containerId, { follow: false, tail: count })) {
        lines.push(maskLine(masker, line));
      }
      return lines;
    },
    read: (project, service, from) => {
      const serviceLog = logs.of(project, service);
      serviceLog.live.join();
      const cursor =
        'after' in from
          ? createCursor(serviceLog, serviceLog.segments.locate(from.after + 1), matcher(from.filter))
          : cursorFor(serviceLog, from);
      return {
        cursor,
        end: serviceLog.nextSeq(),
        open: () => !serviceLog.closed,
        wait: () => serviceLog.live.wait(),
        leave: () => {
          serviceLog.live.leave();
          // Whoever waits for lines notices its end only when it is woken.
          serviceLog.live.wake();
        },
        onFault: (error) => deps.log.error('a log stream failed', error, { project, service }),
      };
    },
    remove: async (project, service) => {
      const own = [...attached.values()].filter(
        ({ replica }) => replica.project === project && replica.service === service,
      );
      await Promise.all(own.map(({ follower }) => follower.stop()));
      for (const { replica } of own) attached.delete(replica.containerId);
      logs.remove(project, service);
    },
    lostLines: () => logs.lost(),
    stop: async () => {
      await Promise.all([...attached.values()].map(({ follower }) => follower.stop()));
      attached.clear();
      logs.flush();
    },
  };
};

const cursorFor = (serviceLog: ServiceLog, request: TailRequest): Cursor => {
  serviceLog.flush();
  const match = matcher(request);
  return createCursor(serviceLog, serviceLog.segments.tailStart(request.lines, match, request.since), match);
};

/** The logs of all services that were asked for since the start, each opened once. */
const createRegistry = ({ config, log }: ServiceLogsDeps) => {
  const open = new Map<string, ServiceLog>();
  let lost = 0;

  const openLog = (project: string, service: string): ServiceLog =>
    openServiceLog({
      dir: join(config.dataDir, 'logs', project, service),
      capBytes: config.logBytesPerService,
      onWriteFailed: (error) =>
        log.warn('cannot store logs; trying again each second', { project, service, reason: messageOf(error) }),
      onLost: (count) => {
        lost += count;
      },
      onHealed: (count) => log.info('logs are stored again', { project, service, lost: count }),
    });
  const of = (project: string, service: string): ServiceLog => {
    const key = `${project}/${service}`;
    const found = open.get(key) ?? openLog(project, service);
    open.set(key, found);
    return found;
  };
  return {
    of,
    /** A folder that cannot be read costs the log, not the deploy. */
    ofOrNone: (project: string, service: string): ServiceLog | undefined => {
      try {
        return of(project, service);
      } catch (error) {
        log.error('cannot open the stored log of a service', error, { project, service });
        return undefined;
      }
    },
    remove: (project: string, service: string): void => {
      const key = `${project}/${service}`;
      (open.get(key) ?? openLog(project, service)).remove();
      open.delete(key);
    },
    flush: (): void => {
      for (const serviceLog of open.values()) serviceLog.flush();
    },
    lost: () => lost,
  };
};
