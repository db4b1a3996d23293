-- Which service used which record of the engine's build cache.
CREATE TABLE build_caches (
  project TEXT NOT NULL,
  service TEXT NOT NULL,
  record TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (project, service, record),
  FOREIGN KEY (project, service) REFERENCES services (project, name) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
