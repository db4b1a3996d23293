import type { RouteEntry } from '#http/route-table';
import { BerthError, type ErrorBody, type ErrorCode } from '#kernel/errors';

/** One way in which an operation can fail. */
export interface FailureCase {
  status: number;
  /** Name of the example. */
  name: string;
  body: ErrorBody;
}

type Text = Pick<ErrorBody, 'message' | 'hint' | 'retryable' | 'log_tail'>;

const TEXTS: Record<ErrorCode, Text> = {
  NO_PROVIDER_DETECTED: {
    message: 'nothing buildable was found in the source',
    hint: 'add a Dockerfile at the source root',
    retryable: false,
  },
  BUILD_COMMAND_FAILED: {
    message: 'RUN npm run build failed with exit code 1',
    hint: 'read the last lines of its log, fix the source, then redeploy',
    retryable: false,
    log_tail: "src/index.ts(3,7): error TS2304: Cannot find name 'x'.",
  },
  IMAGE_PUSH_FAILED: {
    message: 'the image was built, but the registry did not take it',
    hint: 'retry the deploy',
    retryable: true,
  },
  SOURCE_TOO_LARGE: {
    message: 'the upload exceeds 512 MB',
    hint: 'exclude artifacts with a .serviceignore file',
    retryable: false,
  },
  TIMEOUT: { message: 'the build ran for more than 30 minutes', hint: 'reduce build work, retry', retryable: true },
  HEALTH_CHECK_FAILED: {
    message: 'nothing listened on port 8080 within 60 s',
    hint: 'bind 0.0.0.0:$PORT; the last lines of its log may say more',
    retryable: false,
    log_tail: 'listening on 127.0.0.1:3000',
  },
  UNAUTHENTICATED: {
    message: 'no bearer token',
    hint: 'send the header "Authorization: Bearer <token>"',
    retryable: false,
  },
  CAPABILITY_MISSING: {
    message: 'this token lacks the capability "deploy"',
    hint: 'use a token that has "deploy"; it has: read',
    retryable: false,
  },
  QUOTA_EXCEEDED: {
    message: 'this token sent more than 6000 requests in a minute',
    hint: 'wait 1 s, then retry',
    retryable: true,
  },
  NOT_FOUND: {
    message: 'no project named "shop"',
    hint: 'list the projects that this token can see with GET /v1/projects',
    retryable: false,
  },
  INVALID_INPUT: {
    message: 'body.replicas must be a whole number from 0 to 1000',
    hint: 'correct body.replicas',
    retryable: false,
  },
  CONFLICT: {
    message: 'service "web" has no previous release',
    hint: 'name a release, see GET /v1/projects/shop/services/web/releases',
    retryable: false,
  },
  INTERNAL_ERROR: {
    message: 'berth failed to carry out the request',
    hint: 'retry once; if it persists, look at the server log and report it',
    retryable: true,
  },
};

/** An example of an error as callers get it. */
export const errorExample = (code: ErrorCode): ErrorBody => ({ code, ...TEXTS[code] });

/** All codes that an operation can reply with: its own, and those that follow from its shape. */
export const codesOf = (entry: RouteEntry): ErrorCode[] => {
  const { meta } = entry;
  const codes = new Set<ErrorCode>(['INVALID_INPUT', 'INTERNAL_ERROR', ...meta.errors]);
  if (meta.capability !== 'public') {
    codes.add('UNAUTHENTICATED');
    codes.add('QUOTA_EXCEEDED');
    if (meta.capability !== 'any') codes.add('CAPABILITY_MISSING');
  }
  if (entry.path.includes(':')) codes.add('NOT_FOUND');
  if (takesIdempotencyKey(entry)) codes.add('CONFLICT');
  return [...codes].sort();
};

export const takesIdempotencyKey = (entry: RouteEntry): boolean => entry.mutates && entry.meta.idempotent !== false;

export const failureCases = (entry: RouteEntry): FailureCase[] => {
  const cases = codesOf(entry).map((code): FailureCase => ({
    status: new BerthError(code, '', { hint: '' }).httpStatus,
    name: code,
    body: errorExample(code),
  }));
  if (entry.readsBody) {
    const body = {
      ...errorExample('INVALID_INPUT'),
      message: 'the body is larger than 4 MiB',
      hint: 'send less at once',
    };
    cases.push({ status: 413, name: 'INVALID_INPUT', body });
  }
  if (entry.mutates) {
    const body = {
      ...errorExample('INTERNAL_ERROR'),
      message: 'the disk of the server is full',
      hint: 'free disk space on the server',
    };
    cases.push({ status: 507, name: 'INTERNAL_ERROR', body });
  }
  return cases.sort((a, b) => a.status - b.status);
};
