/** The closed set of error codes of the contract. */
export const ERROR_CODES = [
  'NO_PROVIDER_DETECTED',
  'BUILD_COMMAND_FAILED',
  'IMAGE_PUSH_FAILED',
  'SOURCE_TOO_LARGE',
  'TIMEOUT',
  'HEALTH_CHECK_FAILED',
  'UNAUTHENTICATED',
  'CAPABILITY_MISSING',
  'QUOTA_EXCEEDED',
  'NOT_FOUND',
  'INVALID_INPUT',
  'CONFLICT',
  'INTERNAL_ERROR',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** An error exactly as callers receive it, over HTTP, in operations, events and MCP results. */
export interface ErrorBody {
  code: ErrorCode;
  message: string;
  /** The next action to take. */
  hint: string;
  /** Whether the same request may succeed when sent again. */
  retryable: boolean;
  /** The tail of the build or application log, for build and health failures. */
  log_tail?: string;
}

export interface BerthErrorOptions {
  hint: string;
  retryable?: boolean;
  logTail?: string;
  /** Seconds after which a retry makes sense; sent as `Retry-After`. */
  retryAfterSeconds?: number;
  /** Overrides the status of the code: only for 507 (disk full), 503 (upgrade), 413 and 405 shapes of a code. */
  httpStatus?: number;
  cause?: unknown;
}

const HTTP_STATUS: Record<ErrorCode, number> = {
  UNAUTHENTICATED: 401,
  CAPABILITY_MISSING: 403,
  NOT_FOUND: 404,
  INVALID_INPUT: 400,
  CONFLICT: 409,
  SOURCE_TOO_LARGE: 413,
  NO_PROVIDER_DETECTED: 422,
  BUILD_COMMAND_FAILED: 422,
  HEALTH_CHECK_FAILED: 422,
  QUOTA_EXCEEDED: 429,
  IMAGE_PUSH_FAILED: 502,
  TIMEOUT: 504,
  INTERNAL_ERROR: 500,
};

/**
 * The one error type that crosses berth's layers. The field is called `kind`, because Elysia gives `code` on a thrown
 * error a meaning of its own.
 */
export class BerthError extends Error {
  readonly kind: ErrorCode;
  readonly hint: string;
  readonly retryable: boolean;
  readonly logTail: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly httpStatus: number;

  constructor(kind: ErrorCode, message: string, options: BerthErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'BerthError';
    this.kind = kind;
    this.hint = options.hint;
    this.retryable = options.retryable ?? false;
    this.logTail = options.logTail;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.httpStatus = options.httpStatus ?? HTTP_STATUS[kind];
  }

  toBody(): ErrorBody {
    const body: ErrorBody = { code: this.kind, message: this.message, hint: this.hint, retryable: this.retryable };
    if (this.logTail !== undefined) body.log_tail = this.logTail;
    return body;
  }
}

export const invalidInput = (message: string, hint: string): BerthError =>
  new BerthError('INVALID_INPUT', message, { hint });

export const notFound = (message: string, hint: string): BerthError => new BerthError('NOT_FOUND', message, { hint });

export const conflict = (message: string, hint: string, retryable = false): BerthError =>
  new BerthError('CONFLICT', message, { hint, retryable });

/** Turns whatever was thrown into the contract's error; an unknown one becomes INTERNAL_ERROR without its details. */
export const toBerthError = (thrown: unknown): BerthError => {
  if (thrown instanceof BerthError) return thrown;
  if (isDiskFull(thrown)) {
    return new BerthError('INTERNAL_ERROR', 'the disk of the server is full', {
      hint: 'free disk space on the server (see: berth doctor), then retry',
      retryable: true,
      httpStatus: 507,
      cause: thrown,
    });
  }
  return new BerthError('INTERNAL_ERROR', 'berth failed to carry out the request', {
    hint: 'retry once; if it persists, look at the server log and report it',
    retryable: true,
    cause: thrown,
  });
};

/** Whether a write failed because no space is left. */
export const isDiskFull = (thrown: unknown): boolean =>
  thrown instanceof Error && ('code' in thrown ? thrown.code === 'ENOSPC' || thrown.code === 'SQLITE_FULL' : false);

/** The message of whatever was thrown, for logs. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
