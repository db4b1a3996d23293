import { plannedBuild } from '#engines/builder/planned-build';
import type { PushedImage } from '#engines/registry/port';
import type { Run } from '#modules/operations';
import { releaseId, type ReleaseRow } from '#modules/releases';
import type { ServiceRow } from '#modules/services';
import type { Built, DeployInput } from './builds.ts';
import type { DeployDeps } from './deps.ts';

/** A stored image, and its local id for the replicas. */
export interface Stored extends PushedImage {
  imageId: string;
}

/** Puts a built image into the registry, and its release into the state. */
export interface ReleaseStorage {
  /** Also ends when `unhealthy` aborts: then the image is of no use. */
  push(run: Run, service: ServiceRow, built: Built, unhealthy: AbortSignal): Promise<Stored>;
  /** The release of that image; the one from before when the content is the same. */
  record(run: Run, service: ServiceRow, built: Built, pushed: PushedImage): ReleaseRow;
}

export const createReleaseStorage = (deps: DeployDeps): ReleaseStorage => {
  const { releases } = deps;

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

  const record = (run: Run, service: ServiceRow, built: Built, pushed: PushedImage): ReleaseRow => {
    const input = run.input as unknown as DeployInput;
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
      env_names: JSON.stringify(deps.env.keys(service.project)),
      build: JSON.stringify(plannedBuild(built.source.plan)),
    };
    deps.db
      .transaction(() => {
        releases.insert(row);
        run.saveCheckpoint({ release: row.id, committed: false });
      })
      .immediate();
    return releases.get(row.project, row.service, row.id) ?? row;
  };

  return { push, record };
};
