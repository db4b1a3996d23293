CREATE TABLE datastores (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects (name) ON DELETE CASCADE,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  version TEXT NOT NULL,
  status TEXT NOT NULL,
  memory_mb INTEGER NOT NULL,
  cpus REAL NOT NULL,
  storage_limit_mb INTEGER,
  -- JSON: role of a container → its fixed address; {} until they are given out.
  addresses TEXT NOT NULL DEFAULT '{}',
  -- JSON, sealed: passwords, credentials, certificate.
  sealed BLOB NOT NULL,
  used_bytes INTEGER,
  read_only INTEGER NOT NULL DEFAULT 0,
  -- JSON: the data that the last restore replaced, and until when it is kept.
  kept TEXT,
  -- When its data was found missing; until a restore, older backups are kept.
  lost_at INTEGER,
  rotated_at INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project, name)
) STRICT;

-- Backups outlive their datastore.
CREATE TABLE backups (
  key TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES projects (name) ON DELETE CASCADE,
  datastore TEXT NOT NULL,
  datastore_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  version TEXT NOT NULL,
  cause TEXT NOT NULL,
  status TEXT NOT NULL,
  operation_id TEXT NOT NULL,
  bytes INTEGER,
  sha256 TEXT,
  encrypted_to TEXT,
  -- JSON: where it is kept.
  places TEXT NOT NULL DEFAULT '[]',
  rows INTEGER,
  -- JSON: rows by table.
  objects TEXT,
  started_at INTEGER NOT NULL,
  finished_at INTEGER,
  verified_at INTEGER,
  -- JSON: the error object.
  error TEXT,
  created_by TEXT NOT NULL
) STRICT;

CREATE INDEX backups_datastore ON backups (project, datastore, key);

ALTER TABLE operations ADD COLUMN datastore TEXT;
