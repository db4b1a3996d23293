CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  principal TEXT NOT NULL,
  secret_hash BLOB NOT NULL,
  capabilities TEXT NOT NULL,
  projects TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  last_used_at INTEGER,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;

CREATE TABLE projects (
  name TEXT PRIMARY KEY,
  state TEXT NOT NULL DEFAULT 'active',
  network TEXT NOT NULL,
  subnet TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL
) STRICT;

CREATE TABLE services (
  project TEXT NOT NULL REFERENCES projects (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  replicas INTEGER NOT NULL DEFAULT 1,
  health_path TEXT,
  health_timeout_seconds INTEGER NOT NULL,
  drain_seconds INTEGER NOT NULL DEFAULT 10,
  memory_mb INTEGER NOT NULL,
  cpus REAL NOT NULL,
  protocol TEXT NOT NULL DEFAULT 'http',
  live_release TEXT,
  previous_release TEXT,
  build_memory TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (project, name)
) STRICT;

CREATE TABLE releases (
  project TEXT NOT NULL,
  service TEXT NOT NULL,
  id TEXT NOT NULL,
  digest TEXT NOT NULL,
  image TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  provider TEXT NOT NULL,
  source_sha256 TEXT,
  commit_id TEXT,
  operation_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  last_live_at INTEGER,
  PRIMARY KEY (project, service, id),
  FOREIGN KEY (project, service) REFERENCES services (project, name) ON DELETE CASCADE
) STRICT;

CREATE TABLE replicas (
  container_id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  project TEXT NOT NULL,
  service TEXT NOT NULL,
  release TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  slot INTEGER NOT NULL,
  ip TEXT NOT NULL,
  port INTEGER NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  FOREIGN KEY (project, service) REFERENCES services (project, name) ON DELETE CASCADE
) STRICT;

CREATE INDEX replicas_service ON replicas (project, service);

CREATE TABLE operations (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  project TEXT NOT NULL,
  service TEXT,
  status TEXT NOT NULL,
  phase TEXT NOT NULL,
  input TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  created_by TEXT NOT NULL,
  token_id TEXT NOT NULL,
  error TEXT,
  result TEXT,
  checkpoint TEXT
) STRICT;

CREATE INDEX operations_project ON operations (project, id);
CREATE INDEX operations_open ON operations (status) WHERE status IN ('queued', 'running');

CREATE TABLE operation_events (
  operation_id TEXT NOT NULL REFERENCES operations (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (operation_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE env (
  project TEXT NOT NULL REFERENCES projects (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  sealed BLOB NOT NULL,
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  PRIMARY KEY (project, name)
) STRICT;

CREATE TABLE events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  project TEXT NOT NULL,
  kind TEXT NOT NULL,
  ts INTEGER NOT NULL,
  actor TEXT NOT NULL,
  data TEXT NOT NULL
) STRICT;

CREATE INDEX events_project ON events (project, seq);

CREATE TABLE idempotency (
  token_id TEXT NOT NULL,
  key TEXT NOT NULL,
  request TEXT NOT NULL,
  status INTEGER,
  body TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (token_id, key)
) STRICT;
