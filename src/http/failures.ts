import { BerthError, invalidInput, notFound, toBerthError, type ErrorBody } from '#kernel/errors';
import { isBasic } from './context.ts';
import { describeFindings, type Finding } from './validation.ts';

/** What the framework hands to its error hook. */
export interface Failure {
  error: unknown;
  request: Request;
  set: { status?: number | string; headers: Record<string, string | number | string[]> };
}

/** Turns whatever was thrown on the way into the contract's reply. Faults of berth itself are logged, never told. */
export const createOnError =
  (onFault: (message: string, thrown: unknown, requestId: string) => void) =>
  ({ error, request, set }: Failure): ErrorBody | string => {
    const failure = translate(error, request);
    // What breaks because the client went away is no fault, and nobody reads the reply.
    if (failure.kind === 'INTERNAL_ERROR' && failure.httpStatus !== 503 && !request.signal.aborted) {
      onFault('a request failed', failure.cause ?? failure, String(set.headers['x-request-id'] ?? ''));
    }
    const basic = isBasic(request);
    set.status = failure.httpStatus;
    set.headers['content-type'] = basic ? 'text/plain; charset=utf-8' : 'application/json';
    if (failure.retryAfterSeconds !== undefined) set.headers['retry-after'] = String(failure.retryAfterSeconds);
    if (failure.kind === 'UNAUTHENTICATED') set.headers['www-authenticate'] = basic ? BASIC_CHALLENGE : 'Bearer';
    return basic ? `${failure.message}\n${failure.hint}\n` : failure.toBody();
  };

const BASIC_CHALLENGE = 'Basic realm="berth", charset="UTF-8"';

/** Names of Elysia's own errors; checked by name, because bundling may load its classes twice. */
const translate = (error: unknown, request: Request): BerthError => {
  if (error instanceof BerthError) return error;
  if (!(error instanceof Error)) return toBerthError(error);
  if (error.cause instanceof BerthError && codeOf(error) === 'PARSE') return error.cause;
  switch (codeOf(error)) {
    case 'VALIDATION':
      return translateValidation(error as ValidationFailure, request);
    case 'PARSE':
      return new BerthError('INVALID_INPUT', 'the body cannot be read', { hint: 'send one JSON object', cause: error });
    case 'NOT_FOUND':
      return notFound('no such path', 'see GET /v1/openapi for all paths');
    default:
      return toBerthError(error);
  }
};

const codeOf = (error: Error): unknown => ('code' in error ? error.code : undefined);

interface ValidationFailure extends Error {
  /** Where: `body`, `query`, `params`, `headers`, `response`, or `property` for a transformed query parameter. */
  type: string;
  all: Finding[];
  value: unknown;
}

const translateValidation = (error: ValidationFailure, request: Request): BerthError => {
  if (error.type === 'response')
    return toBerthError(new Error(`the reply does not match its schema: ${describe(error)}`));
  const findings = error.all;
  if (error.type === 'property')
    return describeFindings(
      'query',
      findings.map((finding) => relocate(finding, error.value, request)),
    );
  if (findings.length === 0) return invalidInput(`${error.type} is not valid`, 'follow the schema in GET /v1/openapi');
  return describeFindings(error.type === 'params' ? 'path' : error.type, findings);
};

const describe = (error: ValidationFailure): string =>
  error.all
    .slice(0, 3)
    .map((finding) => `${finding.path} ${finding.message}`)
    .join('; ');

/** The framework loses the name of a number in the query that is out of range: find it by its value. */
const relocate = (finding: Finding, value: unknown, request: Request): Finding => {
  if (finding.path !== '') return finding;
  for (const [name, text] of new URL(request.url).searchParams) {
    if (text === String(value) || Number(text) === value) return { ...finding, path: `/${name}` };
  }
  return finding;
};
