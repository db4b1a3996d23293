import type { Labels } from './port.ts';

/** Whether `labels` holds every one of `wanted`. */
export const carries = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value);
