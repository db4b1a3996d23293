import { readFile } from 'node:fs/promises';
import type { ContainerUsage } from './port.ts';

/** Where the kernel tells what a container uses; which of them holds depends on the engine's settings. */
interface Layout {
  cpu: (id: string) => string;
  memory: (id: string) => string;
  stat: (id: string) => string;
  cpuSeconds: (text: string) => number;
  cache: RegExp;
}

const ROOT = '/sys/fs/cgroup';

/** cgroup v2: one tree, microseconds in `cpu.stat`. */
const unified = (folder: (id: string) => string): Layout => ({
  cpu: (id) => `${ROOT}/${folder(id)}/cpu.stat`,
  memory: (id) => `${ROOT}/${folder(id)}/memory.current`,
  stat: (id) => `${ROOT}/${folder(id)}/memory.stat`,
  cpuSeconds: (text) => Number(/^usage_usec (\d+)$/m.exec(text)?.[1]) / 1e6,
  cache: /^inactive_file (\d+)$/m,
});

/** cgroup v1: a tree a controller, nanoseconds in `cpuacct.usage`. */
const split = (folder: (id: string) => string): Layout => ({
  cpu: (id) => `${ROOT}/cpuacct/${folder(id)}/cpuacct.usage`,
  memory: (id) => `${ROOT}/memory/${folder(id)}/memory.usage_in_bytes`,
  stat: (id) => `${ROOT}/memory/${folder(id)}/memory.stat`,
  cpuSeconds: (text) => Number(text) / 1e9,
  cache: /^total_inactive_file (\d+)$/m,
});

/** Of the driver systemd, and of cgroupfs. */
const FOLDERS = [(id: string) => `system.slice/docker-${id}.scope`, (id: string) => `docker/${id}`];
const LAYOUTS: readonly Layout[] = [...FOLDERS.map(unified), ...FOLDERS.map(split)];

/** Reads what containers use from the kernel's own files: microseconds each, without the engine. */
export interface Cgroups {
  /** Undefined when its files cannot be read: it does not run, or the engine keeps them elsewhere. */
  read(id: string): Promise<ContainerUsage | undefined>;
}

export const createCgroups = (): Cgroups => {
  let known: Layout | undefined;
  const read = async (layout: Layout, id: string): Promise<ContainerUsage | undefined> => {
    try {
      const [cpu, memory, stat] = await Promise.all(
        [layout.cpu, layout.memory, layout.stat].map((path) => readFile(path(id), 'utf8')),
      );
      const cpuSeconds = layout.cpuSeconds(cpu ?? '');
      const used = Number(memory);
      const cache = Number(layout.cache.exec(stat ?? '')?.[1] ?? 0);
      if (!Number.isFinite(cpuSeconds) || !Number.isFinite(used)) return undefined;
      return { cpuSeconds, memoryBytes: cache < used ? used - cache : used };
    } catch {
      // Not there, or not for us: the caller asks the engine instead.
      return undefined;
    }
  };
  return {
    read: async (id) => {
      if (!/^[0-9a-f]{64}$/.test(id)) return undefined;
      if (known !== undefined) return read(known, id);
      for (const layout of LAYOUTS) {
        const usage = await read(layout, id);
        if (usage === undefined) continue;
        known = layout;
        return usage;
      }
      return undefined;
    },
  };
};
