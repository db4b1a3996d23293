import { BerthError } from '#kernel/errors';
import { explainFailure, usefulTail } from './step-failure/index.ts';
import type { FailedStep } from './trace.ts';

export interface BuildFailure {
  /** What the engine said at the end. */
  said: string;
  /** The step that failed; none when the build did not get that far. */
  failed: FailedStep | undefined;
  /** The last lines of the build. */
  tail: string[];
  /** Memory of all builds together, where it is limited. */
  memoryBytes?: number | undefined;
}

/** Lines of the failing step that go into an error. */
const TAIL_LINES = 60;
const NETWORK =
  /dial tcp|no such host|i\/o timeout|TLS handshake|connection (refused|reset)|toomanyrequests|too many requests|unexpected EOF|: EOF$|deadline exceeded|50[0-4] /i;
const MISSING = /not found|pull access denied|repository does not exist|manifest unknown|authorization failed|denied/i;

/** Turns the end of a failed build into an error that names the cause and the next step. */
export const buildError = (failure: BuildFailure): BerthError => {
  const said = failure.said.replace(
    /^(?:failed to solve(?: with frontend [\w.]+)?: |failed to create LLB definition: )+/,
    '',
  );
  if (DISK_FULL.test(said)) return diskFull(said);
  const image = missingImage(failure.failed);
  if (image !== undefined) return imageError(image, said, failure);
  const line = /(?:parse error(?: on)? line |Dockerfile:)(\d+)/i.exec(said)?.[1];
  if (line !== undefined) return dockerfileError(line, said, failure);
  return failure.failed === undefined ? otherError(said, failure) : stepError(failure.failed, said, failure);
};

/** The base image whose loading failed. */
const missingImage = (failed: FailedStep | undefined): string | undefined =>
  /^(?:\[internal\] load metadata for |resolve image config for |\[[^\]]*\] FROM )(\S+)/.exec(failed?.step ?? '')?.[1];

const imageError = (image: string, said: string, failure: BuildFailure): BerthError => {
  const name = image.replace(/^docker\.io\/(?:library\/)?/, '');
  if (NETWORK.test(said)) {
    return failed(`the registry of the base image ${name} could not be reached: ${said}`, failure, {
      hint: 'retry; if it persists, check the network and the DNS of the server',
      retryable: true,
    });
  }
  const why = MISSING.test(said) ? 'was not found, or is private' : 'could not be loaded';
  const hint = 'correct the version that the source asks for, or the FROM line of its Dockerfile, then redeploy';
  return failed(`the base image ${name} ${why}: ${said}`, failure, { hint });
};

const dockerfileError = (line: string, said: string, failure: BuildFailure): BerthError =>
  failed(`the Dockerfile is not valid in line ${line}: ${said}`, failure, {
    hint: `correct line ${line} of the Dockerfile, then redeploy`,
  });

const stepError = (step: FailedStep, said: string, failure: BuildFailure): BerthError => {
  const exitCode = /exit code: (\d+)/.exec(step.error)?.[1] ?? /exit code: (\d+)/.exec(said)?.[1];
  if (exitCode === undefined) {
    return failed(`the build step "${step.step}" failed: ${step.error || said}`, failure, { hint: READ_ON });
  }
  if (DISK_FULL.test(step.tail.join('\n'))) return diskFull(said);
  const cause = explainFailure({ exitCode, tail: step.tail, memoryBytes: failure.memoryBytes });
  const message = `the build step "${step.step}" failed with exit code ${exitCode}`;
  return cause === undefined
    ? failed(message, failure, { hint: READ_ON })
    : failed(`${message}: ${cause.why}`, failure, { hint: cause.hint, retryable: cause.retryable });
};

const READ_ON = 'read the last lines of its log, fix the source, then redeploy';
const DISK_FULL = /no space left on device/i;

const otherError = (said: string, failure: BuildFailure): BerthError =>
  failed(`the build failed: ${said}`, failure, { hint: READ_ON });

const failed = (
  message: string,
  { failed: step, tail, said }: BuildFailure,
  options: { hint: string; retryable?: boolean },
): BerthError => {
  const own = step !== undefined && step.tail.length > 0 ? step.tail : tail;
  const logTail = own.length > 0 ? usefulTail(own).slice(-TAIL_LINES).join('\n') : said;
  return new BerthError('BUILD_COMMAND_FAILED', message, { ...options, logTail });
};

const diskFull = (said: string): BerthError =>
  new BerthError('INTERNAL_ERROR', `the disk of the server is full: ${said}`, {
    hint: 'free disk space on the server (see: berth doctor), then retry',
    retryable: true,
    httpStatus: 507,
  });
