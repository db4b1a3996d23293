import { existsSync } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Connection, get } from '#engines/docker/connection';
import type { Clock } from '#kernel/clock';
import { messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';

/** What all builds together may use. Docker takes no such limits for BuildKit, so they are set on its control groups. */
export interface BuildLimits {
  memoryBytes: number;
}

export interface LimitOptions {
  connection: Connection;
  clock: Clock;
  log: Log;
  limits: BuildLimits;
  /** Where control groups are mounted. */
  root?: string;
}

/** Enough for parallel compilers, too little for a fork bomb to take the host along. */
const MAX_PIDS = 4096;
/** A quarter of what berth and every app have: builds take what the others leave. */
const CPU_SHARES_V1 = 256;
const CPU_WEIGHT_V2 = 25;
const POLL_MS = 100;
/** The cgroupfs driver puts all steps of all builds here. */
const COMMON_GROUP = 'docker/buildkit';
/** The systemd driver gives each step a scope beside those of the containers, whose ids have 64 hex digits. */
const STEP_SCOPE = /^docker-[a-z0-9]{25}\.scope$/;

interface Engine {
  CgroupDriver: string;
  CgroupVersion?: string;
}

/** Keeps the steps of builds within `limits` until `ended`. Resolves once the limits hold for the steps to come. */
export const createBuildLimits = (options: LimitOptions): ((ended: AbortSignal) => Promise<void>) => {
  const { connection, clock, log, limits, root = '/sys/fs/cgroup' } = options;
  let engine: Engine | undefined;
  let warned = false;

  const write = async (group: string, version: string): Promise<void> => {
    for (const [file, value] of limitFiles(group, version, limits)) {
      const path = join(root, file);
      // Swap accounting may be off, and a scope may be gone again.
      if (existsSync(path)) await writeFile(path, value);
    }
  };
  /** Docker makes the group with the first step of the first build: too late for that step. */
  const writeCommon = async (version: string): Promise<void> => {
    for (const [file] of limitFiles(COMMON_GROUP, version, limits))
      await mkdir(dirname(join(root, file)), { recursive: true });
    await write(COMMON_GROUP, version);
  };
  const warn = (error: unknown): void => {
    if (!warned) log.warn('cannot limit the memory and CPU of builds', { reason: messageOf(error) });
    warned = true;
  };
  const followScopes = async (version: string, ended: AbortSignal): Promise<void> => {
    const slice = join(root, version === '1' ? 'memory' : '', 'system.slice');
    const seen = new Set<string>();
    while (!ended.aborted) {
      for (const name of await readdir(slice)) {
        if (!STEP_SCOPE.test(name) || seen.has(name)) continue;
        seen.add(name);
        await write(`system.slice/${name}`, version);
      }
      await clock.sleep(POLL_MS, ended);
    }
  };

  return async (ended) => {
    try {
      engine ??= await connection.call('describe itself', (docker, signal) => get<Engine>(docker, '/info', { signal }));
      const version = engine.CgroupVersion ?? '1';
      if (engine.CgroupDriver === 'systemd') followScopes(version, ended).catch(warn);
      else await writeCommon(version);
    } catch (error) {
      // A build that is not limited is better than none; that an engine is away shows in the build itself.
      warn(error);
    }
  };
};

/** The files of a control group that hold its limits, and what to write there. Pure. */
export const limitFiles = (group: string, version: string, { memoryBytes }: BuildLimits): [string, string][] => {
  const memory = String(memoryBytes);
  if (version === '1') {
    const withSwap = `memory/${group}/memory.memsw.limit_in_bytes`;
    return [
      // At no time may the limit with swap be the lower one, whatever both were before.
      [withSwap, '-1'],
      [`memory/${group}/memory.limit_in_bytes`, memory],
      [withSwap, memory],
      [`pids/${group}/pids.max`, String(MAX_PIDS)],
      [`cpu/${group}/cpu.shares`, String(CPU_SHARES_V1)],
    ];
  }
  return [
    [`${group}/memory.max`, memory],
    [`${group}/memory.swap.max`, '0'],
    [`${group}/pids.max`, String(MAX_PIDS)],
    [`${group}/cpu.weight`, String(CPU_WEIGHT_V2)],
  ];
};
