import { createHash } from 'node:crypto';
import { LABEL } from '#deploy/index';
import type { DatastoreInstance, Unit } from '#engines/datastores/port';
import type { ContainerSpec, ContainerState, Labels } from '#engines/runtime/port';
import { DATASTORE_LABEL, type DatastoreRole } from './labels.ts';

/** A container as it should be. */
export interface PlannedUnit {
  role: string;
  spec: ContainerSpec;
}

/** What becomes of the container that a unit has now. */
export type Verdict =
  /** It is what it should be. */
  | 'keep'
  /** Another one takes its place, on the same volumes. */
  | 'replace'
  /** It never ran, and came with volumes that nothing else has used: they may be half filled, and go with it. */
  | 'begin again';

/** Pure. Completes what an engine wants of a unit by the labels by which it is found again. */
export const planUnit = (
  { instance, role }: { instance: DatastoreInstance; role: DatastoreRole },
  unit: Unit,
  imageId: string,
): PlannedUnit => {
  const labels = { ...instance.labels, [LABEL.role]: role, [DATASTORE_LABEL.id]: instance.id };
  const own: Labels = {
    [DATASTORE_LABEL.unit]: unit.role,
    [DATASTORE_LABEL.image]: imageId,
    [DATASTORE_LABEL.spec]: digestOf(unit.container),
  };
  return {
    role: unit.role,
    spec: {
      ...unit.container,
      labels: { ...unit.container.labels, ...labels, ...own },
      volumes: unit.container.volumes.map((volume) => ({ ...volume, labels: { ...volume.labels, ...labels } })),
      // One that dies before it is settled stays as it died.
      restart: 'no',
    },
  };
};

/** Pure. */
export const judge = (wanted: ContainerSpec, found: ContainerState, anew: boolean): Verdict => {
  if (found.status === 'created') return found.labels[DATASTORE_LABEL.fresh] === 'true' ? 'begin again' : 'replace';
  const isSame = [DATASTORE_LABEL.image, DATASTORE_LABEL.spec].every(
    (name) => found.labels[name] === wanted.labels[name],
  );
  return isSame && !anew && found.status !== 'dead' && found.status !== 'removing' ? 'keep' : 'replace';
};

/** Labels may come and go with versions of berth: no reason to make a container anew. */
const digestOf = (spec: ContainerSpec): string => {
  const volumes = spec.volumes.map(({ name, target }) => ({ name, target }));
  const text = JSON.stringify({ ...spec, labels: {}, volumes });
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
};
