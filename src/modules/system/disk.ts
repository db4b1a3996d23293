import type { Database } from 'bun:sqlite';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Disk } from './model.ts';

type Row = Omit<Disk['projects'][number], 'log_bytes' | 'total_bytes'>;

/** What each project has on disk, the largest first. Logs are measured now, the rest as it was last counted. */
export const diskByProject = async (db: Database, dataDir: string): Promise<Disk> => {
  const rows = db
    .query<Row, []>(
      `SELECT name AS project,
         (SELECT coalesce(sum(size_bytes), 0) FROM releases WHERE project = p.name) AS image_bytes,
         (SELECT coalesce(sum(bytes), 0) FROM build_caches WHERE project = p.name) AS build_cache_bytes,
         (SELECT coalesce(sum(used_bytes), 0) FROM datastores WHERE project = p.name) AS datastore_bytes,
         (SELECT coalesce(sum(b.bytes), 0) FROM backups b JOIN datastores d ON d.id = b.datastore_id WHERE d.project = p.name)
           AS backup_bytes,
         (SELECT coalesce(sum(size_bytes), 0) FROM repos WHERE project = p.name) AS repo_bytes
       FROM projects p`,
    )
    .all();
  const projects = await Promise.all(
    rows.map(async (row) => {
      const log_bytes = await folderBytes(join(dataDir, 'logs', row.project));
      const { image_bytes, build_cache_bytes, datastore_bytes, backup_bytes, repo_bytes } = row;
      const total_bytes = image_bytes + build_cache_bytes + datastore_bytes + backup_bytes + repo_bytes + log_bytes;
      return { ...row, log_bytes, total_bytes };
    }),
  );
  return { projects: projects.sort((a, b) => b.total_bytes - a.total_bytes) };
};

/** 0 for a folder that is not there; files may go while they are counted. */
const folderBytes = async (folder: string): Promise<number> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) =>
        stat(join(entry.parentPath, entry.name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
};
