import type { ReleaseRow } from '#modules/releases';
import type { ServiceRow } from '#modules/services';
import type { BuildCaches } from './build-caches.ts';
import type { DeployDeps } from './deps.ts';

/** Releases of a service that are kept, the live one and its predecessor among them. */
export const KEPT_RELEASES = 10;

/** Releases beyond the newest ten. The live one, its predecessor and those that replicas run are never among them. Pure. */
export const surplusReleases = (
  service: ServiceRow,
  releases: readonly ReleaseRow[],
  running: ReadonlySet<string>,
): ReleaseRow[] => {
  const pinned = new Set([service.live_release, service.previous_release, ...running]);
  const newestFirst = [...releases].sort((a, b) => (b.last_live_at ?? b.created_at) - (a.last_live_at ?? a.created_at));
  const others = newestFirst.filter((release) => !pinned.has(release.id));
  const room = Math.max(0, KEPT_RELEASES - (newestFirst.length - others.length));
  return others.slice(room);
};

export interface Collector {
  /** Removes a service's surplus releases from the registry, the engine and the state. */
  service(project: string, name: string): Promise<void>;
  /** Frees registry blobs and the build cache that exceeds its bounds. */
  disk(): Promise<void>;
}

export const createCollector = (deps: DeployDeps, caches: BuildCaches): Collector => ({
  service: async (project, name) => {
    const service = deps.services.get(project, name);
    if (service === undefined) return;
    const running = new Set(deps.services.replicas.ofService(project, name).map((row) => row.release));
    const all = deps.releases.ofService(project, name);
    const surplus = surplusReleases(service, all, running);
    const keptDigests = new Set(all.filter((release) => !surplus.includes(release)).map((release) => release.digest));
    for (const release of surplus) {
      if (!keptDigests.has(release.digest)) {
        await deps.registry.remove(`${project}/${name}`, release.digest);
        await deps.runtime.removeImage(release.image);
      }
      deps.releases.remove(project, name, release.id);
    }
  },
  disk: async () => {
    await deps.registry.collectGarbage();
    await caches.trim();
  },
});
