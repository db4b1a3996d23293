import { serviceUrl, type Config } from '#kernel/config';
import { BerthError, isDiskFull, toBerthError } from '#kernel/errors';
import type { Outcome } from '#modules/operations';
import type { ReleaseRow } from '#modules/releases';
import type { ServiceRow } from '#modules/services';

/** The release serves. */
export const succeeded = (config: Config, service: ServiceRow, release: ReleaseRow): Outcome => ({
  phase: 'healthy',
  error: null,
  result: {
    release: release.id,
    digest: release.digest,
    size_bytes: release.size_bytes,
    replicas: service.replicas,
    ...(release.commit_id === null ? {} : { commit: release.commit_id }),
    service_url: serviceUrl(config, service.project, service.name),
  },
});

/** The rollout failed, and what served before serves on. */
export const rolledBack = (service: ServiceRow, error: unknown): Outcome => ({
  phase: 'rolled_back',
  error: error instanceof BerthError || isDiskFull(error) ? toBerthError(error) : unknownFailure(error),
  result: { live_release: service.live_release },
});

const unknownFailure = (cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', 'the rollout failed; the release before it still serves', {
    hint: 'retry; if it persists, see the server log',
    retryable: true,
    cause,
  });

/** The same error with known secrets hidden. */
export const maskError = (error: unknown, mask: (text: string) => string): unknown => {
  if (!(error instanceof BerthError)) return error;
  return new BerthError(error.kind, mask(error.message), {
    hint: error.hint,
    retryable: error.retryable,
    httpStatus: error.httpStatus,
    ...(error.logTail === undefined ? {} : { logTail: error.logTail.split('\n').map(mask).join('\n') }),
    cause: error.cause,
  });
};
