import { BerthError, conflict, messageOf, notFound } from '#kernel/errors';
import { release } from '#kernel/release';
import { requireBackupName, shown } from './names.ts';
import type { BackupListing, BackupManifest, BackupName, Backups, Bytes, ListedBackup, OpenRequest } from './port.ts';
import type { Vault } from './vault.ts';

export interface BackupsOptions {
  /** Backups are written here first. */
  disk: Vault;
  /** `copyToRemote` copies them there, and what the disk has lost is read from there. */
  remote?: Vault | undefined;
  recipient: string | null;
}

/** The port over one place or two. */
export const createBackups = ({ disk, remote, recipient }: BackupsOptions): Backups => {
  const vaults = remote === undefined ? [disk] : [disk, remote];

  const open = async (name: BackupName, request: OpenRequest): Promise<Bytes> => {
    const errors: unknown[] = [];
    for (const vault of vaults) {
      if (request.from !== undefined && request.from !== vault.kind) continue;
      try {
        return await vault.open(name, request);
      } catch (thrown) {
        errors.push(thrown);
      }
    }
    throw worst(errors) ?? conflict(`backups are not kept in "${request.from}"`, 'leave the place out');
  };

  /** A place that does not answer matters only when no other has the backup. */
  const find = async (name: BackupName): Promise<ListedBackup | undefined> => {
    const found = new Merge();
    const errors: unknown[] = [];
    for (const vault of vaults) {
      try {
        const manifest = await vault.find(name);
        if (manifest !== undefined) found.add(manifest, vault);
      } catch (thrown) {
        errors.push(thrown);
      }
    }
    const [backup] = found.backups();
    if (backup === undefined && errors.length > 0) throw worst(errors);
    return backup;
  };

  return {
    places: vaults.map((vault) => vault.kind),
    recipient,
    put: disk.put,
    open,
    check: async (name, request) => {
      for await (const chunk of await open(name, request)) release(chunk);
    },
    confirm: async (name, verification) => {
      let confirmed: BackupManifest | undefined;
      const errors: unknown[] = [];
      for (const vault of vaults) {
        try {
          if ((await vault.find(name)) !== undefined) confirmed = await vault.confirm(name, verification);
        } catch (thrown) {
          errors.push(thrown);
        }
      }
      // A place that does not answer matters only when no other has the backup.
      if (confirmed !== undefined) return confirmed;
      throw worst(errors) ?? notFound(`there is no ${shown(name)}`, 'list the backups of the datastore');
    },
    copyToRemote: async (given, signal) => {
      const name = requireBackupName(given);
      if (remote !== undefined) await copy(name, { from: disk, to: remote, signal });
    },
    list: async (filter = {}) => {
      const merged = new Merge();
      for (const vault of vaults) await merged.addAll(vault, filter);
      return { backups: merged.backups(), unreadable: merged.unreadable };
    },
    find,
    remove: async (name, from) => {
      for (const vault of vaults) if (from === undefined || from === vault.kind) await vault.remove(name);
    },
    removeParts: async () => {
      let removed = 0;
      for (const vault of vaults) removed += await vault.removeParts();
      return removed;
    },
    usedBytes: disk.usedBytes,
  };
};

const copy = async (
  name: BackupName,
  { from, to, signal }: { from: Vault; to: Vault; signal: AbortSignal },
): Promise<void> => {
  const manifest = await from.find(name);
  if (manifest === undefined) throw notFound(`there is no ${shown(name)} to copy`, 'list the backups of the datastore');
  const there = await to.find(name);
  if (there?.sha256 === manifest.sha256) return;
  if (there !== undefined)
    throw conflict(`another ${shown(name)} is kept in ${to.kind} already`, 'remove it there, or use another prefix');
  await to.adopt(manifest, from.stored(manifest, signal), signal);
};

/** A backup that is damaged in one place and missing in the other is damaged. */
const worst = (errors: readonly unknown[]): unknown =>
  errors.find((thrown) => !(thrown instanceof BerthError && thrown.kind === 'NOT_FOUND')) ?? errors[0];

/** What several places list, by backup. */
class Merge {
  readonly unreadable: BackupListing['unreadable'] = [];
  readonly #backups = new Map<string, ListedBackup>();

  add(manifest: BackupManifest, vault: Vault): void {
    const id = `${manifest.project}/${manifest.datastore}/${manifest.key}`;
    const known = this.#backups.get(id);
    if (known === undefined) this.#backups.set(id, { manifest, places: [vault.kind] });
    else if (known.manifest.sha256 === manifest.sha256) known.places.push(vault.kind);
    else
      this.unreadable.push({ place: vault.kind, file: `${id}.json`, reason: 'another backup has this name elsewhere' });
  }

  /** A place that does not answer does not hide what the others have. */
  async addAll(vault: Vault, filter: { project?: string; datastore?: string }): Promise<void> {
    try {
      const { manifests, unreadable } = await vault.list(filter);
      for (const manifest of manifests) this.add(manifest, vault);
      this.unreadable.push(...unreadable);
    } catch (thrown) {
      if (thrown instanceof BerthError && thrown.kind === 'INVALID_INPUT') throw thrown;
      this.unreadable.push({ place: vault.kind, file: '', reason: messageOf(thrown) });
    }
  }

  backups(): ListedBackup[] {
    const order = ({ manifest }: ListedBackup): string => `${manifest.created_at} ${manifest.key}`;
    return [...this.#backups.values()].sort((a, b) => (order(a) < order(b) ? -1 : 1));
  }
}
