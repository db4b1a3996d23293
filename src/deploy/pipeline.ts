import { existsSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { PushedImage } from '#engines/registry/port';
import { BerthError, conflict, messageOf } from '#kernel/errors';
import { maskLine } from '#kernel/mask';
import { STOPPING, type Outcome, type Run } from '#modules/operations';
import { releaseId, type ReleaseRow } from '#modules/releases';
import type { ServiceRow } from '#modules/services';
import type { DeployDeps } from './deps.ts';
import { changeOver } from './change-over.ts';
import type { Prepared, Rollout, RolloutRequest } from './rollout.ts';
import type { Semaphore } from './semaphore.ts';
import { LABEL } from './specs.ts';
import { argumentValues, buildImage } from './steps/build.ts';
import { planSource, type PlannedSource } from './steps/source.ts';

/** What a deploy was asked to do; stored with its operation. */
export interface DeployInput {
  /** The uploaded archive on disk. */
  archive: string;
  sha256: string;
  noCache: boolean;
  commit: string | null;
}

interface Built {
  source: PlannedSource;
  imageId: string;
  tag: string;
  /** Secrets that the image's history names: it must not be run, but what the registry makes of it. */
  redact: string[];
}

/** A stored image, and its local id for the replicas. */
interface Stored extends PushedImage {
  imageId: string;
}

export interface Pipeline {
  deploy(run: Run): Promise<Outcome>;
}

/** source → plan → build → push → rollout: the ordered steps of a deploy. */
export const createPipeline = (deps: DeployDeps, rollout: Rollout, builds: Semaphore): Pipeline => {
  const { config, services, releases } = deps;

  const deploy = async (run: Run): Promise<Outcome> => {
    const input = run.input as unknown as DeployInput;
    const service = requireService(run);
    const workDir = join(config.dataDir, 'builds', run.id);
    try {
      if (run.checkpoint !== null) return await resume(run, service, run.checkpoint.release, run.checkpoint.committed);
      return await fromSource(run, service, input, workDir);
    } finally {
      if (run.signal.reason !== STOPPING) {
        await rm(workDir, { recursive: true, force: true });
        await rm(input.archive, { force: true });
      }
      await untag(buildTag(run, service));
    }
  };

  /** Takes away the name of the build, also one that a killed process left. What the deploy ended with counts for more. */
  const untag = async (tag: string): Promise<void> => {
    try {
      await deps.runtime.removeImage(tag);
    } catch (error) {
      deps.log.warn('cannot remove the name of a built image', { image: tag, reason: messageOf(error) });
    }
  };

  const buildTag = (run: Run, { project, name }: ServiceRow): string =>
    `berth/${deps.instance}/${project}/${name}:${run.id}`;

  const requireService = (run: Run): ServiceRow => {
    const service = services.get(run.project, run.service);
    if (service === undefined)
      throw conflict(`service "${run.service}" was deleted meanwhile`, 'deploy again to make it anew');
    return service;
  };

  const fromSource = async (run: Run, service: ServiceRow, input: DeployInput, workDir: string): Promise<Outcome> =>
    pushAndRollOut(run, service, input, await build(run, service, input, workDir));

  /** The new replicas start, and are probed, while the image is pushed; an app that dies meanwhile ends the push. */
  const pushAndRollOut = async (run: Run, service: ServiceRow, input: DeployInput, built: Built): Promise<Outcome> => {
    const request = changeOver(service, services.replicas.ofService(service.project, service.name), built.imageId, {
      replaceAll: true,
    });
    const redacting = built.redact.length > 0;
    run.phase(
      'pushing',
      `pushing the image; the new replicas start beside the old ones ${redacting ? 'after that' : 'meanwhile'}`,
    );
    const unhealthy = new AbortController();
    const pushing = push(run, service, built, unhealthy.signal);
    const gating = startAndGate(run, redacting ? onceStored(request, pushing) : request, unhealthy);
    const [pushed, gated] = await Promise.allSettled([pushing, gating]);
    const prepared = gated.status === 'fulfilled' ? gated.value : undefined;
    if (run.signal.aborted || (pushed.status === 'rejected' && !unhealthy.signal.aborted)) {
      if (prepared !== undefined) await rollout.discard(prepared, '');
      throw run.signal.aborted ? run.signal.reason : settledReason(pushed);
    }
    const release = pushed.status === 'fulfilled' ? record(run, service, input, built, pushed.value) : undefined;
    run.phase(
      'rolling_out',
      release === undefined
        ? 'the new replicas are not healthy'
        : `release ${release.id}: ${request.slots.length} new replica(s)`,
    );
    if (prepared === undefined || release === undefined) return rolledBack(service, settledReason(gated));
    return moveTraffic(run, service, release, prepared);
  };

  /** Aborts `unhealthy` when a replica cannot become healthy; then none of them is left. */
  const startAndGate = async (
    run: Run,
    wanted: RolloutRequest | Promise<RolloutRequest>,
    unhealthy: AbortController,
  ): Promise<Prepared> => {
    // What fails here is the push.
    const request = await wanted;
    let prepared: Prepared | undefined;
    try {
      prepared = await rollout.prepare(run, request);
      await rollout.gate(run, prepared);
      return prepared;
    } catch (error) {
      unhealthy.abort(error);
      if (prepared !== undefined) await rollout.discard(prepared, '');
      throw error;
    }
  };

  const build = async (run: Run, service: ServiceRow, input: DeployInput, workDir: string): Promise<Built> => {
    if (!existsSync(input.archive))
      throw new BerthError('INTERNAL_ERROR', 'the uploaded source is gone', { hint: 'deploy again', retryable: true });
    if (builds.inUse() > 0) run.log('berth', 'waiting for a build slot');
    const timeLimit = AbortSignal.timeout(config.buildTimeoutSeconds * 1000);
    const release = await builds.acquire(run.signal);
    try {
      run.phase('building', 'unpacking the source and planning the build');
      await rm(workDir, { recursive: true, force: true });
      await mkdir(workDir, { recursive: true, mode: 0o700 });
      const signal = AbortSignal.any([run.signal, timeLimit]);
      return await withTimeLimit(timeLimit, () => planAndBuild(run, service, input, workDir, signal));
    } finally {
      release();
    }
  };

  const planAndBuild = async (
    run: Run,
    service: ServiceRow,
    input: DeployInput,
    workDir: string,
    signal: AbortSignal,
  ): Promise<Built> => {
    const env = deps.env.resolve(service.project);
    const masker = deps.env.masker(service.project);
    const mask = (line: string): string => maskLine(masker, line);
    const log = (line: string): void => run.log('build', mask(line));
    const source = await planSource({ archive: input.archive, workDir, service, env, clock: deps.clock, signal });
    for (const line of source.plan.decisions) log(line);
    for (const line of source.plan.warnings) log(`warning: ${line}`);
    const tag = buildTag(run, service);
    try {
      const image = await buildImage({
        builder: deps.builder,
        source,
        tag,
        labels: { [LABEL.instance]: deps.instance, [LABEL.project]: service.project, [LABEL.service]: service.name },
        env,
        cacheScope: `${deps.instance}-${service.project}-${service.name}`,
        noCache: input.noCache,
        signal,
        onLog: log,
      });
      services.update(service.project, service.name, { build_memory: JSON.stringify(source.plan.remember) });
      const redact = argumentValues(source, env).filter((value) => masker.mask(value) !== value);
      return { source, imageId: image.imageId, tag, redact };
    } catch (error) {
      throw maskError(error, mask);
    }
  };

  const withTimeLimit = async <T>(limit: AbortSignal, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
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

  const push = async (run: Run, service: ServiceRow, built: Built, unhealthy: AbortSignal): Promise<Stored> => {
    const repository = `${service.project}/${service.name}`;
    const pushed = await deps.registry.push({
      localRef: built.tag,
      repository,
      signal: AbortSignal.any([run.signal, unhealthy]),
      onLog: (line) => run.log('push', line),
      redact: built.redact,
    });
    if (!pushed.redacted) return { ...pushed, imageId: built.imageId };
    run.log('push', 'values of build arguments were taken out of the history of the image');
    const image = await deps.runtime.ensureImage(deps.registry.reference(repository, pushed.digest), run.signal);
    await deps.runtime.removeImage(built.tag);
    return { ...pushed, imageId: image.id };
  };

  const record = (
    run: Run,
    service: ServiceRow,
    input: DeployInput,
    built: Built,
    pushed: { digest: string; sizeBytes: number },
  ): ReleaseRow => {
    const row: ReleaseRow = {
      project: service.project,
      service: service.name,
      id: releaseId(pushed.digest),
      digest: pushed.digest,
      image: deps.registry.reference(`${service.project}/${service.name}`, pushed.digest),
      size_bytes: pushed.sizeBytes,
      provider: built.source.plan.provider,
      source_sha256: input.sha256,
      commit_id: input.commit,
      operation_id: run.id,
      created_at: deps.clock.now(),
      created_by: run.actor,
      last_live_at: null,
    };
    deps.db
      .transaction(() => {
        releases.insert(row);
        run.saveCheckpoint({ release: row.id, committed: false });
      })
      .immediate();
    return releases.get(row.project, row.service, row.id) ?? row;
  };

  /** Goes on where an earlier process stopped: the release is there, its rollout is done again, or was done. */
  const resume = async (run: Run, service: ServiceRow, id: string, committed: boolean): Promise<Outcome> => {
    const release = releases.get(service.project, service.name, id);
    if (release === undefined) throw conflict(`release ${id} is gone`, 'deploy again');
    if (committed) return succeeded(service, release);
    run.log('berth', 'berth was restarted during the rollout; doing it again');
    run.phase('rolling_out', `release ${id}`);
    const image = await deps.runtime.ensureImage(release.image, run.signal);
    const request = changeOver(service, services.replicas.ofService(service.project, service.name), image.id, {
      replaceAll: true,
    });
    const prepared = await rollout.prepare(run, request);
    try {
      await rollout.gate(run, prepared);
    } catch (error) {
      await rollout.discard(prepared, id);
      if (run.signal.aborted) throw error;
      return rolledBack(service, error);
    }
    return moveTraffic(run, service, release, prepared);
  };

  const moveTraffic = async (
    run: Run,
    service: ServiceRow,
    release: ReleaseRow,
    prepared: Prepared,
  ): Promise<Outcome> => {
    try {
      await rollout.goLive(run, prepared, release.id, () => {
        const previous = service.live_release === release.id ? service.previous_release : service.live_release;
        services.update(service.project, service.name, {
          live_release: release.id,
          previous_release: previous,
          updated_at: deps.clock.now(),
        });
        releases.markLive(service.project, service.name, release.id, deps.clock.now());
        run.saveCheckpoint({ release: release.id, committed: true });
      });
      return succeeded(service, release);
    } catch (error) {
      if (run.signal.aborted) throw error;
      return rolledBack(service, error);
    }
  };

  return { deploy };
};

const onceStored = async (request: RolloutRequest, pushing: Promise<Stored>): Promise<RolloutRequest> => ({
  ...request,
  image: (await pushing).imageId,
});

const settledReason = (result: PromiseSettledResult<unknown>): unknown =>
  result.status === 'rejected' ? result.reason : undefined;

const succeeded = (service: ServiceRow, release: ReleaseRow): Outcome => ({
  phase: 'healthy',
  error: null,
  result: { release: release.id, digest: release.digest, size_bytes: release.size_bytes, replicas: service.replicas },
});

const rolledBack = (service: ServiceRow, error: unknown): Outcome => ({
  phase: 'rolled_back',
  error: error instanceof BerthError ? error : toRolloutError(error),
  result: { live_release: service.live_release },
});

const toRolloutError = (cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', 'the rollout failed; the release before it still serves', {
    hint: 'retry; if it persists, see the server log',
    retryable: true,
    cause,
  });

/** The same error with known secrets hidden. */
const maskError = (error: unknown, mask: (text: string) => string): unknown => {
  if (!(error instanceof BerthError)) return error;
  return new BerthError(error.kind, mask(error.message), {
    hint: error.hint,
    retryable: error.retryable,
    httpStatus: error.httpStatus,
    ...(error.logTail === undefined ? {} : { logTail: error.logTail.split('\n').map(mask).join('\n') }),
    cause: error.cause,
  });
};
