import type { Clock } from '#kernel/clock';
import { invalidInput } from '#kernel/errors';
import type { Log } from '#kernel/log';
import type { Labels, Runtime } from '#engines/runtime/port';
import type { DatastoreEngine, DatastoreInstance } from '../port.ts';
import { type Connect, POSTGRES_PORT } from './connect.ts';
import { connectionOf } from './connection.ts';
import { datastoreRules } from './hba.ts';
import { placeServer } from './place.ts';
import { imageOf, type Server, serverContainer } from './server.ts';
import { createKeeper, type Keeper } from './keeper.ts';
import { settleServer } from './settle.ts';
import { createTemplates } from './template.ts';
import { createUpkeep } from './upkeep.ts';

export interface PostgresCoreDeps {
  runtime: Runtime;
  clock: Clock;
  log: Log;
  connect: Connect;
  /** Directory of berth's own for prepared data directories. */
  templateDir: string;
  /** Of containers that make those. */
  templateLabels: Labels;
}

export type PostgresCore = Omit<
  DatastoreEngine,
  'browse' | 'query' | 'relay' | 'dump' | 'rehearse' | 'load' | 'loadBeside' | 'swap' | 'listBeside' | 'dropBeside'
> & { keeper: Keeper };

const UNIT = 'main';
const VERSIONS = ['17', '18', '16'] as const;

/** A Postgres in a container: what it is made of, how it comes up, and what keeps it in order. */
export const createPostgresCore = (deps: PostgresCoreDeps): PostgresCore => {
  const upkeep = createUpkeep(deps);
  const templates = createTemplates({ ...deps, dir: deps.templateDir, labels: deps.templateLabels });
  const keeper = createKeeper({ ...deps, templates, versions: VERSIONS });

  // Those whose superuser has the password of the template: a hint, which saves a refused login.
  const unpacked = new Set<string>();

  return {
    kind: 'postgres',
    versions: VERSIONS,
    restorable: true,
    defaultMemoryMb: 512,
    minMemoryMb: 256,
    port: POSTGRES_PORT,
    images: (version) => [imageOf(supported(version))],
    roles: () => [UNIT],
    units: (instance) => [{ role: UNIT, container: serverContainer(serverOf(instance)) }],
    connection: connectionOf,
    place: async (instance, { containerId, fresh }) => {
      const server = serverOf(instance);
      const { what, placing } = await placeServer({ ...deps, templates }, { server, containerId, fresh });
      if (what === 'template') unpacked.add(instance.id);
      if (what === 'new') keeper.hurry();
      return placing;
    },
    settle: async (instance, signal) => {
      const passwords = [instance.adminPassword, await templates.password()];
      if (unpacked.has(instance.id)) passwords.reverse();
      await settleServer(deps, { server: serverOf(instance), passwords, signal });
      unpacked.delete(instance.id);
    },
    ...upkeep,
    keeper,
  };
};

const serverOf = (instance: DatastoreInstance): Server => ({
  instance,
  unit: UNIT,
  major: supported(instance.version),
  memoryMb: instance.memoryMb,
  cpus: instance.cpus,
  aliases: [instance.host],
  hba: datastoreRules(instance.gateway),
});

const supported = (version: string): string => {
  if (VERSIONS.some((known) => known === version)) return version;
  throw invalidInput(`there is no version ${version} of postgres here`, `choose one of ${VERSIONS.join(', ')}`);
};
