import { BerthError, conflict, invalidInput, messageOf, notFound } from '#kernel/errors';

/** Socket errors that say that Docker is away; the next call opens a new connection. */
const LINK_ERRORS = new Set(['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'EACCES', 'ENOTSOCK', 'ETIMEDOUT']);
const TAKEN = /address already in use|port is already allocated|pool overlaps|already exists|has active endpoints/i;

/** The HTTP status with which Docker refused, if it was reached at all. */
export const statusOf = (thrown: unknown): number | undefined =>
  thrown instanceof Error && 'statusCode' in thrown && typeof thrown.statusCode === 'number'
    ? thrown.statusCode
    : undefined;

/** What Docker itself said, without dockerode's wrapping. */
export const engineMessage = (thrown: unknown): string => {
  if (thrown instanceof Error && 'json' in thrown && typeof thrown.json === 'object' && thrown.json !== null) {
    const { json } = thrown;
    if ('message' in json && typeof json.message === 'string') return json.message.trim();
  }
  return messageOf(thrown)
    .replace(/^\(HTTP code \d+\) [^-]* - /, '')
    .trim();
};

const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';

export const isLinkFailure = (thrown: unknown): boolean => LINK_ERRORS.has(codeOf(thrown));

/** Docker was replaced by a version that does not speak the negotiated API version any more. */
export const isVersionRefusal = (thrown: unknown): boolean =>
  statusOf(thrown) === 400 && /client version .* is too (old|new)/i.test(engineMessage(thrown));

/** Turns whatever a call to Docker threw into berth's error. `what` reads as in "Docker could not <what>". */
export const engineError = (what: string, thrown: unknown): BerthError => {
  if (thrown instanceof BerthError) return thrown;
  const said = engineMessage(thrown);
  if (isLinkFailure(thrown)) return away(what, said, thrown);
  if (/no space left on device/i.test(said)) return diskFull(what, thrown);
  const message = `Docker could not ${what}: ${said}`;
  const status = statusOf(thrown);
  if (status === 404) return notFound(message, 'it is gone or was never there: look at the state of the project');
  if (status === 409 || TAKEN.test(said)) return conflict(message, 'something else holds it: retry, or free it', true);
  if (status === 400) return invalidInput(message, 'correct what the message names');
  return new BerthError('INTERNAL_ERROR', message, { hint: 'see: berth doctor', retryable: true, cause: thrown });
};

const away = (what: string, said: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `Docker is not reachable, so it could not ${what}: ${said}`, {
    hint: 'start Docker and check its socket, see: berth doctor',
    retryable: true,
    cause,
  });

const diskFull = (what: string, cause: unknown): BerthError =>
  new BerthError('INTERNAL_ERROR', `Docker could not ${what}: the disk of the server is full`, {
    hint: 'free disk space on the server (see: berth doctor), then retry',
    retryable: true,
    httpStatus: 507,
    cause,
  });
