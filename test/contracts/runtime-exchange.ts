import { describe, expect, test } from 'bun:test';
import { extract, pack } from 'tar-stream';
import type { Attachment } from '#engines/runtime/port';
import { type Bench, FAILURE_CODE, kindOf, type Program } from './runtime-bench.ts';

const collect = async ({ output }: Attachment): Promise<Record<'stdout' | 'stderr', string>> => {
  const said = { stdout: '', stderr: '' };
  for await (const { stream, data } of output) said[stream] += Buffer.from(data).toString();
  return said;
};

/** What comes out of a container while it runs. */
export const attachContract = (bench: Bench): void => {
  const attach = async (program: Program): Promise<{ id: string; ends: Attachment }> => {
    const { id } = await bench.runtime.create(bench.spec(program, { keepLogs: false }));
    const ends = await bench.runtime.attach(id);
    await bench.runtime.start(id);
    return { id, ends };
  };

  describe('an attached container', () => {
    test('says all that it says on the right stream, and ends with its code', async () => {
      const { id, ends } = await attach('says');
      expect(await collect(ends)).toEqual({ stdout: 'one\ntwo\n', stderr: 'three\n' });
      expect(await bench.runtime.wait(id)).toBe(0);
      const failing = await attach('fails');
      expect(await collect(failing.ends)).toEqual({ stdout: '', stderr: '' });
      expect(await bench.runtime.wait(failing.id)).toBe(FAILURE_CODE);
    });
    test('goes on when the connection is closed', async () => {
      const { id, ends } = await attach('idle');
      ends.close();
      ends.close();
      expect(await collect(ends)).toEqual({ stdout: '', stderr: '' });
      expect((await bench.runtime.inspect(id))?.status).toBe('running');
    });
    test('ends the output when it is removed', async () => {
      const { id, ends } = await attach('idle');
      const reading = collect(ends);
      await bench.runtime.remove(id);
      expect(await reading).toEqual({ stdout: '', stderr: '' });
    });
    test('that is gone or of another installation is NOT_FOUND', async () => {
      const { id } = await attach('idle');
      expect(await kindOf(bench.runtime.attach('f'.repeat(64)))).toBe('NOT_FOUND');
      expect(await kindOf(bench.harness.stranger.attach(id))).toBe('NOT_FOUND');
      expect(await kindOf(bench.harness.stranger.wait(id))).toBe('NOT_FOUND');
    });
  });
  test('limits of a running container can be changed', async () => {
    const id = await bench.run('idle');
    await bench.runtime.updateResources(id, { memoryBytes: 96 * 1024 ** 2, cpus: 0.25 });
    expect(await bench.harness.memoryLimit(id)).toBe(96 * 1024 ** 2);
    const { stranger } = bench.harness;
    expect(await kindOf(stranger.updateResources(id, { memoryBytes: 96 * 1024 ** 2, cpus: 1 }))).toBe('NOT_FOUND');
  });
};

interface Packed {
  name: string;
  content?: string;
  uid: number;
  gid: number;
  mode: number;
}

const tarOf = async (files: Packed[]): Promise<Buffer> => {
  const tar = pack();
  for (const { content, ...header } of files) {
    if (content === undefined) tar.entry({ ...header, type: 'directory' });
    else tar.entry(header, content);
  }
  tar.finalize();
  return Buffer.concat(await Array.fromAsync(tar as AsyncIterable<Uint8Array>));
};

const filesOf = async (tar: NodeJS.ReadableStream): Promise<Packed[]> => {
  const entries = extract();
  tar.pipe(entries);
  const files: Packed[] = [];
  for await (const entry of entries) {
    const { name, uid, gid, mode, type } = entry.header;
    const content = Buffer.concat(await Array.fromAsync(entry as AsyncIterable<Uint8Array>)).toString();
    files.push({
      name: name.replace(/\/$/, ''),
      uid,
      gid,
      mode: mode & 0o7777,
      ...(type === 'file' ? { content } : {}),
    });
  }
  return files;
};

const SECRET = { name: 'conf/secret', content: 'hush', uid: 70, gid: 71, mode: 0o600 };
const FOLDER = { name: 'conf', uid: 70, gid: 71, mode: 0o700 };

