// Made from GET /v1/openapi; do not edit. BERTH_UPDATE_DOCS=1 bun test test/clients/types.test.ts
import type { Bytes } from './http.ts';

export type Accepted = {
  operation_id: string;
  stream_url: string;
  service_url: string | null;
};

export type Capacity = {
  problem: string | null;
  cpus: number | null;
  memory_bytes: number | null;
  memory_available_bytes: number | null;
  disks: Array<{
    path: string;
    /** what of berth lies there */
    holds: string;
    total_bytes: number;
    free_bytes: number;
  }>;
  containers_running: number | null;
  projects: number;
  services: number;
  replicas: number;
  datastores: {
    ready: number;
    /** could not be made */
    failed: number;
    /** have passed their storage limit */
    read_only: number;
    /** on disk, as last measured */
    used_bytes: number;
    /** ready ones without a verified backup */
    never_backed_up: number;
    oldest_backup_at: string | null;
    /** ready ones whose newest backup failed */
    last_backup_failed: number;
  };
  builds: {
    running: number;
    queued: number;
    concurrency: number;
  };
  build_cache_bytes: number | null;
  registry_bytes: number | null;
  open_streams: number;
  quotas: {
    services_per_project: number;
    replicas_per_service: number;
    datastores_per_project: number;
    repos_per_project: number;
    upload_bytes: number;
    build_timeout_seconds: number;
    /** of all services together */
    build_cache_bytes: number;
    build_cache_bytes_per_service: number;
    /** per token; 0: no limit */
    requests_per_minute: number;
  };
  versions: {
    berth: string;
    bun: string;
    sqlite: string;
    engine: string | null;
    engine_api: string | null;
    proxy: string | null;
  };
};

export type DryRun = {
  dry_run: true;
  plan: {
    summary: string;
    changes: Array<{
      action: string;
      resource: string;
      name: string;
      /** how the source would be built, of a planned release */
      build?: {
        /** what detected the app: dockerfile, node, python, … */
        provider: string;
        framework: string | null;
        /** folder of the app inside the source; empty for the source itself */
        root: string;
        versions: Array<{
          tool: string;
          version: string;
          reason: string;
        }>;
        package_manager: {
          name: string;
          version: string | null;
          lock_file: string | null;
          reason: string;
        } | null;
        /** shell commands that install the dependencies */
        install: Array<string>;
        /** shell commands that build the app */
        build: Array<string>;
        /** words of the command that the container runs; none for a Dockerfile of your own */
        start: Array<string>;
        release_command: Array<string> | null;
        apt: {
          /** Debian packages for the build */
          build: Array<string>;
          /** Debian packages of the image */
          run: Array<string>;
        };
        static_root: string | null;
        /** what was decided and why; the build log begins with these lines */
        decisions: Array<string>;
        warnings: Array<string>;
      };
    }>;
  };
};

export type Error = {
  code: "NO_PROVIDER_DETECTED" | "BUILD_COMMAND_FAILED" | "IMAGE_PUSH_FAILED" | "SOURCE_TOO_LARGE" | "TIMEOUT" | "HEALTH_CHECK_FAILED" | "UNAUTHENTICATED" | "CAPABILITY_MISSING" | "QUOTA_EXCEEDED" | "NOT_FOUND" | "INVALID_INPUT" | "CONFLICT" | "INTERNAL_ERROR";
  message: string;
  /** the next action to take */
  hint: string;
  retryable: boolean;
  /** tail of the build or application log */
  log_tail?: string;
};

export type Event = {
  id: string;
  /** sequence number; `Last-Event-ID` of the stream */
  seq: number;
  kind: "project.created" | "project.deleted" | "deploy.queued" | "deploy.succeeded" | "deploy.failed" | "deploy.rolled_back" | "deploy.canceled" | "service.created" | "service.deleted" | "service.scaled" | "service.updated" | "service.restarted" | "service.rolled_back" | "service.operation_failed" | "replica.exited" | "replica.restarted" | "replica.oom_killed" | "replica.crash_loop" | "env.changed" | "datastore.created" | "datastore.ready" | "datastore.failed" | "datastore.updated" | "datastore.restarted" | "datastore.rotated" | "datastore.restored" | "datastore.restore_undone" | "datastore.operation_failed" | "datastore.read_only" | "datastore.writable" | "datastore.data_missing" | "datastore.exited" | "datastore.oom_killed" | "datastore.deleted" | "backup.verified" | "backup.failed" | "backup.deleted" | "backup.downloaded" | "backup.copy_failed" | "repo.created" | "repo.updated" | "repo.deleted" | "repo.pushed" | "repo.mirrored" | "repo.mirror_failed" | "query.executed" | "tunnel.opened" | "tunnel.closed" | "token.created" | "token.updated" | "token.revoked" | "session.created" | "session.ended";
  /** `*`: the whole server */
  project: string;
  /** RFC 3339, UTC */
  ts: string;
  /** principal who caused it; `berth` for the system */
  actor: string;
  data: Record<string, unknown>;
};

export type Health = {
  /** degraded: the API answers, something behind it does not */
  status: "ok" | "degraded";
  version: string;
  /** version of the schema of the state */
  schema: number;
  checks: {
    /** failing: no answer, or not in time */
    database: "ok" | "failing";
    /** failing: no answer, or not in time */
    engine: "ok" | "failing";
    /** failing: no answer, or not in time */
    proxy: "ok" | "failing";
    /** failing: no answer, or not in time */
    registry: "ok" | "failing";
  };
};

export type Operation = {
  operation_id: string;
  kind: "deploy" | "rollback" | "restart" | "scale" | "env.restart" | "service.delete" | "project.delete" | "datastore.create" | "datastore.update" | "datastore.restart" | "datastore.rotate" | "datastore.backup" | "datastore.restore" | "datastore.undo_restore" | "datastore.delete";
  project: string;
  service: string | null;
  datastore: string | null;
  status: "queued" | "running" | "succeeded" | "failed";
  phase: "queued" | "building" | "pushing" | "rolling_out" | "healthy" | "rolled_back" | "failed" | "provisioning" | "dumping" | "verifying" | "restoring" | "swapping" | "rotating" | "deleting" | "ready";
  /** RFC 3339, UTC */
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  created_by: string;
  error: Error | null;
  result: Record<string, unknown> | null;
  stream_url: string;
  service_url: string | null;
};

export type Project = {
  /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
  name: string;
  state: "active" | "deleting";
  /** RFC 3339, UTC */
  created_at: string;
  /** principal of the token that made it */
  created_by: string;
};

export type ProjectTree = {
  /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
  name: string;
  state: "active" | "deleting";
  /** RFC 3339, UTC */
  created_at: string;
  /** principal of the token that made it */
  created_by: string;
  services: Array<Service>;
  releases: Array<Release>;
  datastores: Array<{
    /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
    project: string;
    /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
    name: string;
    /** mongo: a Mongo-compatible layer over Postgres */
    kind: "postgres" | "redis" | "mongo";
    version: string;
    /** provisioning: not usable yet; failed: could not be made, create it again to retry; see `operation_id` */
    status: "provisioning" | "ready" | "failed" | "deleting";
    /** reachable from the project's own services only */
    host: string;
    port: number;
    /** names that every service of the project is given */
    variables: Array<string>;
    /** memory limit in MiB */
    memory_mb: number;
    /** CPU limit in cores */
    cpus: number;
    storage_limit_mb: number | null;
    used_bytes: number | null;
    /** the storage limit was passed: apps cannot write */
    read_only: boolean;
    kept: {
      /** key of the backup that was restored */
      backup: string;
      /** RFC 3339, UTC */
      restored_at: string;
      /** RFC 3339, UTC */
      until: string;
    } | null;
    last_backup: {
      key: string;
      status: string;
      /** RFC 3339, UTC */
      started_at: string;
      verified_at: string | null;
    } | null;
    next_backup_at: string | null;
    rotated_at: string | null;
    /** RFC 3339, UTC */
    created_at: string;
    created_by: string;
    /** RFC 3339, UTC */
    updated_at: string;
  }>;
  env_keys: Array<string>;
  recent_events: Array<Event>;
};

