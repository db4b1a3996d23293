import { mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CONTROL_PLANE, DEFAULT_CERTIFICATE } from './traefik-config-builder/index.ts';

const ROUTE_FILE = /^([a-z][a-z0-9-]*)\.([a-z][a-z0-9-]*)\.yml$/;

/** Without an ending that Traefik reads. */
const NUDGE = '.nudge';

export interface RouteFiles {
  /** Makes the directories, readable by their owner alone. */
  prepare(): Promise<void>;
  /** The text of a route's file; undefined when there is none. */
  read(name: string): Promise<string | undefined>;
  /** Replaces the file as a whole: readers see the old text or the new one, also after a power cut. */
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Makes the watcher of the directory look again. */
  announce(): Promise<void>;
  routes(): Promise<{ project: string; service: string }[]>;
  /** Names in the directory that are no route's file or whose text is damaged, split by whether they are directories. */
  strangers(): Promise<{ files: string[]; directories: string[] }>;
  removeStranger(file: string): Promise<void>;
}

/** The directory that Traefik watches. Texts are prepared beside it, since every event inside makes Traefik reload. */
export const createRouteFiles = (directory: string, scratch: string): RouteFiles => {
  const pathOf = (name: string): string => join(directory, `${name}.yml`);
  let written = 0;
  return {
    prepare: async () => {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      await mkdir(scratch, { recursive: true, mode: 0o700 });
    },
    read: async (name) => {
      try {
        return await readFile(pathOf(name), 'utf8');
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
    },
    write: async (name, text) => {
      written += 1;
      const draft = join(scratch, `${name}.${process.pid}.${written}`);
      try {
        await writeDurably(draft, text);
        await rename(draft, pathOf(name));
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      await syncDirectory(directory);
    },
    remove: async (name) => {
      await rm(pathOf(name), { force: true });
      await syncDirectory(directory);
    },
    announce: async () => {
      await writeFile(join(directory, NUDGE), '');
      await rm(join(directory, NUDGE), { force: true });
    },
    routes: async () =>
      (await readdir(directory, { withFileTypes: true })).flatMap((entry) => {
        const [, project, service] = (entry.isFile() && ROUTE_FILE.exec(entry.name)) || [];
        return project === undefined || service === undefined ? [] : [{ project, service }];
      }),
    strangers: async () => {
      const all = await readdir(directory, { withFileTypes: true });
      const others = all.filter((entry) => !isOurs(entry.name) || !entry.isFile());
      const ours = all.filter((entry) => !others.includes(entry));
      const damaged = await Promise.all(
        ours.map(async ({ name }) => !isJson(await readFile(join(directory, name), 'utf8'))),
      );
      return {
        files: [...others.filter((entry) => !entry.isDirectory()), ...ours.filter((_, index) => damaged[index])].map(
          (entry) => entry.name,
        ),
        directories: others.filter((entry) => entry.isDirectory()).map((entry) => entry.name),
      };
    },
    removeStranger: (file) => rm(join(directory, file), { force: true }),
  };
};

const OWN_FILES = new Set([CONTROL_PLANE, DEFAULT_CERTIFICATE].map((name) => `${name}.yml`));

const isOurs = (file: string): boolean => OWN_FILES.has(file) || ROUTE_FILE.test(file);

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const writeDurably = async (path: string, text: string): Promise<void> => {
  const handle = await open(path, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT';
