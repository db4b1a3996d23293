import { LABEL } from '#deploy/index';
import type { DatastoreInstance } from '#engines/datastores/port';
import type { Labels } from '#engines/runtime/port';

/** Labels of what belongs to a datastore, besides those of its installation and project. */
export const DATASTORE_LABEL = {
  /** Its id, which no other datastore ever had. */
  id: 'dev.berth.datastore-id',
  name: 'dev.berth.datastore',
  /** Which of its containers. */
  unit: 'dev.berth.datastore-unit',
  /** What the container was made from: another value means that it must be made anew. */
  image: 'dev.berth.datastore-image',
  spec: 'dev.berth.datastore-spec',
  /** Whether the container came with a volume that had never been used. */
  fresh: 'dev.berth.datastore-fresh',
} as const;

/** `datastore` for what serves apps; `datastore-scratch` for a copy of a rehearsal; `datastore-job` for one-shot containers. */
export const DATASTORE_ROLES = ['datastore', 'datastore-scratch', 'datastore-job'] as const;
export type DatastoreRole = (typeof DATASTORE_ROLES)[number];

/** Labels of all containers and volumes of one datastore of an installation. */
export const datastoreLabels = (
  installation: string,
  { id, project, name }: Pick<DatastoreInstance, 'id' | 'project' | 'name'>,
): Labels => ({
  [LABEL.instance]: installation,
  [LABEL.role]: 'datastore',
  [LABEL.project]: project,
  [DATASTORE_LABEL.name]: name,
  [DATASTORE_LABEL.id]: id,
});

/** Of containers that prepare what new datastores begin with: those that a crash left go with the other jobs. */
export const templateLabels = (installation: string): Labels => ({ [LABEL.instance]: installation, ...JOB_LABELS });

/** Added to those of a datastore for its jobs. */
export const JOB_LABELS: Labels = { [LABEL.role]: 'datastore-job' satisfies DatastoreRole };
