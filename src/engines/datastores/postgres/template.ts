import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { notFound } from '#kernel/errors';
import type { Runtime } from '#engines/runtime/port';
import { TRAILER_BYTES, without } from './archive.ts';
import { writeDurably } from './durable.ts';
import { imageOf, PGDATA, type Server } from './server.ts';
import { initdbArguments, removeMakers, withNewCluster, withSettledCluster } from './template-maker.ts';

/** Changes whenever what a template holds does, so that older ones are made anew. */
const RECIPE = 2;
const PASSWORD_BYTES = 24;

/**
 * Prepared data directories: what initdb makes, with the roles and the database of apps, so that a new datastore has neither
 * to make nor to wait for them. One for each image, in a directory that only berth reads.
 */
export interface Templates {
  /**
   * Path of the one for this server's image, made when it is missing: a tar that lacks its end, so that more can be appended;
   * the names of its entries begin with that of the data directory. The server itself must not run yet.
   */
  of(server: Server): Promise<string>;
  /** Of the superuser in every template. It is this installation's alone, and `settle` replaces it at once. */
  password(): Promise<string>;
}

export interface TemplatesDeps {
  runtime: Runtime;
  dir: string;
  /** What the names of the files begin with: `postgres`. */
  kind: string;
  /** Makes what a template holds in a server that was just initialised; its superuser has `password`. */
  settle(server: Server, password: string): Promise<void>;
}

export const createTemplates = ({ runtime, dir, kind, settle }: TemplatesDeps): Templates => {
  const making = new Map<string, Promise<void>>();
  let known: Promise<string> | undefined;
  const password = async (): Promise<string> => {
    known ??= installationPassword(dir, `${kind}-password`);
    try {
      return await known;
    } catch (thrown) {
      known = undefined;
      throw thrown;
    }
  };

  const make = async (server: Server, file: string): Promise<void> => {
    const secret = await password();
    await withNewCluster(runtime, { server, password: secret }, (fresh) =>
      withSettledCluster(runtime, { server, tar: fresh, settle: () => settle(server, secret) }, (tar) =>
        store(tar, file),
      ),
    );
  };

  const ensure = async (server: Server, { prefix, file }: { prefix: string; file: string }): Promise<void> => {
    if ((await readdir(dir)).includes(file)) return;
    await make(server, join(dir, file));
    await removeOthers(dir, prefix, file);
  };

  return {
    password,
    of: async (server) => {
      await removeMakers(runtime, server);
      const prefix = `${kind}-${server.major}-`;
      const file = `${prefix}${await digestOf(runtime, server, await password())}.tar`;
      // The second of two that need the same one waits for the first, and makes it itself should that one fail.
      for (let first = making.get(file); first !== undefined; first = making.get(file))
        await first.catch(() => undefined);
      const work = ensure(server, { prefix, file }).finally(() => making.delete(file));
      making.set(file, work);
      await work;
      return join(dir, file);
    },
  };
};

/** Kept in a file that is made once. A template that was made with another password has another name. */
const installationPassword = async (dir: string, name: string): Promise<string> => {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = join(dir, name);
  if ((await readdir(dir)).includes(name)) return await readFile(file, 'utf8');
  const made = randomBytes(PASSWORD_BYTES).toString('base64url');
  await writeDurably(file, (handle) => handle.writeFile(made));
  return made;
};

const digestOf = async (runtime: Runtime, { major }: Server, password: string): Promise<string> => {
  const image = await runtime.inspectImage(imageOf(major));
  if (image === undefined) throw notFound(`no image ${imageOf(major)}`, 'pull it: see berth doctor');
  return createHash('sha256')
    .update(JSON.stringify([RECIPE, image.id, initdbArguments('', ''), password]))
    .digest('hex')
    .slice(0, 24);
};

/** Written by every server that starts, about itself. */
const LEFT_OUT = new Set([`${PGDATA}/postmaster.opts`, `${PGDATA}/postmaster.pid`]);

const store = (tar: Readable, file: string): Promise<void> =>
  writeDurably(file, async (handle) => {
    let bytes = 0;
    for await (const chunk of without(LEFT_OUT, tar)) {
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
