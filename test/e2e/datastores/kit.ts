import { Database } from 'bun:sqlite';
import { expect } from 'bun:test';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '#kernel/log';
import { createDatastoreStore, type Backup, type DatastoreDetail, type DatastoreRow } from '#modules/datastores';
import { openVault } from '#modules/env';
import type { Operation } from '#modules/operations';
import { type Berth, packDirectory } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';

const FIXTURES = join(import.meta.dir, '../../fixtures/datastores');

/** An app of `test/fixtures/datastores`, packed as a client does it. */
export const packFixture = async (name: string): Promise<Uint8Array> => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-fixture-'));
  try {
    cpSync(join(FIXTURES, name), dir, { recursive: true });
    return await packDirectory(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

/** The app that does what a test asks of it, with its drivers in one file. `extra` are further files. */
export const probeApp = async (extra: Record<string, string> = {}): Promise<Record<string, string>> => {
  const built = await Bun.build({
    entrypoints: [join(FIXTURES, 'probe/server.js')],
    target: 'node',
    external: ['pg-native', 'pg-cloudflare'],
  });
  const [bundle] = built.outputs;
  if (bundle === undefined) throw new Error('the app has no code');
  return {
    Dockerfile: 'FROM node:24-slim\nWORKDIR /app\nCOPY . .\nUSER node\nCMD ["node", "server.mjs"]\n',
    'server.mjs': await bundle.text(),
    ...extra,
  };
};

export interface NewDatastore {
  kind: 'postgres' | 'redis' | 'mongo';
  name?: string;
  memory_mb?: number;
  storage_limit_mb?: number;
}

/** Makes a datastore, and waits until it is ready. */
export const createDatastore = async (berth: Berth, project: string, body: NewDatastore): Promise<Operation> => {
  const reply = await berth.api(`/v1/projects/${project}/datastores`, { method: 'POST', body });
  expect(reply).toMatchObject({ status: 202, body: { created: true, status: 'provisioning' } });
  const operation = await berth.wait(reply.body.operation_id, 120);
  expect(operation).toMatchObject({ status: 'succeeded', phase: 'ready', error: null });
  return operation;
};

/** One datastore, by the API. */
export class Store {
  readonly berth: Berth;
  readonly path: string;

  constructor(berth: Berth, project: string, name: string) {
    this.berth = berth;
    this.path = `/v1/projects/${project}/datastores/${name}`;
  }

  async show(): Promise<DatastoreDetail> {
    return (await this.berth.api(this.path)).body;
  }

  /** Begins a change; resolves with the id of its operation. */
  async begin(verb: string, body: unknown = {}): Promise<string> {
    const reply = await this.berth.api(`${this.path}/${verb}`, {
      method: 'POST',
      ...(Object.keys(body as object).length === 0 ? {} : { body }),
    });
    expect(reply).toMatchObject({ status: 202 });
    return reply.body.operation_id;
  }

  /** Makes a change, and waits for its end. */
  async change(verb: string, body: unknown = {}): Promise<Operation> {
    return this.berth.wait(await this.begin(verb, body), 240);
  }

  async query(query: string, params: unknown[] = []): Promise<unknown[][]> {
    const reply = await this.berth.api(`${this.path}/query`, { method: 'POST', body: { query, params } });
    if (reply.status !== 200) throw new Error(`query: ${JSON.stringify(reply.body)}`);
    return reply.body.rows;
  }

  /** Makes a backup that is verified. */
  async backup(): Promise<Backup> {
    const operation = await this.change('backups');
    expect(operation).toMatchObject({ status: 'succeeded', phase: 'ready', error: null });
    return this.backupOf(String(operation.result?.['key']));
  }

  async backupOf(key: string): Promise<Backup> {
    return (await this.berth.api(`${this.path}/backups/${key}`)).body;
  }

  async backups(): Promise<Backup[]> {
    return (await this.berth.api(`${this.path}/backups`)).body.backups;
  }

  async remove(query = ''): Promise<Operation> {
    const reply = await this.berth.api(`${this.path}?confirm=true${query}`, { method: 'DELETE' });
    expect(reply).toMatchObject({ status: 202 });
    return this.berth.wait(reply.body.operation_id, 120);
  }
}

/** What an app of a service does: a request to one of its routes. */
export const ask = async (berth: Berth, project: string, service: string, [path, body]: [string, unknown?]) => {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const response = await berth.app(project, service, path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${service}${path}: ${response.status} ${text}`);
  return JSON.parse(text) as unknown;
};

/** Rows of a statement of an app. */
export const appSql = async (
  berth: Berth,
  [project, service]: [string, string],
  query: string,
  params: unknown[] = [],
): Promise<unknown[][]> => (await ask(berth, project, service, ['/sql', { query, params }])) as unknown[][];

/** A datastore as the state has it, with its secrets. */
export const rowOf = (berth: Berth, project: string, name: string): DatastoreRow => {
  const log = createLog('error', () => undefined, Date.now);
  const db = new Database(join(berth.dataDir, 'berth.db'), { readonly: true });
  try {
    const vault = openVault({ dataDir: berth.dataDir, hasValues: () => true, log });
    const row = createDatastoreStore(db, vault).get(project, name);
    if (row === undefined) throw new Error(`the state has no datastore ${name}`);
    return row;
  } finally {
    db.close();
  }
};

/** Changes the state of a berth that is stopped. */
export const editState = (berth: Berth, sql: string, ...values: (string | number)[]): void => {
  const db = new Database(join(berth.dataDir, 'berth.db'));
  try {
    db.run(sql, values);
  } finally {
    db.close();
  }
};

export type DatastoreRole = 'datastore' | 'datastore-scratch' | 'datastore-job';

/** Ids of the containers of a role, dead ones too. */
export const containersOf = async (berth: Berth, role: DatastoreRole, more: string[] = []): Promise<string[]> => {
  const labels = [`dev.berth.instance=${berth.instance()}`, `dev.berth.role=${role}`, ...more];
  const out = await docker(['ps', '-aq', '--no-trunc', ...labels.flatMap((label) => ['--filter', `label=${label}`])]);
  return out.split('\n').filter(Boolean);
};

export const volumesOf = async (berth: Berth): Promise<string[]> => {
  const out = await docker(['volume', 'ls', '-q', '--filter', `label=dev.berth.instance=${berth.instance()}`]);
  return out.split('\n').filter(Boolean);
};

/** The container of a datastore's part that apps connect to. */
export const mainContainer = async (berth: Berth, { id }: Pick<DatastoreRow, 'id'>): Promise<string> => {
  const labels = [`dev.berth.datastore-id=${id}`, 'dev.berth.datastore-unit=main'];
  const [container] = await containersOf(berth, 'datastore', labels);
  if (container === undefined) throw new Error(`datastore ${id} has no container`);
  return container;
};

/** As a crash of the server in a container: the engine does not know that it was on purpose. */
export const killInside = async (container: string): Promise<void> => {
  const pid = (await docker(['inspect', '--format', '{{.State.Pid}}', container])).trim();
  process.kill(Number(pid), 'SIGKILL');
};

/** Files of backups, relative to their folder. */
export const backupFiles = (berth: Berth): string[] => {
  const root = join(berth.dataDir, 'backups');
  try {
    return readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
      .sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
};

/** The stored file of a backup. */
export const storedFile = (berth: Berth, key: string): string => {
  const found = backupFiles(berth).find((path) => path.includes(key) && !path.endsWith('.json'));
  if (found === undefined) throw new Error(`backup ${key} has no file`);
  return join(berth.dataDir, 'backups', found);
};

/** What an interrupted operation could have left: nothing of it may be there. */
export const leftovers = async (berth: Berth): Promise<string[]> => {
  const volumes = (await volumesOf(berth)).filter((name) => name.includes('scratch'));
  const parts = readdirSync(berth.dataDir, { recursive: true })
    .map(String)
    .filter((path) => path.endsWith('.part'));
  return [
    ...(await containersOf(berth, 'datastore-scratch')),
    ...(await containersOf(berth, 'datastore-job')),
    ...volumes,
    ...parts,
  ];
};
