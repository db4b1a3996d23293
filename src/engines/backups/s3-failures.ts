import { BerthError, messageOf } from '#kernel/errors';

/** Where objects are kept; secrets are not part of it, so that it may be shown. */
export interface Bucket {
  endpoint: string;
  bucket: string;
}

interface Meaning {
  codes: readonly string[];
  says: string;
  hint: string;
  retryable?: boolean;
  httpStatus?: number;
}

const SETTINGS = 'in the configuration of the server, then restart berth';

/** Codes of S3 (https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html), of servers like it, and of Bun's client. */
const MEANINGS: readonly Meaning[] = [
  {
    codes: ['SignatureDoesNotMatch', 'InvalidSecurity'],
    says: 'refuses the secret key',
    hint: `correct backup_s3_secret_key ${SETTINGS}`,
  },
  {
    codes: [
      'InvalidAccessKeyId',
      'XAdminUserNotFound',
      'InvalidToken',
      'ExpiredToken',
      'AccountProblem',
      'Unauthorized',
    ],
    says: 'does not know the access key',
    hint: `correct backup_s3_access_key ${SETTINGS}`,
  },
  {
    codes: ['AccessDenied', 'AllAccessDisabled', 'MethodNotAllowed', 'Forbidden'],
    says: 'does not allow it',
    hint: 'give the access key the rights to list the bucket and to get, put and delete objects, and to abort multipart uploads',
  },
  {
    codes: ['NoSuchBucket', 'InvalidBucketName'],
    says: 'has no such bucket',
    hint: `make the bucket, or correct backup_s3_bucket ${SETTINGS}`,
  },
  {
    codes: [
      'AuthorizationHeaderMalformed',
      'PermanentRedirect',
      'TemporaryRedirect',
      'IllegalLocationConstraintException',
    ],
    says: 'keeps the bucket in another region',
    hint: `correct backup_s3_region and backup_s3_endpoint ${SETTINGS}`,
  },
  {
    codes: ['RequestTimeTooSkewed', 'RequestExpired'],
    says: 'has another time than this server',
    hint: 'set the clock of the server (timedatectl), then retry',
  },
  {
    codes: [
      'QuotaExceeded',
      'XMinioStorageFull',
      'InsufficientStorage',
      'EntityTooLarge',
      'XMinioAdminBucketQuotaExceeded',
    ],
    says: 'has no room left',
    hint: 'free space there or raise its quota, then retry',
    retryable: true,
    httpStatus: 507,
  },
  {
    codes: [
      'DNSResolveFailed',
      'ENOTFOUND',
      'InvalidEndpoint',
      'ERR_S3_INVALID_ENDPOINT',
      'UnsupportedProtocol',
      'InvalidURL',
    ],
    says: 'has no address',
    hint: `check the name service of the server, or correct backup_s3_endpoint ${SETTINGS}`,
    retryable: true,
  },
  {
    codes: [
      'TLSHandshakeFailed',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'CERT_HAS_EXPIRED',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    ],
    says: 'has no TLS certificate that this server trusts',
    hint: 'check https:// in backup_s3_endpoint, and give berth the CA with NODE_EXTRA_CA_CERTS',
  },
];

const UNREACHABLE: Omit<Meaning, 'codes'> = {
  says: 'does not answer as it should',
  hint: 'check that backup_s3_endpoint can be reached from the server; berth tries again',
  retryable: true,
};

/** The code of what Bun's S3 client has thrown. */
export const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';

/**
 * What a failed call means and what to do. Quotes nothing of the server's answer but its code: some servers repeat the
 * signed request in the message.
 */
export const s3Failure = (bucket: Bucket, what: string, thrown: unknown): BerthError => {
  if (thrown instanceof BerthError) return thrown;
  const code = codeOf(thrown);
  const { says, hint, retryable, httpStatus } = MEANINGS.find((each) => each.codes.includes(code)) ?? UNREACHABLE;
  const detail = /^\w{1,60}$/.test(code) ? ` (${code})` : '';
  return new BerthError(
    'INTERNAL_ERROR',
    `cannot ${what} in bucket "${bucket.bucket}": ${bucket.endpoint} ${says}${detail}`,
    {
      hint,
      retryable: retryable ?? false,
      ...(httpStatus === undefined ? {} : { httpStatus }),
      cause: new Error(code === '' ? messageOf(thrown) : code),
    },
  );
};

export const s3Late = (bucket: Bucket, what: string, ms: number): BerthError =>
  new BerthError(
    'INTERNAL_ERROR',
    `cannot ${what} in bucket "${bucket.bucket}": ${bucket.endpoint} did nothing for ${Math.round(ms / 1000)} s`,
    { hint: UNREACHABLE.hint, retryable: true },
  );
