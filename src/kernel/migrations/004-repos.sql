CREATE TABLE repos (
  -- Names the repository on disk too, so that one made anew never meets old data.
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  default_branch TEXT NOT NULL,
  deploy_service TEXT,
  -- NULL: the default branch.
  deploy_branch TEXT,
  -- Folder that is deployed; NULL: the whole repository.
  root TEXT,
  preview INTEGER NOT NULL DEFAULT 0,
  mirror_of TEXT,
  -- JSON, sealed: user and password at the mirrored address.
  mirror_credential BLOB,
  -- Sealed: what the mirrored address signs its webhooks with.
  webhook_secret BLOB,
  mirrored_at INTEGER,
  -- JSON: the error object of the last attempt.
  mirror_error TEXT,
  size_bytes INTEGER NOT NULL DEFAULT 0,
  -- Head of the deployed branch that was last dealt with: another one was pushed while berth died.
  settled_head TEXT,
  pushed_at INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project, name)
) STRICT;

-- Services that were made for a branch, and go with it.
CREATE TABLE previews (
  repo_id TEXT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
  branch TEXT NOT NULL,
  service TEXT NOT NULL,
  PRIMARY KEY (repo_id, branch)
) STRICT, WITHOUT ROWID;

-- Webhooks that were taken, so that none is taken twice.
CREATE TABLE webhook_deliveries (
  repo_id TEXT NOT NULL REFERENCES repos (id) ON DELETE CASCADE,
  delivery TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (repo_id, delivery)
) STRICT, WITHOUT ROWID;
