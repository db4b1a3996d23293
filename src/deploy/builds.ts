import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BerthError, messageOf } from '#kernel/errors';
import { maskColoured } from '#kernel/mask';
import { STOPPING, type Run } from '#modules/operations';
import type { ServiceRow } from '#modules/services';
import type { BuildCaches, BuildWatch } from './build-caches.ts';
import type { DeployDeps } from './deps.ts';
import { maskError } from './outcomes.ts';
import type { Semaphore } from '#kernel/semaphore';
import { buildPrefix, LABEL } from './specs.ts';
import { argumentValues, buildImage } from './steps/build.ts';
import { planSource, type PlannedSource } from './steps/source.ts';

/** What a deploy was asked to do; stored with its operation. */
export interface DeployInput {
  /** The uploaded archive on disk. */
  archive: string;
  sha256: string;
  noCache: boolean;
  commit: string | null;
  /** The repository that it was pushed to: a newer push replaces a deploy that waits. */
  repo?: { id: string; name: string; branch: string };
}

export interface Built {
  source: PlannedSource;
  imageId: string;
  /** Name of the image until it is stored. */
  tag: string;
  /** Secrets that the image's history names: it must not be run, but what the registry makes of it. */
  redact: string[];
}

/** Makes images of uploaded sources, a bounded number at once, within a time limit. */
export interface Builds {
  make(run: Run, service: ServiceRow): Promise<Built>;
  /** Removes what a build left behind: its files, and the name of its image. The upload too, unless berth is stopping. */
  cleanUp(run: Run): Promise<void>;
}

export const createBuilds = (deps: DeployDeps, slots: Semaphore, caches: BuildCaches): Builds => {
  const { config, services } = deps;

  const workDirOf = (run: Run): string => join(config.dataDir, 'builds', run.id);
  const tagOf = (run: Run): string => `${buildPrefix(deps.instance)}${run.project}/${run.service}:${run.id}`;
  const inputOf = (run: Run): DeployInput => run.input as unknown as DeployInput;

  const planAndBuild = async (
    run: Run,
    service: ServiceRow,
    watch: BuildWatch,
    signal: AbortSignal,
  ): Promise<Built> => {
    const { archive, noCache } = inputOf(run);
    const env = deps.env.resolve(service.project);
    const masker = deps.env.masker(service.project);
    const mask = (line: string): string => maskColoured(masker, line);
    const onLog = (line: string): void => run.log('build', mask(line));
    try {
      const source = await planSource({ archive, workDir: workDirOf(run), service, env, clock: deps.clock, signal });
      for (const line of source.plan.decisions) onLog(line);
      for (const line of source.plan.warnings) onLog(`warning: ${line}`);
      const image = await buildImage({
        builder: deps.builder,
        source,
        tag: tagOf(run),
        labels: { [LABEL.instance]: deps.instance, [LABEL.project]: service.project, [LABEL.service]: service.name },
        env,
        cacheScope: caches.scope(service.project, service.name),
        noCache,
        signal,
        onDockerfile: watch.dockerfile,
        onLog,
      });
      services.update(service.project, service.name, { build_memory: JSON.stringify(source.plan.remember) });
      const redact = argumentValues(source, env).filter((value) => masker.mask(value) !== value);
      return { source, imageId: image.imageId, tag: tagOf(run), redact };
    } catch (error) {
      throw maskError(error, mask);
    }
  };

  const withinTime = async <T>(run: Run, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const limit = AbortSignal.timeout(config.buildTimeoutSeconds * 1000);
    try {
      return await work(AbortSignal.any([run.signal, limit]));
    } catch (error) {
      if (!limit.aborted) throw error;
      const minutes = Math.round(config.buildTimeoutSeconds / 60);
      throw new BerthError('TIMEOUT', `the build took longer than ${minutes} minutes and was stopped`, {
        hint: 'reduce the work of the build, then deploy again',
        retryable: true,
        cause: error,
      });
    }
  };

  return {
    make: async (run, service) => {
      if (!existsSync(inputOf(run).archive)) throw uploadGone();
      if (slots.free() === 0) run.log('berth', 'waiting for a build slot');
      const release = await slots.acquire(run.signal);
      const watch = caches.begin(service.project, service.name);
      try {
        run.phase('building', 'unpacking the source and planning the build');
        await rm(workDirOf(run), { recursive: true, force: true });
        await mkdir(workDirOf(run), { recursive: true, mode: 0o700 });
        return await withinTime(run, (signal) => planAndBuild(run, service, watch, signal));
      } finally {
        watch.ended();
        release();
      }
    },
    cleanUp: async (run) => {
      if (run.signal.reason !== STOPPING) {
        await rm(workDirOf(run), { recursive: true, force: true });
        await rm(inputOf(run).archive, { force: true });
      }
      try {
        await deps.runtime.removeImage(tagOf(run));
      } catch (error) {
        // How the deploy ended counts for more; a name that stays costs nothing but its line in a list.
        deps.log.warn('cannot remove the name of a built image', { image: tagOf(run), reason: messageOf(error) });
      }
    },
  };
};

const uploadGone = (): BerthError =>
  new BerthError('INTERNAL_ERROR', 'the uploaded source is gone', { hint: 'deploy again', retryable: true });
