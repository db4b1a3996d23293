import { queryOptions } from '@tanstack/react-query';
import type { Comparison } from '#modules/releases';
import { at, call } from '../api.ts';

export interface Compared {
  project: string;
  service: string;
  /** The release that is looked at, and the one that it is held against. */
  release: string;
  against: string;
}

/** What a release has that another one has not. Releases never change, but one may come to be live. */
export const comparisonRead = ({ project, service, release, against }: Compared) =>
  queryOptions({
    queryKey: ['releases', project, service, 'compare', release, against],
    queryFn: ({ signal }) =>
      call<Comparison>('GET', at('projects', project, 'services', service, 'releases', release, 'compare'), {
        signal,
        query: { with: against },
      }),
  });