export type Release = {
  /** `rel_` and the first 12 hex digits of the manifest digest */
  id: string;
  /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
  project: string;
  /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
  service: string;
  /** digest of the image manifest */
  digest: string;
  /** size of the compressed image */
  size_bytes: number;
  /** what built it: dockerfile, node, python, … */
  provider: string;
  source_sha256: string | null;
  commit: string | null;
  start_command: Array<string> | null;
  /** the deploy that first made it */
  operation_id: string;
  /** RFC 3339, UTC */
  created_at: string;
  created_by: string;
  live: boolean;
};

export type Replica = {
  name: string;
  release: string;
  /** number of the replica within its service, from 1 */
  slot: number;
  state: "starting" | "live" | "draining" | "exited";
  running: boolean;
  restarts: number;
  exit_code: number | null;
  oom_killed: boolean;
  started_at: string | null;
  memory_bytes: number | null;
  memory_limit_bytes: number | null;
  cpu: number | null;
};

export type Service = {
  /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
  project: string;
  /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
  name: string;
  /** empty: no release yet; deploying: an operation is changing it; degraded: fewer replicas run than wanted; down: none runs; stopped: scaled to 0 */
  status: "empty" | "deploying" | "running" | "degraded" | "down" | "stopped";
  service_url: string;
  /** desired replica count */
  replicas: number;
  health_path: string | null;
  /** time that a new replica has to become healthy */
  health_timeout_seconds: number;
  /** time that in-flight requests have to end */
  drain_seconds: number;
  /** memory limit of one replica in MiB */
  memory_mb: number;
  /** CPU limit of one replica in cores */
  cpus: number;
  /** h2c: HTTP/2 without TLS to the app, for gRPC */
  protocol: "http" | "h2c";
  running_replicas: number;
  live_release: string | null;
  previous_release: string | null;
  /** build cache that the service used, as counted after the last build */
  build_cache_bytes: number;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  updated_at: string;
};

export type ServiceDetail = {
  /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
  project: string;
  /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
  name: string;
  /** empty: no release yet; deploying: an operation is changing it; degraded: fewer replicas run than wanted; down: none runs; stopped: scaled to 0 */
  status: "empty" | "deploying" | "running" | "degraded" | "down" | "stopped";
  service_url: string;
  /** desired replica count */
  replicas: number;
  health_path: string | null;
  /** time that a new replica has to become healthy */
  health_timeout_seconds: number;
  /** time that in-flight requests have to end */
  drain_seconds: number;
  /** memory limit of one replica in MiB */
  memory_mb: number;
  /** CPU limit of one replica in cores */
  cpus: number;
  /** h2c: HTTP/2 without TLS to the app, for gRPC */
  protocol: "http" | "h2c";
  running_replicas: number;
  live_release: string | null;
  previous_release: string | null;
  /** build cache that the service used, as counted after the last build */
  build_cache_bytes: number;
  /** RFC 3339, UTC */
  created_at: string;
  /** RFC 3339, UTC */
  updated_at: string;
  replica_states: Array<Replica>;
};

export type Token = {
  id: string;
  /** who or what the token speaks for */
  principal: string;
  capabilities: Array<"read" | "deploy" | "scale" | "manage_projects" | "manage_env" | "manage_datastores" | "query_datastores" | "manage_repos" | "manage_tokens" | "admin">;
  /** project names, or `*` for all */
  projects: Array<string>;
  /** RFC 3339, UTC */
  created_at: string;
  created_by: string;
  last_used_at: string | null;
  expires_at: string | null;
};

