import { posix } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { extract, pack } from 'tar-stream';
import { conflict, notFound } from '#kernel/errors';
import { carries } from '#engines/runtime/labels';
import type { Labels, Runtime } from '#engines/runtime/port';
import type { FakeContainer, FakeEngine, FakeFile } from './runtime-engine.ts';

interface Access {
  installation: Labels;
  enter: (method: keyof Runtime) => void;
  must: (id: string) => FakeContainer;
}

/** Directories that every image has. */
const DIRECTORIES = new Set(['/', '/etc', '/tmp', '/var']);

type StreamView = Pick<Runtime, 'attach' | 'wait' | 'putArchive' | 'getArchive' | 'listVolumes' | 'removeVolume'>;

/** Streams, files and volumes of the engine in memory. */
export const streamView = (engine: FakeEngine, { installation, enter, must }: Access): StreamView => ({
  attach: async (id) => {
    enter('attach');
    const { output } = must(id);
    const closed = new AbortController();
    return {
      output: output.read({ follow: true, from: 0, signal: closed.signal }),
      close: () => closed.abort(),
    };
  },
  wait: async (id) => {
    enter('wait');
    const found = must(id);
    for await (const event of engine.events.read({ follow: found.state.status === 'running', from: 0 })) {
      if (event.containerId === id && event.action === 'die') return event.exitCode ?? 0;
    }
    return found.state.exitCode ?? 0;
  },
  putArchive: async (id, path, tar) => {
    enter('putArchive');
    const found = must(id);
    assertDirectory(engine, found, path);
    for (const file of await unpack(tar)) {
      const at = posix.join(path, file.path);
      engine.filesAt(found, at).set(at, { ...file, path: at });
    }
  },
  getArchive: async (id, path) => {
    enter('getArchive');
    const found = must(id);
    const inside = [...engine.filesAt(found, path).values()].filter(
      (file) => file.path === path || file.path.startsWith(`${path}/`),
    );
    if (inside.length === 0) throw notFound(`Could not find the file ${path} in container ${id}`, 'check the path');
    const tar = pack();
    for (const { path: at, content, uid, gid, mode } of inside) {
      const name = posix.join(posix.basename(path), posix.relative(path, at));
      if (content === null) tar.entry({ name, uid, gid, mode, type: 'directory' });
      else tar.entry({ name, uid, gid, mode }, Buffer.from(content));
    }
    tar.finalize();
    return tar.pipe(new PassThrough());
  },
  listVolumes: async (labels) => {
    enter('listVolumes');
    return [...engine.volumes]
      .filter(([, volume]) => carries(volume.labels, { ...labels, ...installation }))
      .map(([name, volume]) => ({ name, labels: volume.labels }));
  },
  removeVolume: async (name) => {
    enter('removeVolume');
    const found = engine.volumes.get(name);
    if (found === undefined) return;
    if (!carries(found.labels, installation)) throw notFound(`no volume ${name} of this installation`, 'check it');
    const users = [...engine.containers.values()].filter(({ spec }) =>
      spec.volumes.some((volume) => volume.name === name),
    );
    if (users.length > 0) throw conflict(`volume ${name} is in use by a container`, 'remove its containers', true);
    engine.volumes.delete(name);
  },
});

const assertDirectory = (engine: FakeEngine, container: FakeContainer, path: string): void => {
  const isThere =
    DIRECTORIES.has(path) ||
    container.spec.volumes.some(({ target }) => target === path) ||
    engine.filesAt(container, path).get(path)?.content === null;
  if (!isThere) throw notFound(`Could not find the file ${path} in the container`, 'check the path');
};

const unpack = async (tar: Uint8Array | AsyncIterable<Uint8Array>): Promise<FakeFile[]> => {
  const entries = extract();
  const files: FakeFile[] = [];
  const source = tar instanceof Uint8Array ? Readable.from([Buffer.from(tar)]) : Readable.from(tar);
  source.on('error', (error) => entries.destroy(error)).pipe(entries);
  for await (const entry of entries) {
    const { name, uid, gid, mode, type } = entry.header;
    const parts = await Array.fromAsync(entry as AsyncIterable<Uint8Array>);
    const path = name.replace(/\/$/, '');
    files.push({ path, content: type === 'directory' ? null : Buffer.concat(parts), uid, gid, mode });
  }
  return files;
};
