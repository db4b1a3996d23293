import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { BerthError, conflict } from '#kernel/errors';
import type { Log } from '#kernel/log';

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Seals values with AES-256-GCM: `iv ‖ tag ‖ ciphertext`. `label` is authenticated, so a value can't be moved elsewhere. */
export interface Vault {
  seal(label: string, value: string): Uint8Array;
  open(label: string, sealed: Uint8Array): string;
}

export interface VaultDeps {
  dataDir: string;
  /** Whether sealed values exist: then a missing key is an error, not a first start. */
  hasValues: () => boolean;
  log: Log;
}

/** Reads `<dataDir>/secret.key`, or makes it (0600) when nothing has been sealed yet. */
export const openVault = (deps: VaultDeps): Vault => createVault(readKey(deps));

export const createVault = (key: Uint8Array): Vault => ({
  seal: (label, value) => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, iv);
    cipher.setAAD(Buffer.from(label));
    const body = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), body]);
  },
  open: (label, sealed) => {
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES));
      decipher.setAAD(Buffer.from(label));
      decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const body = sealed.subarray(IV_BYTES + TAG_BYTES);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8');
    } catch (error) {
      throw new BerthError('INTERNAL_ERROR', 'a stored secret cannot be decrypted', {
        hint: 'put back the secret.key that belongs to this state, or set the variable (make the datastore) again',
        cause: error,
      });
    }
  },
});

const readKey = ({ dataDir, hasValues, log }: VaultDeps): Uint8Array => {
  const path = join(dataDir, 'secret.key');
  const found = readIfThere(path);
  if (found === undefined) {
    if (hasValues()) {
      throw conflict(
        `the key file ${path} is missing, but secrets sealed with it exist`,
        'put the file back from your backup (berth state restore brings it); without it the values cannot be read',
      );
    }
    return makeKey(path);
  }
  const key = Buffer.from(found.trim(), 'hex');
  if (key.length !== KEY_BYTES) {
    throw conflict(
      `the key file ${path} is damaged: it must hold ${KEY_BYTES * 2} hex digits`,
      'put it back from your backup',
    );
  }
  if ((statSync(path).mode & 0o077) !== 0) {
    log.warn('the key file was readable by others; its mode is now 0600', { path });
    chmodSync(path, 0o600);
  }
  return key;
};

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};

/** The whole key appears at once, on disk: a crash leaves either no key or a good one. */
const makeKey = (path: string): Uint8Array => {
  const key = randomBytes(KEY_BYTES);
  const draft = `${path}.${process.pid}`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, `${key.toString('hex')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  linkSync(draft, path);
  rmSync(draft);
  syncFolder(dirname(path));
  return key;
};

/** Values sealed from now on are worthless if a power cut takes the key's directory entry away. */
const syncFolder = (path: string): void => {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
};
