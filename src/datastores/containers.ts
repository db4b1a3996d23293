import { LABEL } from '#deploy/index';
import type { DatastoreEngine, DatastoreInstance } from '#engines/datastores/port';
import type { ContainerState, ContainerSummary, ImageInfo, Labels, Runtime } from '#engines/runtime/port';
import { messageOf } from '#kernel/errors';
import type { Log } from '#kernel/log';
import { createSemaphore, type Semaphore } from '#kernel/semaphore';
import { DATASTORE_LABEL, DATASTORE_ROLES, type DatastoreRole } from './labels.ts';
import { judge, type PlannedUnit, planUnit } from './plan.ts';

export interface DatastoreContainers {
  /**
   * Makes the containers of a datastore what `instance` says, starts and settles them, and has the engine keep them running.
   * Idempotent, also after a crash at any step; the data are kept. What is there and as it should be goes on undisturbed,
   * unless `anew`.
   */
  raise(instance: DatastoreInstance, engine: RaisedBy, options: RaiseOptions): Promise<void>;
  /**
   * Removes its containers and jobs: at once with `data`, which deletes the volumes too, and nothing brings those back; else
   * after a graceful stop. Idempotent.
   */
  lower(instance: Pick<DatastoreInstance, 'id'>, options: { data: boolean }): Promise<void>;
  /** The images that its containers were made from, and the names that stood for them. */
  imagesOf(instance: DatastoreInstance, engine: RaisedBy): Promise<UsedImage[]>;
  /** Lets the names stand for these images again. */
  putImagesBack(images: readonly UsedImage[]): Promise<void>;
  /** What this installation has of datastores, wanted or not. */
  find(): Promise<Found>;
  /** Removes what an earlier run of berth has left half-way: jobs, scratch instances, helpers. While none is at work. */
  clear(): Promise<void>;
}

/** The part of an engine that brings containers up. */
export type RaisedBy = Pick<DatastoreEngine, 'images' | 'units' | 'place' | 'settle'>;

export interface RaiseOptions {
  signal: AbortSignal;
  /** Makes the containers anew even when they are as they should be. */
  anew: boolean;
  /** Looks for newer images first; goes on with those that are there when none can be had. */
  pull?: boolean;
}

export interface UsedImage {
  /** Such as `postgres:17`. */
  name: string;
  id: string;
}

export interface Found {
  containers: { id: string; datastore: string; role: DatastoreRole; unit: string; running: boolean }[];
  volumes: { name: string; datastore: string; role: DatastoreRole }[];
}

export interface DatastoreContainersDeps {
  runtime: Runtime;
  log: Log;
  networks: { ensure(project: string): Promise<unknown> };
  /** Of what it raises; scratch instances are told from others by it. */
  role?: DatastoreRole;
}

/** How long a registry may take to tell whether it has a newer image, and to give it. */
const PULL_MS = 300_000;
/** For a container whose spec is not known any more. */
const STOP_SECONDS = 60;

