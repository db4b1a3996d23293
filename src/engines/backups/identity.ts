import { constants } from 'node:fs';
import { type FileHandle, link, open, rm } from 'node:fs/promises';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { BerthError, invalidInput, messageOf } from '#kernel/errors';
import type { Bytes } from './port.ts';
import { fromStream, toStream } from './streams.ts';

/** The keys of backups: files in the format of age (https://age-encryption.org/v1), so that `age -d -i FILE` opens them. */
export interface BackupKeys {
  /** Public half of the first identity, `age1…`: what new backups are encrypted for. */
  readonly recipient: string;
  /** Of all identities, the first included. */
  readonly recipients: readonly string[];
  encrypt(bytes: Bytes): Promise<Bytes>;
  /** Rejects before the first byte when no identity fits. Every byte that it hands out is authentic. */
  decrypt(bytes: Bytes): Promise<Bytes>;
}

/** Readable or writable by more than the owner and a group that may read. */
const TOO_OPEN = 0o027;
const MAX_FILE_BYTES = 64 * 1024;

/**
 * Reads the identities of a key file, as `age-keygen` writes it; makes it (0600, one identity) when there is none. Of several
 * identities the first encrypts and all decrypt, so that a key is replaced by putting a new one above it.
 */
export const loadOrCreateIdentity = async (path: string): Promise<BackupKeys> => {
  const found = await loadIdentity(path);
  if (found !== undefined) return found;
  await create(path);
  const made = await loadIdentity(path);
  if (made === undefined) throw invalidInput(`${path} was removed while it was made`, 'start berth again');
  return made;
};

/** As `loadOrCreateIdentity`, but undefined when there is no such file. */
export const loadIdentity = async (path: string): Promise<BackupKeys | undefined> => {
  const text = await readKeyFile(path);
  return text === undefined ? undefined : createKeys(identitiesOf(path, text));
};

export const createKeys = async (identities: readonly string[]): Promise<BackupKeys> => {
  const recipients = await Promise.all(identities.map(recipientOf));
  const [recipient] = recipients;
  if (recipient === undefined) throw invalidInput('there is no identity to encrypt for', 'make one with: age-keygen');
  return {
    recipient,
    recipients,
    encrypt: async (bytes) => {
      const encrypter = new Encrypter();
      encrypter.addRecipient(recipient);
      const source = remember(bytes);
      return closing(fromStream(await encrypter.encrypt(toStream(source.bytes))), source);
    },
    decrypt: async (bytes) => {
      const decrypter = new Decrypter();
      for (const identity of identities) decrypter.addIdentity(identity);
      const source = remember(bytes);
      return closing(authentic(await opened(decrypter, source), source), source);
    },
  };
};

/** The message of the library quotes what it could not read: the key. */
const recipientOf = async (identity: string, index: number): Promise<string> => {
  try {
    return await identityToRecipient(identity);
  } catch {
    throw invalidInput(
      `identity ${index + 1} of the key file is not valid: its checksum does not fit`,
      'put back a copy of it that is whole',
    );
  }
};

interface Source {
  bytes: AsyncGenerator<Uint8Array>;
  /** What reading it has thrown: that is not a matter of keys. */
  failure: { thrown: unknown } | undefined;
}

const remember = (given: Bytes): Source => {
  const read = async function* (): AsyncGenerator<Uint8Array> {
    try {
      yield* given;
    } catch (thrown) {
      source.failure = { thrown };
      throw thrown;
    }
  };
  const source: Source = { bytes: read(), failure: undefined };
  return source;
};

const opened = async (decrypter: Decrypter, source: Source): Promise<ReadableStream<Uint8Array>> => {
  try {
    return await decrypter.decrypt(toStream(source.bytes));
  } catch (thrown) {
    await source.bytes.return(undefined);
    if (source.failure !== undefined) throw source.failure.thrown;
    throw messageOf(thrown).includes('no identity matched') ? noKey(thrown) : damaged(thrown);
  }
};

/** The library does not give its source up in every case of failure. */
async function* closing(bytes: Bytes, source: Source): Bytes {
  try {
    yield* bytes;
  } finally {
    await source.bytes.return(undefined);
  }
}

async function* authentic(stream: ReadableStream<Uint8Array>, source: Source): Bytes {
  try {
    yield* fromStream(stream);
  } catch (thrown) {
    throw source.failure === undefined ? damaged(thrown) : source.failure.thrown;
  }
}

const noKey = (cause: unknown): BerthError =>
  new BerthError('CONFLICT', 'none of the identities in backup_key_file opens this backup', {
    hint: 'add the identity that it was encrypted for as a further line of backup_key_file, then restart berth',
    cause,
  });

const damaged = (cause: unknown): BerthError =>
  new BerthError('CONFLICT', `the backup cannot be decrypted: ${messageOf(cause)}`, {
    hint: 'it was damaged, cut off or exchanged; use another backup',
    cause,
  });

const identitiesOf = (path: string, text: string): string[] => {
  const lines = text.split('\n').map((line) => line.trim());
  const identities = lines.filter((line) => line !== '' && !line.startsWith('#'));
  // Which line is wrong may be told, what is in it may not.
  const wrong = identities.findIndex((line) => !/^AGE-SECRET-KEY-(PQ-)?1[0-9A-Z]+$/.test(line));
  if (wrong !== -1)
    throw invalidInput(
      `identity ${wrong + 1} of the key file ${path} is not an age identity`,
      'each line must be a comment or begin with AGE-SECRET-KEY-1, as age-keygen writes it',
    );
  if (identities.length === 0)
    throw invalidInput(`the key file ${path} holds no identity`, 'write one into it with: age-keygen');
  return identities;
};

const readKeyFile = async (path: string): Promise<string | undefined> => {
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    throw thrown;
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile() || stat.size > MAX_FILE_BYTES)
      throw invalidInput(`${path} is not a key file`, 'set backup_key_file to a file that age-keygen has written');
    if ((stat.mode & TOO_OPEN) !== 0)
      throw invalidInput(`the key file ${path} can be read by others`, `run: chmod 600 ${path}`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
};

/** Linked into place when whole: neither a crash nor another process leaves half a key, and none is replaced. */
const create = async (path: string): Promise<void> => {
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const part = `${path}.${crypto.randomUUID()}.part`;
  const handle = await open(part, 'wx', 0o600);
  try {
    await handle.writeFile(
      `# Opens the backups of berth. Keep a copy elsewhere.\n# public key: ${recipient}\n${identity}\n`,
    );
    await handle.sync();
    await link(part, path);
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  } finally {
    await handle.close();
    await rm(part, { force: true });
  }
};
