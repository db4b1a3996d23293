import { conflict } from '#kernel/errors';
import type { Outcome, Run } from '#modules/operations';
import type { ReleaseRow } from '#modules/releases';
import type { ServiceRow } from '#modules/services';
import type { Builds, Built } from './builds.ts';
import type { DeployDeps } from './deps.ts';
import { changeOver } from './change-over.ts';
import { rolledBack, succeeded } from './outcomes.ts';
import type { ReleaseCommand } from './release-command.ts';
import { createReleaseStorage, type Stored } from './release-storage.ts';
import { rollOut, type Prepared, type Rollout, type RolloutRequest } from './rollout.ts';

export interface Pipeline {
  deploy(run: Run): Promise<Outcome>;
}

export interface PipelineParts {
  builds: Builds;
  releaseCommand: ReleaseCommand;
  rollout: Rollout;
}

/** source → plan → build → release command → push → rollout: the ordered steps of a deploy. */
export const createPipeline = (deps: DeployDeps, { builds, releaseCommand, rollout }: PipelineParts): Pipeline => {
  const { config, services, releases } = deps;
  const store = createReleaseStorage(deps);

  const deploy = async (run: Run): Promise<Outcome> => {
    const service = requireService(run);
    try {
      const reached = run.checkpoint;
      if (reached !== null && reached.release !== null)
        return await resume(run, service, reached.release, reached.committed);
      const built = await builds.make(run, service);
      const argv = built.source.plan.releaseCommand;
      if (argv !== null) await releaseCommand.run(run, service, { image: built.imageId, argv });
      return await pushAndRollOut(run, service, built);
    } finally {
      await builds.cleanUp(run);
    }
  };

  const requireService = (run: Run): ServiceRow => {
    const service = services.get(run.project, run.service);
    if (service === undefined)
      throw conflict(`service "${run.service}" was deleted meanwhile`, 'deploy again to make it anew');
    return service;
  };

  /** The new replicas start, and are probed, while the image is pushed; an app that dies meanwhile ends the push. */
  const pushAndRollOut = async (run: Run, service: ServiceRow, built: Built): Promise<Outcome> => {
    const request = replacement(service, built.imageId);
    const redacting = built.redact.length > 0;
    run.phase(
      'pushing',
      `pushing the image; the new replicas start beside the old ones ${redacting ? 'after that' : 'meanwhile'}`,
    );
    const unhealthy = new AbortController();
    const pushing = store.push(run, service, built, unhealthy.signal);
    const releasing = pushing.then((stored) => {
      const release = store.record(run, service, built, stored);
      run.phase('rolling_out', `release ${release.id}: ${request.slots.length} new replica(s)`);
      return release;
    });
    const gating = startAndGate(run, redacting ? onceStored(request, pushing) : request, unhealthy);
    const [released, gated] = await Promise.allSettled([releasing, gating]);
    const prepared = gated.status === 'fulfilled' ? gated.value : undefined;
    if (run.signal.aborted || (released.status === 'rejected' && !unhealthy.signal.aborted)) {
      if (prepared !== undefined) await rollout.discard(prepared, '');
      throw run.signal.aborted ? run.signal.reason : settledReason(released);
    }
    if (released.status === 'rejected') run.phase('rolling_out', 'the new replicas are not healthy');
    if (prepared === undefined || released.status === 'rejected') return rolledBack(service, settledReason(gated));
    const release = released.value;
    return concluded(run, service, release, () =>
      rollout.goLive(run, prepared, release.id, pointAt(run, service, release)),
    );
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

  /** Goes on where an earlier process stopped: the release is there, its rollout is done again, or was done. */
  const resume = async (run: Run, service: ServiceRow, id: string, committed: boolean): Promise<Outcome> => {
    const release = releases.get(service.project, service.name, id);
    if (release === undefined) throw conflict(`release ${id} is gone`, 'deploy again');
    if (committed) return succeeded(config, service, release);
    run.log('berth', 'berth was restarted during the rollout; doing it again');
    run.phase('rolling_out', `release ${id}`);
    const image = await deps.runtime.ensureImage(release.image, run.signal);
    const request = replacement(service, image.id);
    return concluded(run, service, release, () =>
      rollOut(run, rollout, { request, release: id, commit: pointAt(run, service, release) }),
    );
  };

  /** Every live replica is replaced by one of `image`. */
  const replacement = (service: ServiceRow, image: string): RolloutRequest =>
    changeOver(service, services.replicas.ofService(service.project, service.name), image, { replaceAll: true });

  /** What makes the release the live one, within the transaction of the rollout. */
  const pointAt = (run: Run, service: ServiceRow, release: ReleaseRow) => (): void => {
    const previous = service.live_release === release.id ? service.previous_release : service.live_release;
    services.update(service.project, service.name, {
      live_release: release.id,
      previous_release: previous,
      updated_at: deps.clock.now(),
    });
    releases.markLive(service.project, service.name, release.id, deps.clock.now());
    run.saveCheckpoint({ release: release.id, committed: true });
  };

  const concluded = async (
    run: Run,
    service: ServiceRow,
    release: ReleaseRow,
    rollingOut: () => Promise<void>,
  ): Promise<Outcome> => {
    try {
      await rollingOut();
      return succeeded(config, service, release);
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
