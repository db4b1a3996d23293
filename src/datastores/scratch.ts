import type { DatastoreEngine, DatastoreInstance, DatastoreKind, Scratch, TlsFiles } from '#engines/datastores/port';
import type { Log } from '#kernel/log';
import { createDatastoreContainers, type DatastoreContainersDeps, type RaisedBy } from './containers.ts';

export interface ScratchDeps extends Omit<DatastoreContainersDeps, 'role'> {
  /** Looked up at each start, because engines are made with the scratch. */
  engineOf: (kind: DatastoreKind) => RaisedBy & Pick<DatastoreEngine, 'roles'>;
  /** Addresses in the network of an instance, while it lasts. */
  addresses: { reserve(instance: DatastoreInstance): string; release(instance: DatastoreInstance, ip: string): void };
  issue: (names: { host: string; address: string }) => Promise<TlsFiles>;
  /** Lower-case letters and digits, at least 10, never the same twice. */
  newName: () => string;
  newPassword: () => string;
  log: Log;
}

/** A rehearsal is worth no more memory than this. */
const MOST_MEMORY_MB = 1024;

/** Instances for a while: like another one, but with an id, an address, a certificate and passwords that nobody else knows. */
export const createScratch = (deps: ScratchDeps): Scratch => {
  const containers = createDatastoreContainers({ ...deps, role: 'datastore-scratch' });

  const takeAddresses = (like: DatastoreInstance, roles: readonly string[]): Record<string, string> => {
    const taken: Record<string, string> = {};
    try {
      for (const role of roles) taken[role] = deps.addresses.reserve(like);
      return taken;
    } catch (error) {
      for (const ip of Object.values(taken)) deps.addresses.release(like, ip);
      throw error;
    }
  };

  return {
    start: async (like, signal) => {
      signal.throwIfAborted();
      const engine = deps.engineOf(like.kind);
      const addresses = takeAddresses(like, engine.roles());
      const base = scratchOf(like, { addresses, name: deps.newName(), newPassword: deps.newPassword });
      let removal: Promise<void> | undefined;
      const remove = async (): Promise<void> => {
        try {
          await containers.lower(base, { data: true });
          for (const ip of Object.values(addresses)) deps.addresses.release(like, ip);
        } catch (error) {
          // Its addresses stay taken, as they are; the next start of berth clears what is left.
          deps.log.error('could not remove a scratch instance', error, { datastore: base.id });
        }
      };
      const once = (): Promise<void> => (removal ??= remove());
      try {
        const tls = await deps.issue({ host: base.host, address: addresses.main ?? '' });
        const instance = { ...base, tls };
        await containers.raise(instance, engine, { signal, anew: false });
        return { instance, remove: once };
      } catch (error) {
        await once();
        throw error;
      }
    },
  };
};

/** Pure. */
const scratchOf = (
  like: DatastoreInstance,
  { addresses, name, newPassword }: { addresses: Record<string, string>; name: string; newPassword: () => string },
): DatastoreInstance => ({
  ...like,
  id: `${like.id}-scratch-${name}`,
  // No name that an app would look for.
  host: `${name}.scratch.internal`,
  addresses,
  memoryMb: Math.min(like.memoryMb, MOST_MEMORY_MB),
  storageLimitMb: null,
  adminPassword: newPassword(),
  readerPassword: newPassword(),
  writerPassword: newPassword(),
  credentials: [{ user: `scratch_${name}`, password: newPassword() }],
});
