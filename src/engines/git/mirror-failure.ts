import { invalidInput, type BerthError } from '#kernel/errors';
import { brokenServer, noRepository, refusedCredential } from './locate.ts';
import type { GitFailure } from './run.ts';

/** What git said about a fetch that failed, as the error of the contract. */
export const mirrorFailure = (failure: GitFailure): BerthError => {
  const said = failure.stderr;
  const status = /returned error: (\d{3})/.exec(said)?.[1];
  if (status === '401' || status === '403' || /Authentication failed|could not read Username/.test(said))
    return refusedCredential(status ?? '401');
  if (status === '404' || status === '410' || /repository '.*' not found/.test(said))
    return noRepository('it is not there any more');
  if (/^(?:fatal|error): (?:fsck error|.*object [0-9a-f]{40,64}: )|fsck error|mismatched algorithms/m.test(said)) {
    return invalidInput(
      `git refuses what is in the repository: ${essence(said)}`,
      'repair its history there (git fsck names the objects), or push what you need to a repository of berth',
    );
  }
  return brokenServer(essence(said), failure);
};

const MAX_SHOWN = 300;

/** The lines with the cause, without control characters; the other server wrote part of them. */
const essence = (said: string): string =>
  said
    .split('\n')
    .filter((line) => /^(?:fatal|error|remote): /.test(line))
    .join('; ')
    // oxlint-disable-next-line no-control-regex -- they are what is removed
    .replaceAll(/[\0-\x1f\x7f-\x9f]+/g, ' ')
    .slice(0, MAX_SHOWN)
    .trim() || 'git gives no reason';
