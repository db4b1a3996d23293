import type { OperationRow } from './store.ts';

/** A part of a project that operations work on. */
export type OperationTarget = { service: string } | { datastore: string };

type Where = Pick<OperationRow, 'project' | 'service' | 'datastore'>;

/** Whether it works on the whole project. */
export const isWide = (row: Where): boolean => row.service === null && row.datastore === null;

export const isOn = (row: Where, target: OperationTarget): boolean =>
  'service' in target ? row.service === target.service : row.datastore === target.datastore;

/** Whether `earlier` must end before `row` may begin. */
export const holdsBack = (earlier: Where, row: Where): boolean =>
  earlier.project === row.project &&
  (isWide(earlier) || isWide(row) || (earlier.service === row.service && earlier.datastore === row.datastore));
