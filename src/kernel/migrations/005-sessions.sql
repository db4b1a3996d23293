CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  token_id TEXT NOT NULL REFERENCES tokens (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;

CREATE INDEX sessions_token ON sessions (token_id);
