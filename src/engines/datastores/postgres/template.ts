import { createHash, randomBytes } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Labels, Runtime } from '#engines/runtime/port';
import { edited, TRAILER_BYTES } from './archive.ts';
import { MAKE } from './cluster.ts';
import { writeDurably } from './durable.ts';
import { CREATE_APP_DATABASE, databaseGrants, roleStatements } from './roles.ts';
import { APP_DATABASE } from './connect.ts';
import { imageOf } from './server.ts';
import { withNewCluster } from './template-maker.ts';
import { scramVerifier } from './verifier.ts';

/** Changes whenever what a template holds does, so that older ones are made anew. */
const RECIPE = 4;
const PASSWORD_BYTES = 24;
const PASSWORD_FILE = 'postgres-password';

/**
 * Prepared data directories: what initdb makes, with the roles and the database of apps, so that a new datastore has neither
 * to make nor to wait for them. One for each image, in a directory that only berth reads.
 */
export interface Templates {
  /**
   * Path of the one for the image of this version: a tar that lacks its end, so that more can be appended; the names of its
   * entries begin with that of the data directory. Undefined when there is none yet: nobody waits for one to be made.
   */
  find(major: string): Promise<string | undefined>;
  /** Makes the one for this version, unless it is there or its image is not. */
  prepare(major: string, signal: AbortSignal): Promise<void>;
  /** Of the superuser in every template. It is this installation's alone, and `settle` replaces it at once. */
  password(): Promise<string>;
}

export interface TemplatesDeps {
  runtime: Runtime;
  dir: string;
  /** Of the containers that make them. */
  labels: Labels;
}

export const createTemplates = ({ runtime, dir, labels }: TemplatesDeps): Templates => {
  let known: Promise<string> | undefined;
  const password = async (): Promise<string> => {
    known ??= installationPassword(dir);
    try {
      return await known;
    } catch (thrown) {
      known = undefined;
      throw thrown;
    }
  };

  /** Undefined without the image. */
  const nameOf = async (major: string): Promise<string | undefined> => {
    const image = await runtime.inspectImage(imageOf(major));
    if (image === undefined) return undefined;
    const recipe = JSON.stringify([RECIPE, image.id, MAKE, await password()]);
    return `${prefixOf(major)}${createHash('sha256').update(recipe).digest('hex').slice(0, 24)}.tar`;
  };

  return {
    password,
    find: async (major) => {
      const name = await nameOf(major);
      return name !== undefined && (await readdir(dir)).includes(name) ? join(dir, name) : undefined;
    },
    prepare: async (major, signal) => {
      const name = await nameOf(major);
      if (name === undefined || (await readdir(dir)).includes(name)) return;
      const secret = await password();
      const request = { major, password: secret, statements: await templateStatements(secret), labels, signal };
      // It is not to be had before its container is gone: removing that keeps the engine from making others.
      const made = join(dir, `${name}.made`);
      await withNewCluster(runtime, request, (tar) => store(tar, made));
      await rename(made, join(dir, name));
      await removeOthers(dir, prefixOf(major), name);
    },
  };
};

const prefixOf = (major: string): string => `postgres-${major}-`;

/** A template belongs to nobody: it has no credentials, and nobody knows its passwords but berth. */
const templateStatements = async (password: string): Promise<string[]> => {
  const verifier = await scramVerifier(password);
  const wanted = { admin: verifier, reader: verifier, writer: verifier, logins: new Map<string, string>() };
  return [
    ...roleStatements(wanted, { names: new Set(), logins: [] }),
    CREATE_APP_DATABASE,
    ...databaseGrants(APP_DATABASE),
  ];
};

/**
 * Kept in a file that is made once, whoever of several comes first. A template that was made with another password has
 * another name.
 */
const installationPassword = async (dir: string): Promise<string> => {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, PASSWORD_FILE);
  if ((await readdir(dir)).includes(PASSWORD_FILE)) return await readFile(file, 'utf8');
  const made = `${file}.${randomBytes(6).toString('hex')}`;
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await writeDurably(made, (handle) => handle.writeFile(password));
  try {
    await link(made, file);
    return password;
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
    return await readFile(file, 'utf8');
  } finally {
    await rm(made, { force: true });
  }
};

/**
 * Written by every server that starts, about itself; and the maps of free space and of visibility, which a server makes when it
 * needs them (as after `pg_truncate_visibility_map`): a quarter of all files, and files are what takes time.
 */
const LEFT_OUT = /\/postmaster\.(?:opts|pid)$|\/(?:base\/\d+|global)\/\d+_(?:fsm|vm)$/;
const LOG_SEGMENT = /\/pg_wal\/[0-9A-F]{24}$/;

/** As little as a server can start from: a third of it is the part of the log that was never written. */
const slim = (name: string, content: Buffer): Buffer | undefined => {
  if (LEFT_OUT.test(name)) return undefined;
  return LOG_SEGMENT.test(name) ? content.subarray(0, endOf(content)) : content;
};

/** Where the zeros begin that a file ends with. */
const endOf = (content: Buffer): number => {
  let end = content.length;
  while (end > 0 && content[end - 1] === 0) end -= 1;
  return end;
};

const store = (tar: Readable, file: string): Promise<void> =>
  writeDurably(file, async (handle) => {
    let bytes = 0;
    for await (const chunk of edited(tar, slim)) {
      await handle.appendFile(chunk);
      bytes += chunk.byteLength;
    }
    await handle.truncate(bytes - TRAILER_BYTES);
  });

const removeOthers = async (dir: string, prefix: string, file: string): Promise<void> => {
  for (const name of await readdir(dir)) {
    if (name.startsWith(prefix) && name !== file) await rm(join(dir, name), { force: true });
  }
};