/** Files put into containers, and read from them. */
export const archiveContract = (bench: Bench): void => {
  describe('files', () => {
    test('put into a container that was not started are there with owner and mode, running or not', async () => {
      const { id } = await bench.runtime.create(bench.spec('idle'));
      await bench.runtime.putArchive(id, '/etc', await tarOf([FOLDER, SECRET]));
      expect(await filesOf(await bench.runtime.getArchive(id, '/etc/conf'))).toEqual([FOLDER, SECRET]);
      await bench.runtime.start(id);
      const [file] = await filesOf(await bench.runtime.getArchive(id, '/etc/conf/secret'));
      expect(file).toEqual({ ...SECRET, name: 'secret' });
    });
    test('put into a volume outlive the container', async () => {
      const volume = { name: `${bench.harness.prefix}-data`, target: '/data', labels: bench.labels };
      const { id } = await bench.runtime.create(bench.spec('idle', { volumes: [volume] }));
      const chunks = async function* (): AsyncGenerator<Uint8Array> {
        const tar = await tarOf([FOLDER, SECRET]);
        yield tar.subarray(0, 700);
        yield tar.subarray(700);
      };
      await bench.runtime.putArchive(id, '/data', chunks());
      await bench.runtime.remove(id);
      const next = await bench.runtime.create(bench.spec('idle', { volumes: [volume] }));
      expect(await filesOf(await bench.runtime.getArchive(next.id, '/data/conf'))).toEqual([FOLDER, SECRET]);
    });
    test('that are not there, or of a container of somebody else, are NOT_FOUND', async () => {
      const { id } = await bench.runtime.create(bench.spec('idle'));
      const { stranger } = bench.harness;
      const tar = await tarOf([SECRET]);
      expect(await kindOf(bench.runtime.putArchive(id, '/none/such', tar))).toBe('NOT_FOUND');
      expect(await kindOf(bench.runtime.getArchive(id, '/none/such'))).toBe('NOT_FOUND');
      expect(await kindOf(stranger.putArchive(id, '/etc', tar))).toBe('NOT_FOUND');
      expect(await kindOf(stranger.getArchive(id, '/etc'))).toBe('NOT_FOUND');
    });
    test('whose source fails are refused with its reason', async () => {
      const { id } = await bench.runtime.create(bench.spec('idle'));
      const broken = async function* (): AsyncGenerator<Uint8Array> {
        yield (await tarOf([SECRET])).subarray(0, 512);
        throw new Error('the source broke off');
      };
      const said = await bench.runtime.putArchive(id, '/etc', broken()).catch(String);
      expect(said).toContain('the source broke off');
    });
  });
};

/** Named volumes. */
export const volumeContract = (bench: Bench): void => {
  describe('volumes', () => {
    test('come with the containers that name them, are found by labels, and go only when they are free', async () => {
      const name = `${bench.harness.prefix}-data`;
      const labels = { ...bench.labels, 'berth.kind': 'data' };
      const { id } = await bench.runtime.create(bench.spec('idle', { volumes: [{ name, target: '/data', labels }] }));
      const found = await bench.runtime.listVolumes({ 'berth.kind': 'data', ...bench.labels });
      expect(found.map((volume) => volume.name)).toEqual([name]);
      expect(found[0]?.labels).toMatchObject(labels);
      expect(await bench.runtime.listVolumes({ ...bench.labels, 'berth.kind': 'other' })).toEqual([]);
      expect(await kindOf(bench.runtime.removeVolume(name))).toBe('CONFLICT');
      await bench.runtime.remove(id);
      expect(await bench.runtime.listVolumes(labels)).toHaveLength(1);
      await bench.runtime.removeVolume(name);
      await bench.runtime.removeVolume(name);
      expect(await bench.runtime.listVolumes(labels)).toEqual([]);
    });
    test('of another installation are not seen or removed', async () => {
      const name = `${bench.harness.prefix}-data`;
      const volumes = [{ name, target: '/data', labels: bench.labels }];
      const { id } = await bench.runtime.create(bench.spec('idle', { volumes }));
      await bench.runtime.remove(id);
      expect(await bench.harness.stranger.listVolumes({})).toEqual([]);
      expect(await kindOf(bench.harness.stranger.removeVolume(name))).toBe('NOT_FOUND');
      await bench.runtime.removeVolume(name);
    });
  });
};
