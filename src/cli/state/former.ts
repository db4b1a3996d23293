import { Database, SQLiteError } from 'bun:sqlite';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { localError } from '../failure.ts';
import { count } from '../output/format.ts';
import type { DockerCall } from './containers.ts';

/** The label of whatever an installation made in Docker: `LABEL.instance` of the deploys. */
export const LABEL_INSTANCE = 'dev.berth.instance';

/** Which installation a state is of; undefined where none can be read: a damaged database is a reason to restore. */
export const instanceOf = (folder: string): string | undefined => {
  const file = join(folder, 'berth.db');
  if (!existsSync(file)) return undefined;
  try {
    const db = new Database(file, { readwrite: true, create: false, strict: true });
    try {
      return db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'instance'").get()?.value;
    } finally {
      db.close();
    }
  } catch (thrown) {
    if (thrown instanceof SQLiteError) return undefined;
    throw thrown;
  }
};

interface Listed {
  Labels: Record<string, string> | null;
  Mounts?: { Source?: string }[];
}

/**
 * Refuses when containers or networks of another installation than `restored` belong to this data directory: its proxy has the
 * ports, and its networks the addresses, that the restored server will want.
 */
export const requireGone = async (
  docker: DockerCall,
  { dataDir, restored }: { dataDir: string; restored: string },
): Promise<void> => {
  const filters = encodeURIComponent(JSON.stringify({ label: [LABEL_INSTANCE] }));
  const containers = await listed(docker, `/containers/json?all=1&filters=${filters}`);
  const networks = await listed(docker, `/networks?filters=${filters}`);
  const mounted = containers.filter(({ Mounts }) =>
    Mounts?.some(({ Source }) => Source?.startsWith(`${dataDir}/`) === true),
  );
  const former = new Set([instanceOf(dataDir), ...mounted.map(instanceIn)]);
  for (const instance of former) {
    if (instance === undefined || instance === restored) continue;
    const [running, wired] = [containers, networks].map((all) => all.filter((each) => instanceIn(each) === instance));
    const found = [...counted(running, 'container'), ...counted(wired, 'network')].join(' and ');
    if (found === '') continue;
    const label = `label=${LABEL_INSTANCE}=${instance}`;
    throw localError(
      `the server that was here before is another one, and ${found} of it would be in the way of the restored one`,
      `remove them (volumes and images are kept), then run this again: docker ps -aq --filter ${label} | xargs -r docker rm -f; ` +
        `docker network ls -q --filter ${label} | xargs -r docker network rm`,
    );
  }
};

const listed = async (docker: DockerCall, path: string): Promise<Listed[]> => {
  const { status, body } = await docker('GET', path);
  if (status !== 200 || !Array.isArray(body)) throw new Error(`Docker answered ${status} when asked what there is`);
  return body as Listed[];
};

const instanceIn = ({ Labels }: Listed): string | undefined => Labels?.[LABEL_INSTANCE];

const counted = (found: readonly Listed[] | undefined, what: string): string[] =>
  found === undefined || found.length === 0 ? [] : [count(found.length, what)];