/** Every operation of the API: by path, then by method. */
export interface Paths {
  "/v1/health": {
    /** Say whether berth and what it stands on answer */
    GET: {
      reply: Health;
    };
  };
  "/v1/admin/capacity": {
    /** Show capacity, use, quotas and versions of the server */
    GET: {
      reply: Capacity;
    };
  };
  "/v1/admin/disk": {
    /** Show what each project has on disk: images, build cache, logs, datastores, backups, repositories */
    GET: {
      reply: {
        /** the largest first */
        projects: Array<{
          project: string;
          total_bytes: number;
          /** of all releases that are kept; layers that they share count each time */
          image_bytes: number;
          build_cache_bytes: number;
          log_bytes: number;
          /** as last measured */
          datastore_bytes: number;
          backup_bytes: number;
          repo_bytes: number;
        }>;
      };
    };
  };
  "/v1/admin/checks": {
    /** Say what an administrator has to look at, and what to do about it */
    GET: {
      reply: {
        /** the worst of them */
        status: "ok" | "warn" | "fail";
        checks: Array<{
          id: string;
          title: string;
          status: "ok" | "warn" | "fail";
          detail: string;
          next: string | null;
        }>;
      };
    };
  };
  "/metrics": {
    /** Metrics in the Prometheus text format */
    GET: {
      reply: Response;
    };
  };
  "/v1/openapi": {
    /** This specification as JSON */
    GET: {
      reply: Record<string, unknown>;
    };
  };
  "/v1/openapi.yaml": {
    /** This specification as YAML */
    GET: {
      reply: Response;
    };
  };
  "/v1/docs": {
    /** Interactive documentation */
    GET: {
      reply: Response;
    };
  };
  "/v1/docs/{file}": {
    /** Parts of the documentation page */
    GET: {
      path: {
        file: string;
      };
      reply: Response;
    };
  };
  "/skill.md": {
    /** The guide for software agents */
    GET: {
      query: {
        /** pins the version of the contract: 1 */
        v?: string;
      };
      reply: Response;
    };
  };
  "/v1/sessions": {
    /** List the browsers that are signed in with the token of this request, newest first */
    GET: {
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
      };
      reply: {
        sessions: Array<{
          id: string;
          /** whether this request came with it */
          current: boolean;
          /** RFC 3339, UTC */
          created_at: string;
          /** RFC 3339, UTC */
          last_used_at: string;
          /** 12 hours after the last use, at most 7 days after the beginning, never after the token */
          expires_at: string;
        }>;
        next_cursor: string | null;
      };
    };
    /** Sign out all browsers that are signed in with the token of this request */
    DELETE: {
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: {
        /** how many sessions */
        ended: number;
      } | DryRun;
    };
  };
  "/v1/whoami": {
    /** Show what the token of this request may do, and where */
    GET: {
      reply: {
        token_id: string;
        /** who or what the token speaks for */
        principal: string;
        capabilities: Array<"read" | "deploy" | "scale" | "manage_projects" | "manage_env" | "manage_datastores" | "query_datastores" | "manage_repos" | "manage_tokens" | "admin">;
        /** project names, or `*` for all */
        projects: Array<string>;
        expires_at: string | null;
      };
    };
  };
  "/v1/tokens": {
    /** List tokens, newest first */
    GET: {
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
      };
      reply: {
        tokens: Array<Token>;
        next_cursor: string | null;
      };
    };
    /** Mint a scoped token; its secret is returned exactly once */
    POST: {
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** 1 to 100 printable ASCII characters, none of them a space at an end */
        principal: string;
        capabilities: Array<"read" | "deploy" | "scale" | "manage_projects" | "manage_env" | "manage_datastores" | "query_datastores" | "manage_repos" | "manage_tokens" | "admin">;
        projects: Array<string>;
        expires_at?: string | null;
      };
      reply: DryRun | {
        id: string;
        /** who or what the token speaks for */
        principal: string;
        capabilities: Array<"read" | "deploy" | "scale" | "manage_projects" | "manage_env" | "manage_datastores" | "query_datastores" | "manage_repos" | "manage_tokens" | "admin">;
        /** project names, or `*` for all */
        projects: Array<string>;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        last_used_at: string | null;
        expires_at: string | null;
        /** returned exactly once */
        secret: string;
        created: true;
      };
    };
  };
  "/v1/tokens/{id}": {
    /** Change what a token may do, where, or how long; at once, its open streams end */
    PATCH: {
      path: {
        id: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        capabilities?: Array<"read" | "deploy" | "scale" | "manage_projects" | "manage_env" | "manage_datastores" | "query_datastores" | "manage_repos" | "manage_tokens" | "admin">;
        projects?: Array<string>;
        expires_at?: string | null;
      };
      reply: Token | DryRun;
    };
    /** Revoke a token, at once, with its open streams */
    DELETE: {
      path: {
        id: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: {
        id: string;
        /** who or what the token speaks for */
        principal: string;
        capabilities: Array<"read" | "deploy" | "scale" | "manage_projects" | "manage_env" | "manage_datastores" | "query_datastores" | "manage_repos" | "manage_tokens" | "admin">;
        /** project names, or `*` for all */
        projects: Array<string>;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        last_used_at: string | null;
        expires_at: string | null;
        /** RFC 3339, UTC */
        revoked_at: string;
      } | DryRun;
    };
  };
  "/v1/projects": {
    /** List the projects that the token can see */
    GET: {
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
      };
      reply: {
        projects: Array<Project>;
        next_cursor: string | null;
      };
    };
    /** Create a project; 200 with `created: false` when it is there already */
    POST: {
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
      };
      reply: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        state: "active" | "deleting";
        /** RFC 3339, UTC */
        created_at: string;
        /** principal of the token that made it */
        created_by: string;
        created: boolean;
      } | DryRun | {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        state: "active" | "deleting";
        /** RFC 3339, UTC */
        created_at: string;
        /** principal of the token that made it */
        created_by: string;
        created: boolean;
      };
    };
  };
  "/v1/projects/{project}": {
    /** Show the full state tree: services, releases, env keys, recent events */
    GET: {
      path: {
        project: string;
      };
      reply: ProjectTree;
    };
    /** Delete a project with all that belongs to it */
    DELETE: {
      path: {
        project: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
        /** must be true, except in a dry run */
        confirm: boolean;
      };
      reply: DryRun | Accepted;
    };
  };
  "/v1/projects/{project}/services": {
    /** List services */
    GET: {
      path: {
        project: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
      };
      reply: {
        services: Array<Service>;
        next_cursor: string | null;
      };
    };
  };
  "/v1/projects/{project}/services/{service}": {
    /** Show a service and its replicas: state, restarts, memory, CPU */
    GET: {
      path: {
        project: string;
        service: string;
      };
      reply: ServiceDetail;
    };
    /** Set the replica count, or other settings (these need `deploy` too) */
    PATCH: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** desired replica count */
        replicas?: number;
        health_path?: string | null;
        /** time that a new replica has to become healthy */
        health_timeout_seconds?: number;
        /** time that in-flight requests have to end */
        drain_seconds?: number;
        /** memory limit of one replica in MiB */
        memory_mb?: number;
        /** CPU limit of one replica in cores */
        cpus?: number;
        /** h2c: HTTP/2 without TLS to the app, for gRPC */
        protocol?: "http" | "h2c";
      };
      reply: Service | DryRun | Accepted;
    };
    /** Delete a service with its releases and logs */
    DELETE: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
        /** must be true, except in a dry run */
        confirm: boolean;
      };
      reply: DryRun | Accepted;
    };
  };
  "/v1/projects/{project}/services/{service}/rollback": {
    /** Go back to the previous release, or to a named one, without building */
    POST: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** id of the release to go back to; the previous one when omitted */
        release?: string;
      };
      reply: DryRun | Accepted;
    };
  };
  "/v1/projects/{project}/services/{service}/restart": {
    /** Replace the replicas by new ones of the same release */
    POST: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: DryRun | Accepted;
    };
  };
  "/v1/projects/{project}/services/{service}/releases": {
    /** List the releases of a service, newest first */
    GET: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
      };
      reply: {
        releases: Array<Release>;
        next_cursor: string | null;
      };
    };
  };
  "/v1/projects/{project}/services/{service}/releases/{release}/compare": {
    /** Show what differs between the live release, or the one named by `with`, and a release */
    GET: {
      path: {
        project: string;
        service: string;
        release: string;
      };
      query: {
        /** id of a release */
        with?: string;
      };
      reply: {
        from: Release;
        to: Release;
        changes: Array<{
          /** a field of the release, or one of how it was built (`build.versions`) */
          what: string;
          /** any JSON value; null: not there */
          from: unknown;
          /** any JSON value; null: not there */
          to: unknown;
        }>;
        env: {
          added: Array<string>;
          removed: Array<string>;
        } | null;
      };
    };
  };
  "/v1/operations": {
    /** List operations, newest first */
    GET: {
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project?: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        service?: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        datastore?: string;
        status?: "queued" | "running" | "succeeded" | "failed";
        kind?: "deploy" | "rollback" | "restart" | "scale" | "env.restart" | "service.delete" | "project.delete" | "datastore.create" | "datastore.update" | "datastore.restart" | "datastore.rotate" | "datastore.backup" | "datastore.restore" | "datastore.undo_restore" | "datastore.delete";
      };
      reply: {
        operations: Array<Operation>;
        next_cursor: string | null;
      };
    };
  };
  "/v1/operations/{id}": {
    /** Show an operation; poll until `status` is `succeeded` or `failed` */
    GET: {
      path: {
        id: string;
      };
      reply: Operation;
    };
  };
  "/v1/operations/{id}/stream": {
    /** Follow an operation: `log`, `phase`, then `done` */
    GET: {
      path: {
        id: string;
      };
      query: {
        /** false leaves the lines of the log out */
        logs?: boolean;
        /** like the header Last-Event-ID */
        last_event_id?: string;
      };
      reply: Response;
    };
  };
  "/v1/operations/{id}/cancel": {
    /** Cancel a queued or running operation */
    POST: {
      path: {
        id: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: Operation | DryRun;
    };
  };
  "/v1/projects/{project}/datastores": {
    /** List datastores */
    GET: {
      path: {
        project: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
      };
      reply: {
        datastores: Array<{
          /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
          project: string;
          /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
          name: string;
          /** mongo: a Mongo-compatible layer over Postgres */
          kind: "postgres" | "redis" | "mongo";
          version: string;
          /** provisioning: not usable yet; failed: could not be made, create it again to retry; see `operation_id` */
          status: "provisioning" | "ready" | "failed" | "deleting";
          /** reachable from the project's own services only */
          host: string;
          port: number;
          /** names that every service of the project is given */
          variables: Array<string>;
          /** memory limit in MiB */
          memory_mb: number;
          /** CPU limit in cores */
          cpus: number;
          storage_limit_mb: number | null;
          used_bytes: number | null;
          /** the storage limit was passed: apps cannot write */
          read_only: boolean;
          kept: {
            /** key of the backup that was restored */
            backup: string;
            /** RFC 3339, UTC */
            restored_at: string;
            /** RFC 3339, UTC */
            until: string;
          } | null;
          last_backup: {
            key: string;
            status: string;
            /** RFC 3339, UTC */
            started_at: string;
            verified_at: string | null;
          } | null;
          next_backup_at: string | null;
          rotated_at: string | null;
          /** RFC 3339, UTC */
          created_at: string;
          created_by: string;
          /** RFC 3339, UTC */
          updated_at: string;
        }>;
        next_cursor: string | null;
      };
    };
    /** Make a postgres, redis or mongo datastore; its variables are given to every service of the project */
    POST: {
      path: {
        project: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** mongo: a Mongo-compatible layer over Postgres */
        kind: "postgres" | "redis" | "mongo";
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name?: string;
        /** the usual one of the kind when omitted */
        version?: string;
        /** memory limit in MiB */
        memory_mb?: number;
        /** CPU limit in cores */
        cpus?: number;
        storage_limit_mb?: number | null;
      };
      reply: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** mongo: a Mongo-compatible layer over Postgres */
        kind: "postgres" | "redis" | "mongo";
        version: string;
        /** provisioning: not usable yet; failed: could not be made, create it again to retry; see `operation_id` */
        status: "provisioning" | "ready" | "failed" | "deleting";
        /** reachable from the project's own services only */
        host: string;
        port: number;
        /** names that every service of the project is given */
        variables: Array<string>;
        /** memory limit in MiB */
        memory_mb: number;
        /** CPU limit in cores */
        cpus: number;
        storage_limit_mb: number | null;
        used_bytes: number | null;
        /** the storage limit was passed: apps cannot write */
        read_only: boolean;
        kept: {
          /** key of the backup that was restored */
          backup: string;
          /** RFC 3339, UTC */
          restored_at: string;
          /** RFC 3339, UTC */
          until: string;
        } | null;
        last_backup: {
          key: string;
          status: string;
          /** RFC 3339, UTC */
          started_at: string;
          verified_at: string | null;
        } | null;
        next_backup_at: string | null;
        rotated_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
        created: boolean;
        /** services that restart, one replica after the other, to be given the variables */
        restarted_services: Array<string>;
        operation_id: string | null;
        stream_url: string | null;
      } | DryRun | {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** mongo: a Mongo-compatible layer over Postgres */
        kind: "postgres" | "redis" | "mongo";
        version: string;
        /** provisioning: not usable yet; failed: could not be made, create it again to retry; see `operation_id` */
        status: "provisioning" | "ready" | "failed" | "deleting";
        /** reachable from the project's own services only */
        host: string;
        port: number;
        /** names that every service of the project is given */
        variables: Array<string>;
        /** memory limit in MiB */
        memory_mb: number;
        /** CPU limit in cores */
        cpus: number;
        storage_limit_mb: number | null;
        used_bytes: number | null;
        /** the storage limit was passed: apps cannot write */
        read_only: boolean;
        kept: {
          /** key of the backup that was restored */
          backup: string;
          /** RFC 3339, UTC */
          restored_at: string;
          /** RFC 3339, UTC */
          until: string;
        } | null;
        last_backup: {
          key: string;
          status: string;
          /** RFC 3339, UTC */
          started_at: string;
          verified_at: string | null;
        } | null;
        next_backup_at: string | null;
        rotated_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
        created: boolean;
        /** services that restart, one replica after the other, to be given the variables */
        restarted_services: Array<string>;
        operation_id: string | null;
        stream_url: string | null;
      };
    };
  };
  "/v1/projects/{project}/datastores/{name}": {
    /** Show a datastore: status, variables, size, backups; never its password */
    GET: {
      path: {
        project: string;
        name: string;
      };
      reply: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** mongo: a Mongo-compatible layer over Postgres */
        kind: "postgres" | "redis" | "mongo";
        version: string;
        /** provisioning: not usable yet; failed: could not be made, create it again to retry; see `operation_id` */
        status: "provisioning" | "ready" | "failed" | "deleting";
        /** reachable from the project's own services only */
        host: string;
        port: number;
        /** names that every service of the project is given */
        variables: Array<string>;
        /** memory limit in MiB */
        memory_mb: number;
        /** CPU limit in cores */
        cpus: number;
        storage_limit_mb: number | null;
        used_bytes: number | null;
        /** the storage limit was passed: apps cannot write */
        read_only: boolean;
        kept: {
          /** key of the backup that was restored */
          backup: string;
          /** RFC 3339, UTC */
          restored_at: string;
          /** RFC 3339, UTC */
          until: string;
        } | null;
        last_backup: {
          key: string;
          status: string;
          /** RFC 3339, UTC */
          started_at: string;
          verified_at: string | null;
        } | null;
        next_backup_at: string | null;
        rotated_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
        answering: boolean | null;
        operation_id: string | null;
      };
    };
    /** Change memory, CPU or storage limit; another memory or CPU limit restarts the datastore */
    PATCH: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** memory limit in MiB */
        memory_mb?: number;
        /** CPU limit in cores */
        cpus?: number;
        storage_limit_mb?: number | null;
      };
      reply: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** mongo: a Mongo-compatible layer over Postgres */
        kind: "postgres" | "redis" | "mongo";
        version: string;
        /** provisioning: not usable yet; failed: could not be made, create it again to retry; see `operation_id` */
        status: "provisioning" | "ready" | "failed" | "deleting";
        /** reachable from the project's own services only */
        host: string;
        port: number;
        /** names that every service of the project is given */
        variables: Array<string>;
        /** memory limit in MiB */
        memory_mb: number;
        /** CPU limit in cores */
        cpus: number;
        storage_limit_mb: number | null;
        used_bytes: number | null;
        /** the storage limit was passed: apps cannot write */
        read_only: boolean;
        kept: {
          /** key of the backup that was restored */
          backup: string;
          /** RFC 3339, UTC */
          restored_at: string;
          /** RFC 3339, UTC */
          until: string;
        } | null;
        last_backup: {
          key: string;
          status: string;
          /** RFC 3339, UTC */
          started_at: string;
          verified_at: string | null;
        } | null;
        next_backup_at: string | null;
        rotated_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
      } | DryRun | Accepted;
    };
    /** Delete a datastore with its data; its backups stay until their time is over */
    DELETE: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** make a last, verified backup first; when that fails, nothing is deleted */
        final_backup?: boolean;
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
        /** must be true, except in a dry run */
        confirm: boolean;
      };
      reply: DryRun | {
        operation_id: string;
        stream_url: string;
        service_url: string | null;
        /** services that restart, one replica after the other, to be given the variables */
        restarted_services: Array<string>;
      };
    };
  };
  "/v1/projects/{project}/datastores/{name}/restart": {
    /** Restart on the newest image of its version: an upgrade within the major version */
    POST: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: DryRun | Accepted;
    };
  };
  "/v1/projects/{project}/datastores/{name}/rotate": {
    /** Give the services a new credential, replica by replica, then void the old one */
    POST: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: DryRun | {
        operation_id: string;
        stream_url: string;
        service_url: string | null;
        /** services that restart, one replica after the other, to be given the variables */
        restarted_services: Array<string>;
      };
    };
  };
  "/v1/projects/{project}/datastores/{name}/fork": {
    /** Make another datastore from a backup, the newest verified one unless a key is given */
    POST: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** key of a backup */
        key?: string;
        /** memory limit in MiB */
        memory_mb?: number;
        /** CPU limit in cores */
        cpus?: number;
        storage_limit_mb?: number | null;
      };
      reply: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** mongo: a Mongo-compatible layer over Postgres */
        kind: "postgres" | "redis" | "mongo";
        version: string;
        /** provisioning: not usable yet; failed: could not be made, create it again to retry; see `operation_id` */
        status: "provisioning" | "ready" | "failed" | "deleting";
        /** reachable from the project's own services only */
        host: string;
        port: number;
        /** names that every service of the project is given */
        variables: Array<string>;
        /** memory limit in MiB */
        memory_mb: number;
        /** CPU limit in cores */
        cpus: number;
        storage_limit_mb: number | null;
        used_bytes: number | null;
        /** the storage limit was passed: apps cannot write */
        read_only: boolean;
        kept: {
          /** key of the backup that was restored */
          backup: string;
          /** RFC 3339, UTC */
          restored_at: string;
          /** RFC 3339, UTC */
          until: string;
        } | null;
        last_backup: {
          key: string;
          status: string;
          /** RFC 3339, UTC */
          started_at: string;
          verified_at: string | null;
        } | null;
        next_backup_at: string | null;
        rotated_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
        created: boolean;
        /** services that restart, one replica after the other, to be given the variables */
        restarted_services: Array<string>;
        operation_id: string | null;
        stream_url: string | null;
      } | DryRun | {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** mongo: a Mongo-compatible layer over Postgres */
        kind: "postgres" | "redis" | "mongo";
        version: string;
        /** provisioning: not usable yet; failed: could not be made, create it again to retry; see `operation_id` */
        status: "provisioning" | "ready" | "failed" | "deleting";
        /** reachable from the project's own services only */
        host: string;
        port: number;
        /** names that every service of the project is given */
        variables: Array<string>;
        /** memory limit in MiB */
        memory_mb: number;
        /** CPU limit in cores */
        cpus: number;
        storage_limit_mb: number | null;
        used_bytes: number | null;
        /** the storage limit was passed: apps cannot write */
        read_only: boolean;
        kept: {
          /** key of the backup that was restored */
          backup: string;
          /** RFC 3339, UTC */
          restored_at: string;
          /** RFC 3339, UTC */
          until: string;
        } | null;
        last_backup: {
          key: string;
          status: string;
          /** RFC 3339, UTC */
          started_at: string;
          verified_at: string | null;
        } | null;
        next_backup_at: string | null;
        rotated_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
        created: boolean;
        /** services that restart, one replica after the other, to be given the variables */
        restarted_services: Array<string>;
        operation_id: string | null;
        stream_url: string | null;
      };
    };
  };
  "/v1/projects/{project}/datastores/{name}/tables": {
    /** List tables with columns and sizes, Redis keys with types and TTL, or Mongo collections */
    GET: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
        /** part of the name; for redis a glob such as `user:*` */
        match?: string;
      };
      reply: {
        tables: Array<{
          name: string;
          /** table, view …; the type of a Redis key; collection */
          type: string;
          schema?: string;
          /** -1 when never analysed */
          row_estimate?: number;
          size_bytes?: number;
          columns?: Array<{
            name: string;
            type: string;
            nullable: boolean;
            default: string | null;
            primary_key: boolean;
          }>;
          ttl_seconds?: number | null;
        }>;
        next_cursor: string | null;
      };
    };
  };
  "/v1/projects/{project}/datastores/{name}/query": {
    /** Run one SQL statement, Redis command or Mongo command */
    POST: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** one SQL statement, one Redis command, or one Mongo command as JSON */
        query: string;
        /** values of $1, $2 … */
        params?: Array<unknown>;
        /** refuse writes although the token may write */
        read_only?: boolean;
        /** rows at most; 500 when omitted */
        limit?: number;
        /** 30 when omitted */
        timeout_seconds?: number;
      };
      reply: {
        columns: Array<{
          name: string;
          type: string;
        }>;
        rows: Array<Array<unknown>>;
        /** rows in the reply; rows changed by a statement that returns none */
        row_count: number;
        /** there are more rows */
        truncated: boolean;
        duration_ms: number;
      } | DryRun;
    };
  };
  "/v1/projects/{project}/datastores/{name}/tunnel": {
    /** A connection to the datastore in its own protocol, over WebSocket; no password is needed */
    GET: {
      path: {
        project: string;
        name: string;
      };
      reply: unknown;
    };
  };
  "/v1/projects/{project}/datastores/{name}/backups": {
    /** List backups, newest first; those of a deleted datastore too */
    GET: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
      };
      reply: {
        backups: Array<{
          key: string;
          /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
          datastore: string;
          /** mongo: a Mongo-compatible layer over Postgres */
          kind: "postgres" | "redis" | "mongo";
          version: string;
          /** final: made before the datastore was deleted */
          cause: "nightly" | "manual" | "final";
          /** verified: restored into a scratch instance, counted and compared */
          status: "running" | "verifying" | "verified" | "failed";
          bytes: number | null;
          sha256: string | null;
          encrypted: boolean;
          places: Array<"disk" | "s3">;
          rows: number | null;
          objects: Record<string, number> | null;
          /** RFC 3339, UTC */
          started_at: string;
          finished_at: string | null;
          verified_at: string | null;
          duration_ms: number | null;
          expires_at: string | null;
          error: Error | null;
          operation_id: string;
          created_by: string;
        }>;
        next_cursor: string | null;
      };
    };
    /** Back up now; the operation succeeds once the backup was restored elsewhere and compared */
    POST: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: DryRun | {
        operation_id: string;
        stream_url: string;
        service_url: string | null;
        key: string;
      };
    };
  };
  "/v1/projects/{project}/datastores/{name}/backups/{key}": {
    /** Show a backup: what is in it, when it was verified */
    GET: {
      path: {
        project: string;
        name: string;
        key: string;
      };
      reply: {
        key: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        datastore: string;
        /** mongo: a Mongo-compatible layer over Postgres */
        kind: "postgres" | "redis" | "mongo";
        version: string;
        /** final: made before the datastore was deleted */
        cause: "nightly" | "manual" | "final";
        /** verified: restored into a scratch instance, counted and compared */
        status: "running" | "verifying" | "verified" | "failed";
        bytes: number | null;
        sha256: string | null;
        encrypted: boolean;
        places: Array<"disk" | "s3">;
        rows: number | null;
        objects: Record<string, number> | null;
        /** RFC 3339, UTC */
        started_at: string;
        finished_at: string | null;
        verified_at: string | null;
        duration_ms: number | null;
        expires_at: string | null;
        error: Error | null;
        operation_id: string;
        created_by: string;
      };
    };
    /** Delete a backup */
    DELETE: {
      path: {
        project: string;
        name: string;
        key: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
        /** must be true, except in a dry run */
        confirm: boolean;
      };
      reply: {
        deleted: true;
      } | DryRun;
    };
  };
  "/v1/projects/{project}/datastores/{name}/backups/{key}/download": {
    /** Download a backup, decrypted: a pg_dump archive, or an RDB file */
    GET: {
      path: {
        project: string;
        name: string;
        key: string;
      };
      reply: Response;
    };
  };
  "/v1/projects/{project}/datastores/{name}/restore": {
    /** Restore a backup beside the live data, check it, and swap; postgres only */
    POST: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** key of a backup */
        key: string;
        /** how long the data of before is kept; 24 when omitted */
        keep_hours?: number;
      };
      reply: DryRun | Accepted;
    };
  };
  "/v1/projects/{project}/datastores/{name}/restore/undo": {
    /** Swap back the data that the last restore replaced */
    POST: {
      path: {
        project: string;
        name: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: DryRun | Accepted;
    };
  };
  "/v1/projects/{project}/repos": {
    /** List git repositories */
    GET: {
      path: {
        project: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
      };
      reply: {
        repos: Array<{
          /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
          project: string;
          /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
          name: string;
          /** any user name, the bearer token as password */
          clone_url: string;
          default_branch: string;
          deploy_service: string | null;
          deploy_branch: string | null;
          root: string | null;
          /** deploy every other branch as <service>-<branch>, and delete it with the branch */
          preview: boolean;
          mirror_of: string | null;
          webhook_url: string | null;
          mirrored_at: string | null;
          mirror_error: Error | null;
          /** nothing was pushed yet */
          empty: boolean;
          size_bytes: number;
          pushed_at: string | null;
          /** RFC 3339, UTC */
          created_at: string;
          created_by: string;
          /** RFC 3339, UTC */
          updated_at: string;
        }>;
        next_cursor: string | null;
      };
    };
    /** Make a git repository; with deploy_service, every push to its branch deploys that service */
    POST: {
      path: {
        project: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        default_branch?: string;
        deploy_service?: string | null;
        deploy_branch?: string | null;
        root?: string | null;
        /** deploy every other branch as <service>-<branch>, and delete it with the branch */
        preview?: boolean;
        /** https URL of a repository elsewhere */
        mirror_of?: string;
        mirror_credential?: {
          user: string;
          password: string;
        } | null;
        webhook_secret?: string;
      };
      reply: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** any user name, the bearer token as password */
        clone_url: string;
        default_branch: string;
        deploy_service: string | null;
        deploy_branch: string | null;
        root: string | null;
        /** deploy every other branch as <service>-<branch>, and delete it with the branch */
        preview: boolean;
        mirror_of: string | null;
        webhook_url: string | null;
        mirrored_at: string | null;
        mirror_error: Error | null;
        /** nothing was pushed yet */
        empty: boolean;
        size_bytes: number;
        pushed_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
        created: boolean;
        webhook_secret: string | null;
      } | DryRun | {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** any user name, the bearer token as password */
        clone_url: string;
        default_branch: string;
        deploy_service: string | null;
        deploy_branch: string | null;
        root: string | null;
        /** deploy every other branch as <service>-<branch>, and delete it with the branch */
        preview: boolean;
        mirror_of: string | null;
        webhook_url: string | null;
        mirrored_at: string | null;
        mirror_error: Error | null;
        /** nothing was pushed yet */
        empty: boolean;
        size_bytes: number;
        pushed_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
        created: boolean;
        webhook_secret: string | null;
      };
    };
  };
  "/v1/projects/{project}/repos/{repo}": {
    /** Show a repository: clone address, what a push deploys, size */
    GET: {
      path: {
        project: string;
        repo: string;
      };
      reply: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** any user name, the bearer token as password */
        clone_url: string;
        default_branch: string;
        deploy_service: string | null;
        deploy_branch: string | null;
        root: string | null;
        /** deploy every other branch as <service>-<branch>, and delete it with the branch */
        preview: boolean;
        mirror_of: string | null;
        webhook_url: string | null;
        mirrored_at: string | null;
        mirror_error: Error | null;
        /** nothing was pushed yet */
        empty: boolean;
        size_bytes: number;
        pushed_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
      };
    };
    /** Rename a repository, or change its default branch or what its pushes deploy */
    PATCH: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name?: string;
        default_branch?: string;
        deploy_service?: string | null;
        deploy_branch?: string | null;
        root?: string | null;
        /** deploy every other branch as <service>-<branch>, and delete it with the branch */
        preview?: boolean;
        mirror_of?: string | null;
        mirror_credential?: {
          user: string;
          password: string;
        } | null;
        webhook_secret?: string;
      };
      reply: {
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        project: string;
        /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
        name: string;
        /** any user name, the bearer token as password */
        clone_url: string;
        default_branch: string;
        deploy_service: string | null;
        deploy_branch: string | null;
        root: string | null;
        /** deploy every other branch as <service>-<branch>, and delete it with the branch */
        preview: boolean;
        mirror_of: string | null;
        webhook_url: string | null;
        mirrored_at: string | null;
        mirror_error: Error | null;
        /** nothing was pushed yet */
        empty: boolean;
        size_bytes: number;
        pushed_at: string | null;
        /** RFC 3339, UTC */
        created_at: string;
        created_by: string;
        /** RFC 3339, UTC */
        updated_at: string;
        webhook_secret: string | null;
      } | DryRun;
    };
    /** Delete a repository with all its history; services stay as they are */
    DELETE: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: {
        deleted: true;
      } | DryRun;
    };
  };
  "/v1/projects/{project}/repos/{repo}/refs": {
    /** List branches and tags, and the commits that they point at */
    GET: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
        kind?: "branch" | "tag";
      };
      reply: {
        refs: Array<{
          /** without refs/heads/ or refs/tags/ */
          name: string;
          ref: string;
          kind: "branch" | "tag" | "other";
          /** it is the default branch */
          default: boolean;
          /** what it points at; of an annotated tag, the tag object */
          target: string;
          commit: string | null;
          committed_at: string | null;
        }>;
        next_cursor: string | null;
      };
    };
  };
  "/v1/projects/{project}/repos/{repo}/commits": {
    /** List commits, newest first */
    GET: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
        /** a branch, tag, full ref or commit id (also its beginning); one name for several is the branch before the tag; the default branch when omitted */
        ref?: string;
        /** relative to the root of the repository */
        path?: string;
        /** show the changed files of each commit */
        files?: boolean;
      };
      reply: {
        commits: Array<{
          /** 40 hex digits */
          id: string;
          parents: Array<string>;
          author: {
            name: string;
            email: string;
            /** RFC 3339, with the offset that the commit has */
            at: string;
          };
          committer: {
            name: string;
            email: string;
            /** RFC 3339, with the offset that the commit has */
            at: string;
          };
          /** first line of the message */
          subject: string;
          /** the rest of the message */
          body: string;
          /** what differs from the first parent */
          files?: Array<{
            path: string;
            /** the path before it was renamed */
            from?: string;
            change: "added" | "modified" | "deleted" | "renamed" | "type_changed";
            additions: number | null;
            deletions: number | null;
          }>;
          /** there are more files than shown */
          files_truncated?: boolean;
        }>;
        next_cursor: string | null;
      };
    };
    /** Change files in one commit: write, delete, move, make executable */
    POST: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: {
        /** the default branch when omitted; made when new */
        branch?: string;
        /** where a new branch starts; the default branch when omitted */
        from?: string;
        /** of the commit; its first line is the subject */
        message: string;
        files: Array<{
          /** relative to the root of the repository */
          path: string;
          /** the whole file; empty for an empty one */
          content?: string;
          /** of content; utf-8 when omitted */
          encoding?: "utf-8" | "base64";
          /** a file keeps its mode when omitted */
          executable?: boolean;
          /** a folder is deleted with all that is in it */
          delete?: true;
          /** the path that it has now */
          move_from?: string;
        }>;
        expected_head?: string | null;
        /** false: deploy nothing, whatever the branch */
        deploy?: boolean;
      };
      reply: {
        branch: string;
        /** false: the files are like that already, and no commit was made */
        changed: boolean;
        before: string | null;
        commit: {
          /** 40 hex digits */
          id: string;
          parents: Array<string>;
          author: {
            name: string;
            email: string;
            /** RFC 3339, with the offset that the commit has */
            at: string;
          };
          committer: {
            name: string;
            email: string;
            /** RFC 3339, with the offset that the commit has */
            at: string;
          };
          /** first line of the message */
          subject: string;
          /** the rest of the message */
          body: string;
          /** what differs from the first parent */
          files?: Array<{
            path: string;
            /** the path before it was renamed */
            from?: string;
            change: "added" | "modified" | "deleted" | "renamed" | "type_changed";
            additions: number | null;
            deletions: number | null;
          }>;
          /** there are more files than shown */
          files_truncated?: boolean;
        };
        /** what the commit deploys */
        deploys: Array<{
          /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
          service: string;
          operation_id: string | null;
          stream_url: string | null;
          service_url: string | null;
          error: Error | null;
        }>;
      } | DryRun | {
        branch: string;
        /** false: the files are like that already, and no commit was made */
        changed: boolean;
        before: string | null;
        commit: {
          /** 40 hex digits */
          id: string;
          parents: Array<string>;
          author: {
            name: string;
            email: string;
            /** RFC 3339, with the offset that the commit has */
            at: string;
          };
          committer: {
            name: string;
            email: string;
            /** RFC 3339, with the offset that the commit has */
            at: string;
          };
          /** first line of the message */
          subject: string;
          /** the rest of the message */
          body: string;
          /** what differs from the first parent */
          files?: Array<{
            path: string;
            /** the path before it was renamed */
            from?: string;
            change: "added" | "modified" | "deleted" | "renamed" | "type_changed";
            additions: number | null;
            deletions: number | null;
          }>;
          /** there are more files than shown */
          files_truncated?: boolean;
        };
        /** what the commit deploys */
        deploys: Array<{
          /** a–z, digits and single dashes; starts with a letter, does not end with a dash, at most 30 characters */
          service: string;
          operation_id: string | null;
          stream_url: string | null;
          service_url: string | null;
          error: Error | null;
        }>;
      };
    };
  };
  "/v1/projects/{project}/repos/{repo}/commits/{commit}": {
    /** Show a commit and the files that it changed */
    GET: {
      path: {
        project: string;
        repo: string;
        commit: string;
      };
      reply: {
        /** 40 hex digits */
        id: string;
        parents: Array<string>;
        author: {
          name: string;
          email: string;
          /** RFC 3339, with the offset that the commit has */
          at: string;
        };
        committer: {
          name: string;
          email: string;
          /** RFC 3339, with the offset that the commit has */
          at: string;
        };
        /** first line of the message */
        subject: string;
        /** the rest of the message */
        body: string;
        /** what differs from the first parent */
        files?: Array<{
          path: string;
          /** the path before it was renamed */
          from?: string;
          change: "added" | "modified" | "deleted" | "renamed" | "type_changed";
          additions: number | null;
          deletions: number | null;
        }>;
        /** there are more files than shown */
        files_truncated?: boolean;
      };
    };
  };
  "/v1/projects/{project}/repos/{repo}/commits/{commit}/diff": {
    /** Show what a commit changed, as a unified diff against its first parent */
    GET: {
      path: {
        project: string;
        repo: string;
        commit: string;
      };
      query: {
        /** relative to the root of the repository */
        path?: string;
        /** bytes of the patch; 1048576 when omitted */
        max_bytes?: number;
      };
      reply: {
        /** 40 hex digits */
        commit: string;
        files: Array<{
          path: string;
          /** the path before it was renamed */
          from?: string;
          change: "added" | "modified" | "deleted" | "renamed" | "type_changed";
          additions: number | null;
          deletions: number | null;
        }>;
        /** unified diff */
        patch: string;
        /** patch or files were cut; see max_bytes */
        truncated: boolean;
      };
    };
  };
  "/v1/projects/{project}/repos/{repo}/compare": {
    /** Compare two refs: commits of head that base lacks, and what they change */
    GET: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** a branch, tag, full ref or commit id (also its beginning); one name for several is the branch before the tag; the default branch when omitted */
        base: string;
        /** a branch, tag, full ref or commit id (also its beginning); one name for several is the branch before the tag; the default branch when omitted */
        head?: string;
        /** how many commits, 50 when omitted */
        limit?: number;
        /** bytes of the patch; 1048576 when omitted */
        max_bytes?: number;
      };
      reply: {
        /** 40 hex digits */
        base: string;
        /** 40 hex digits */
        head: string;
        merge_base: string | null;
        /** commits that head has and base has not */
        ahead: number;
        /** commits that base has and head has not */
        behind: number;
        /** newest of those that only head has */
        commits: Array<{
          /** 40 hex digits */
          id: string;
          parents: Array<string>;
          author: {
            name: string;
            email: string;
            /** RFC 3339, with the offset that the commit has */
            at: string;
          };
          committer: {
            name: string;
            email: string;
            /** RFC 3339, with the offset that the commit has */
            at: string;
          };
          /** first line of the message */
          subject: string;
          /** the rest of the message */
          body: string;
          /** what differs from the first parent */
          files?: Array<{
            path: string;
            /** the path before it was renamed */
            from?: string;
            change: "added" | "modified" | "deleted" | "renamed" | "type_changed";
            additions: number | null;
            deletions: number | null;
          }>;
          /** there are more files than shown */
          files_truncated?: boolean;
        }>;
        files: Array<{
          path: string;
          /** the path before it was renamed */
          from?: string;
          change: "added" | "modified" | "deleted" | "renamed" | "type_changed";
          additions: number | null;
          deletions: number | null;
        }>;
        /** unified diff */
        patch: string;
        /** patch or files were cut; see max_bytes */
        truncated: boolean;
      };
    };
  };
  "/v1/projects/{project}/repos/{repo}/tree": {
    /** List a folder, or all files below it, with modes and sizes */
    GET: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** `next_cursor` of the page before */
        cursor?: string;
        /** how many, 1000 when omitted */
        limit?: number;
        /** a branch, tag, full ref or commit id (also its beginning); one name for several is the branch before the tag; the default branch when omitted */
        ref?: string;
        /** relative to the root of the repository */
        path?: string;
        /** all files below, instead of the entries of the folder */
        recursive?: boolean;
      };
      reply: {
        /** 40 hex digits */
        commit: string;
        /** the folder; empty for the root */
        path: string;
        entries: Array<{
          /** from the root; bytes that are not UTF-8 are shown as U+FFFD */
          path: string;
          /** the bytes as base64, of a path that is not UTF-8 */
          raw_path?: string;
          kind: "file" | "directory" | "symlink" | "submodule";
          mode: string;
          /** object id */
          id: string;
          size: number | null;
        }>;
        next_cursor: string | null;
      };
    };
  };
  "/v1/projects/{project}/repos/{repo}/file": {
    /** Read a file: text, or base64 when it is binary */
    GET: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** relative to the root of the repository */
        path: string;
        /** a branch, tag, full ref or commit id (also its beginning); one name for several is the branch before the tag; the default branch when omitted */
        ref?: string;
        /** bytes to skip */
        offset?: number;
        /** bytes; 1048576 when omitted */
        length?: number;
      };
      reply: {
        /** 40 hex digits */
        commit: string;
        path: string;
        /** the content of a symlink is its target; it is never followed */
        kind: "file" | "symlink";
        mode: string;
        executable: boolean;
        /** object id: the same for the same content */
        id: string;
        /** bytes of the whole file */
        size: number;
        binary: boolean;
        /** base64: what is not text in UTF-8 */
        encoding: "utf-8" | "base64";
        content: string;
        /** bytes before this content */
        offset: number;
        /** bytes of this content */
        length: number;
        next_offset: number | null;
      };
    };
  };
  "/v1/projects/{project}/repos/{repo}/readme": {
    /** Read the README of a folder */
    GET: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** a branch, tag, full ref or commit id (also its beginning); one name for several is the branch before the tag; the default branch when omitted */
        ref?: string;
        /** folder; the root when omitted */
        path?: string;
      };
      reply: {
        /** 40 hex digits */
        commit: string;
        path: string;
        /** the content of a symlink is its target; it is never followed */
        kind: "file" | "symlink";
        mode: string;
        executable: boolean;
        /** object id: the same for the same content */
        id: string;
        /** bytes of the whole file */
        size: number;
        binary: boolean;
        /** base64: what is not text in UTF-8 */
        encoding: "utf-8" | "base64";
        content: string;
        /** bytes before this content */
        offset: number;
        /** bytes of this content */
        length: number;
        next_offset: number | null;
      };
    };
  };
  "/v1/projects/{project}/repos/{repo}/archive": {
    /** Download the files of a commit as a tar */
    GET: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** a branch, tag, full ref or commit id (also its beginning); one name for several is the branch before the tag; the default branch when omitted */
        ref?: string;
        /** folder; the root when omitted */
        path?: string;
        format?: "tar.gz" | "tar";
      };
      reply: Response;
    };
  };
  "/v1/projects/{project}/repos/{repo}/sync": {
    /** Fetch a mirrored repository now */
    POST: {
      path: {
        project: string;
        repo: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      reply: {
        started: true;
      };
    };
  };
  "/v1/projects/{project}/env": {
    /** List the names that are set; values are never returned */
    GET: {
      path: {
        project: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
      };
      reply: {
        names: Array<string>;
        /** what services are given for datastores; a name that is set comes before it */
        injected: Array<{
          name: string;
          datastore: string;
        }>;
        env: Array<{
          name: string;
          /** RFC 3339, UTC */
          updated_at: string;
          updated_by: string;
        }>;
        next_cursor: string | null;
      };
    };
    /** Merge name/value pairs into the environment; services with a live release restart without an outage */
    PUT: {
      path: {
        project: string;
      };
      query: {
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: Record<string, unknown>;
      reply: {
        /** all names set now */
        names: Array<string>;
        set: Array<string>;
        unset: Array<string>;
        restarted_services: Array<string>;
        /** the rolling restarts under way */
        operations: Array<{
          service: string;
          operation_id: string;
          stream_url: string;
          service_url: string | null;
        }>;
      } | DryRun;
    };
  };
  "/v1/events": {
    /** List what happened, and who caused it, in all projects in scope, newest first */
    GET: {
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
        /** `*`: what concerns the whole server */
        project?: string;
        /** a kind, or the part before its dot */
        kind?: string;
        /** principal who caused it */
        actor?: string;
        /** from this time on: RFC 3339, or a duration such as `2h` */
        since?: string;
        /** before this time: RFC 3339, or a duration */
        until?: string;
      };
      reply: {
        events: Array<Event>;
        next_cursor: string | null;
      };
    };
  };
  "/v1/projects/{project}/events": {
    /** Follow what happens in a project */
    GET: {
      path: {
        project: string;
      };
      query: {
        /** replay so many first; 50 when omitted */
        tail?: number;
        /** replay from this time on: RFC 3339, or a duration such as `10m` */
        since?: string;
        /** false ends the stream after the replay */
        follow?: boolean;
        /** like the header Last-Event-ID */
        last_event_id?: string;
      };
      reply: Response;
    };
  };
  "/v1/projects/{project}/services/{service}/logs": {
    /** Follow a service's log, lines of dead replicas included */
    GET: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** replay so many lines first; 100 when omitted, all with `since` */
        tail?: number;
        /** lines from this time on: RFC 3339, or a duration such as `10m` */
        since?: string;
        /** false ends the stream after what is stored */
        follow?: boolean;
        /** only this replica, by name */
        replica?: string;
        /** only replicas of this release */
        release?: string;
        /** like the header Last-Event-ID */
        last_event_id?: string;
      };
      reply: Response;
    };
  };
  "/v1/projects/{project}/services/{service}/logs/search": {
    /** Search the stored log of a service, or go to a time in it */
    GET: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** how many, 50 when omitted */
        limit?: number;
        /** `next_cursor` of the page before */
        cursor?: string;
        /** what the line contains, in whatever case */
        text?: string;
        /** only this replica, by name */
        replica?: string;
        /** only replicas of this release */
        release?: string;
        stream?: "stdout" | "stderr";
        /** from this time on: RFC 3339, or a duration such as `2h` */
        since?: string;
        /** before this time: RFC 3339, or a duration */
        until?: string;
        /** which lines come first; newest when omitted */
        order?: "newest" | "oldest";
      };
      reply: {
        lines: Array<{
          seq: number;
          /** RFC 3339 with nanoseconds, as the engine stamped it */
          ts: string;
          replica: string;
          release: string;
          stream: "stdout" | "stderr";
          line: string;
        }>;
        next_cursor: string | null;
      };
    };
  };
  "/v1/projects/{project}/services/{service}/logs/download": {
    /** Download the stored log of a service as plain text, or the lines that match */
    GET: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** what the line contains, in whatever case */
        text?: string;
        /** only this replica, by name */
        replica?: string;
        /** only replicas of this release */
        release?: string;
        stream?: "stdout" | "stderr";
        /** from this time on: RFC 3339, or a duration such as `2h` */
        since?: string;
        /** before this time: RFC 3339, or a duration */
        until?: string;
      };
      reply: Response;
    };
  };
  "/v1/live": {
    /** Follow several things in one stream: projects, operations, logs, usage */
    GET: {
      query: {
        /** names with commas between: `projects`, `operations`, `admin`, `project:<project>`, `events:<project>`, `operation:<id>`, `logs:<project>/<service>`, `usage:<project>/<service>`; `<topic>@<cursor>` goes on after a cursor */
        topics: string;
        /** like the header Last-Event-ID */
        last_event_id?: string;
      };
      reply: Response;
    };
  };
  "/v1/projects/{project}/services/{service}/usage": {
    /** Show requests, latency, errors, CPU, memory and restarts of a service over time */
    GET: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** from this time on: RFC 3339, or a duration such as `6h`; an hour before `to` when omitted */
        from?: string;
        /** to this time: RFC 3339, or a duration; now when omitted */
        to?: string;
        /** at most so many intervals, 120 when omitted */
        points?: number;
      };
      reply: {
        project: string;
        service: string;
        /** RFC 3339, UTC */
        from: string;
        /** RFC 3339, UTC */
        to: string;
        /** length of the intervals; those without a measurement are left out */
        step_seconds: number;
        points: Array<{
          /** start of the interval */
          ts: string;
          requests_per_second: number;
          error_rate: number | null;
          p50_ms: number | null;
          p95_ms: number | null;
          cpu: number | null;
          memory_bytes: number | null;
          /** running ones, the most in the interval */
          replicas: number;
          /** of replicas that had exited */
          restarts: number;
        }>;
        /** those of the last day, in the same intervals */
        replicas: Array<{
          name: string;
          points: Array<{
            /** RFC 3339, UTC */
            ts: string;
            /** in cores */
            cpu: number;
            memory_bytes: number;
            restarts: number;
          }>;
        }>;
      };
    };
  };
  "/v1/projects/{project}/services/{service}/deploys": {
    /** Deploy a source directory */
    POST: {
      path: {
        project: string;
        service: string;
      };
      query: {
        /** build every step anew */
        no_cache?: "true" | "false";
        /** commit that the source was taken from: 7 to 64 hex digits */
        commit?: string;
        /** reply with the planned change, and change nothing */
        dry_run?: boolean;
      };
      body: Bytes;
      reply: DryRun | Accepted;
    };
  };
}
