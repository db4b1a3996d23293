import type { Client } from 'pg';
import type { DatastoreInstance } from '#engines/datastores/port';
import { connect, disconnect } from '#engines/datastores/postgres/connect';
import { CREDENTIAL, openCoreRig } from './core-rig.ts';

/** A real Postgres as berth makes it, for consoles and tunnels. */
export interface ConsoleServer {
  instance: DatastoreInstance;
  containerId: string;
  /** As the superuser, in the database of apps. */
  admin: Client;
  /** As an app, with its credential. */
  app(): Promise<Client>;
  remove(): Promise<void>;
}

export const startConsoleServer = async (): Promise<ConsoleServer> => {
  const rig = await openCoreRig();
  try {
    const instance = await rig.instance('main', { memoryMb: 1024 });
    const containerId = await rig.up(instance);
    const admin = await connect(instance, { as: 'admin', database: 'app', statementMs: 0 });
    await admin.query('SET search_path = public');
    return {
      instance,
      containerId,
      admin,
      app: () => connect(instance, { as: CREDENTIAL, statementMs: 0 }),
      remove: async () => {
        await disconnect(admin);
        await rig.close();
      },
    };
  } catch (thrown) {
    await rig.close();
    throw thrown;
  }
};