export const createDatastoreContainers = (deps: DatastoreContainersDeps): DatastoreContainers => {
  const { runtime, networks, role = 'datastore' } = deps;

  const ofInstance = async (id: string): Promise<ContainerSummary[]> => runtime.list({ [DATASTORE_LABEL.id]: id });

  const plan = async (instance: DatastoreInstance, engine: RaisedBy, options: RaiseOptions): Promise<PlannedUnit[]> => {
    const ids = new Map<string, string>();
    for (const ref of engine.images(instance.version)) ids.set(ref, (await prepareImage(deps, ref, options)).id);
    return engine.units(instance).map((unit) => {
      const id = ids.get(unit.container.image);
      if (id === undefined) throw new TypeError(`${unit.container.image} is none of the images of ${instance.kind}`);
      return planUnit({ instance, role }, unit, id);
    });
  };

  /** Takes down what is not as it should be, last unit first; resolves with what stays, by unit. */
  const takeDown = async (
    instance: DatastoreInstance,
    units: PlannedUnit[],
    anew: boolean,
  ): Promise<Map<string, ContainerState>> => {
    const found = await standing(runtime, await ofInstance(instance.id));
    const kept = new Map<string, ContainerState>();
    for (const { role: name, spec } of units.toReversed()) {
      const state = found.get(name);
      if (state === undefined) continue;
      const verdict = judge(spec, state, anew);
      if (verdict === 'keep') {
        kept.set(name, state);
        continue;
      }
      await runtime.stop(state.id, spec.stopGraceSeconds);
      await runtime.remove(state.id);
      if (verdict === 'begin again') for (const volume of spec.volumes) await runtime.removeVolume(volume.name);
    }
    return kept;
  };

  const create = async (
    instance: DatastoreInstance,
    { spec }: PlannedUnit,
  ): Promise<{ id: string; fresh: boolean }> => {
    const volumes = await runtime.listVolumes({ [DATASTORE_LABEL.id]: instance.id });
    const fresh = !spec.volumes.some(({ name }) => volumes.some((volume) => volume.name === name));
    const labels = { ...spec.labels, [DATASTORE_LABEL.fresh]: String(fresh) };
    return { ...(await runtime.create({ ...spec, labels })), fresh };
  };

  const bringUp = async (
    instance: DatastoreInstance,
    engine: RaisedBy,
    { unit, state }: { unit: PlannedUnit; state: ContainerState | undefined },
  ): Promise<string> => {
    if (state?.status === 'running') return state.id;
    const { id, fresh } = state === undefined ? await create(instance, unit) : { id: state.id, fresh: false };
    const { rest } = await engine.place(instance, { role: unit.role, containerId: id, fresh });
    for (const outcome of await Promise.allSettled([rest, runtime.start(id)]))
      if (outcome.status === 'rejected') throw outcome.reason;
    return id;
  };

  const raise = async (instance: DatastoreInstance, engine: RaisedBy, options: RaiseOptions): Promise<void> => {
    const { signal } = options;
    signal.throwIfAborted();
    const [units] = await Promise.all([plan(instance, engine, options), networks.ensure(instance.project)]);
    const kept = await takeDown(instance, units, options.anew);
    const ids: string[] = [];
    for (const unit of units) {
      signal.throwIfAborted();
      ids.push(await bringUp(instance, engine, { unit, state: kept.get(unit.role) }));
    }
    await engine.settle(instance, signal);
    // A scratch instance must not come back with the server.
    if (role === 'datastore') for (const id of ids) await runtime.keepRunning(id);
  };

  const turns = createTurns();
  return {
    raise: (instance, engine, options) =>
      turns.take(instance.id, options.signal, () => raise(instance, engine, options)),
    lower: async ({ id }, { data }) => {
      for (const container of (await ofInstance(id)).toSorted(byDependence)) {
        if (!data) await runtime.stop(container.id, STOP_SECONDS);
        await runtime.remove(container.id);
      }
      if (!data) return;
      for (const { name } of await runtime.listVolumes({ [DATASTORE_LABEL.id]: id })) await runtime.removeVolume(name);
    },
    imagesOf: async (instance, engine) => {
      const found = await standing(runtime, await ofInstance(instance.id));
      return engine.units(instance).flatMap(({ role: unit, container }) => {
        const id = found.get(unit)?.labels[DATASTORE_LABEL.image];
        return id === undefined ? [] : [{ name: container.image, id }];
      });
    },
    putImagesBack: async (images) => {
      for (const { name, id } of images)
        if ((await runtime.inspectImage(name))?.id !== id) await runtime.tagImage(id, name);
    },
    find: () => find(runtime),
    clear: async () => {
      const { containers, volumes } = await find(runtime);
      for (const { id, role: is, unit } of containers) {
        if (is !== 'datastore' || unit === '') await runtime.remove(id);
      }
      for (const { name, role: is } of volumes) if (is === 'datastore-scratch') await runtime.removeVolume(name);
    },
  };
};

/** One at a time for each datastore: the upkeep may be healing what an operation is about to make anew. */
const createTurns = () => {
  const byId = new Map<string, Semaphore>();
  return {
    take: async <T>(id: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
      const turn = byId.get(id) ?? createSemaphore(1);
      byId.set(id, turn);
      const done = await turn.acquire(signal);
      try {
        return await work();
      } finally {
        done();
        if (turn.inUse() === 0 && turn.waiting() === 0) byId.delete(id);
      }
    },
  };
};

const prepareImage = async (
  { runtime, log }: DatastoreContainersDeps,
  ref: string,
  { pull = false, signal }: RaiseOptions,
): Promise<ImageInfo> => {
  if (pull) {
    try {
      return await runtime.pullImage(ref, AbortSignal.any([signal, AbortSignal.timeout(PULL_MS)]));
    } catch (error) {
      signal.throwIfAborted();
      log.warn('could not look for a newer image: going on with the one that is there', {
        image: ref,
        error: messageOf(error),
      });
    }
  }
  return await runtime.ensureImage(ref, signal);
};

/** The containers of a datastore's units, by unit. */
const standing = async (
  runtime: Runtime,
  containers: readonly ContainerSummary[],
): Promise<Map<string, ContainerState>> => {
  const found = new Map<string, ContainerState>();
  for (const { id, labels } of containers) {
    const unit = unitOf(labels);
    const state = unit === '' ? undefined : await runtime.inspect(id);
    if (state !== undefined) found.set(unit, state);
  }
  return found;
};

/** What apps connect to goes before what it stands on. */
const byDependence = (left: ContainerSummary, right: ContainerSummary): number =>
  Number(unitOf(right.labels) === 'main') - Number(unitOf(left.labels) === 'main');

const unitOf = (labels: Labels): string =>
  labels[LABEL.role] === 'datastore-job' ? '' : (labels[DATASTORE_LABEL.unit] ?? '');

const find = async (runtime: Runtime): Promise<Found> => {
  const found: Found = { containers: [], volumes: [] };
  for (const role of DATASTORE_ROLES) {
    for (const { id, labels, running } of await runtime.list({ [LABEL.role]: role })) {
      const datastore = labels[DATASTORE_LABEL.id] ?? '';
      found.containers.push({ id, datastore, role, unit: unitOf(labels), running });
    }
    for (const { name, labels } of await runtime.listVolumes({ [LABEL.role]: role })) {
      found.volumes.push({ name, datastore: labels[DATASTORE_LABEL.id] ?? '', role });
    }
  }
  return found;
};
