import type { Database } from 'bun:sqlite';
import type { ImageBuilder } from '#engines/builder/port';
import type { Proxy } from '#engines/proxy/port';
import type { Registry } from '#engines/registry/port';
import type { Mount, Runtime } from '#engines/runtime/port';
import type { Clock } from '#kernel/clock';
import type { Config } from '#kernel/config';
import type { Log } from '#kernel/log';
import type { Env } from '#modules/env';
import type { Events } from '#modules/events';
import type { ServiceLogs } from '#modules/logs';
import type { OperationStore } from '#modules/operations';
import type { ProjectStore } from '#modules/projects';
import type { ReleaseStore } from '#modules/releases';
import type { Liveness, ServiceStore } from '#modules/services';

/** What deploys must know of a project's datastores. */
export interface DatastorePresence {
  /** Addresses of the project's network that they hold. */
  addresses(project: string): string[];
  /** What replicas are given for them besides variables with secrets. */
  attachments(project: string): Attachments;
}

export interface Attachments {
  /** Below whatever the user has set. */
  env: Record<string, string>;
  mounts: Mount[];
}

/** What the deploy pipeline works with. */
export interface DeployDeps {
  config: Config;
  /** Id of this installation, on every Docker object it makes. */
  instance: string;
  db: Database;
  clock: Clock;
  log: Log;
  runtime: Runtime;
  builder: ImageBuilder;
  registry: Registry;
  proxy: Proxy;
  projects: ProjectStore;
  services: ServiceStore;
  releases: ReleaseStore;
  operations: OperationStore;
  env: Pick<Env, 'resolve' | 'masker' | 'keys'>;
  events: Pick<Events, 'emit'>;
  /** Which live replicas run right now. */
  liveness: Liveness;
  logs: Pick<ServiceLogs, 'attach' | 'detach' | 'remove'>;
  datastores: DatastorePresence;
}
