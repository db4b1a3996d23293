import { S3Client } from 'bun';
import type { Clock } from '#kernel/clock';
import { BerthError, conflict, invalidInput } from '#kernel/errors';
import { MAX_SMALL_BYTES, type Place, type StoredObject } from './place.ts';
import type { Bytes } from './port.ts';
import { createCalls, type Calls } from './s3-calls.ts';
import { codeOf, type Bucket } from './s3-failures.ts';
import { createUpload } from './s3-upload.ts';
import { createUnfinished } from './s3-unfinished.ts';

export interface S3Options {
  /** `https://host[:port]`. */
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Put before all object keys, such as `berth/`; may be empty. */
  prefix: string;
  /** `https://<bucket>.<host>/<key>` instead of `https://<host>/<bucket>/<key>`. */
  virtualHosted?: boolean;
  clock: Clock;
  /** Longest wait for the answer to a small call or a range. */
  deadlineMs?: number;
  /** Longest time in which the server takes no further part of an upload. */
  silenceMs?: number;
  /** How old an upload must be before `removeUnfinished` aborts it: others may write into the bucket. */
  unfinishedMs?: number;
}

const DEADLINE_MS = 60_000;
const SILENCE_MS = 300_000;
const DAY_MS = 86_400_000;
const RANGE_BYTES = 1024 * 1024;

/**
 * Objects in an S3-compatible bucket. Uploads go in parts (decisions/016); downloads by ranges, so that memory stays bounded
 * however slow the reader is, and one lost connection costs one range.
 */
export const createS3Place = (given: S3Options): Place => {
  const options = { ...given, endpoint: requireEndpoint(given.endpoint), prefix: requirePrefix(given.prefix) };
  const bucket: Bucket = { endpoint: options.endpoint, bucket: options.bucket };
  const client = new S3Client({
    endpoint: options.endpoint,
    region: options.region,
    bucket: options.bucket,
    accessKeyId: options.accessKeyId,
    secretAccessKey: options.secretAccessKey,
    virtualHostedStyle: options.virtualHosted ?? false,
  });
  const { clock, deadlineMs = DEADLINE_MS, silenceMs = SILENCE_MS } = options;
  const calls = createCalls(bucket, clock, deadlineMs);
  const upload = createUpload({ client, bucket, clock, silenceMs });
  const unfinished = createUnfinished({ ...options, bucketName: options.bucket, calls });
  const keyOf = (path: string): string => options.prefix + path;

  const list = (below: string): Promise<StoredObject[]> => listAll(client, calls, { prefix: options.prefix, below });
  /** By a listing: the answer to HEAD has no body that would say what is wrong. */
  const size = async (path: string): Promise<number | undefined> =>
    (await list(path)).find((each) => each.path === path)?.bytes;

  return {
    kind: 's3',
    write: async (path, bytes, { estimate, signal }) => {
      const sent = await upload(keyOf(path), bytes, { estimate, signal });
      const found = await size(path);
      if (found !== sent) throw notWhole(bucket, sent, found);
    },
    size,
    read: async function* (path, signal) {
      const total = await size(path);
      if (total === undefined) throw conflict(`the object ${keyOf(path)} is missing`, 'use another backup');
      yield* readRanges({ client, calls, key: keyOf(path), total, signal });
    },
    readSmall: (path) =>
      calls({ what: 'read an object' }, async () => {
        try {
          return await client.file(keyOf(path)).slice(0, MAX_SMALL_BYTES).bytes();
        } catch (thrown) {
          if (codeOf(thrown) === 'NoSuchKey') return undefined;
          // Of an empty object there is no range.
          if (codeOf(thrown) === 'InvalidRange') return new Uint8Array();
          throw thrown;
        }
      }),
    list: (folder) => list(folder === '' ? '' : `${folder}/`),
    remove: async (path) => {
      await calls({ what: 'delete an object' }, () => client.delete(keyOf(path)));
    },
    removeUnfinished: () => unfinished.abortOlderThan(options.unfinishedMs ?? DAY_MS),
  };
};

interface Ranges {
  client: S3Client;
  calls: Calls;
  key: string;
  total: number;
  signal: AbortSignal;
}

/** One range is fetched while the one before is read. */
async function* readRanges({ client, calls, key, total, signal }: Ranges): Bytes {
  const fetchFrom = (from: number): Promise<Uint8Array> =>
    calls({ what: 'read an object', signal }, async () => {
      const end = Math.min(from + RANGE_BYTES, total);
      const bytes = await client.file(key).slice(from, end).bytes();
      if (bytes.byteLength !== end - from) throw new Error('a range is not whole');
      return bytes;
    });
  let next = total > 0 ? fetchFrom(0) : undefined;
  for (let from = 0; next !== undefined;) {
    const bytes = await next;
    from += bytes.byteLength;
    next = from < total ? fetchFrom(from) : undefined;
    // When the reader leaves, nobody waits for the one under way.
    next?.catch(() => undefined);
    yield bytes;
  }
}

const listAll = async (
  client: S3Client,
  calls: Calls,
  { prefix, below }: { prefix: string; below: string },
): Promise<StoredObject[]> => {
  const found: StoredObject[] = [];
  let token: string | undefined;
  do {
    const page = await calls({ what: 'list objects' }, () =>
      client.list({ prefix: prefix + below, ...(token === undefined ? {} : { continuationToken: token }) }),
    );
    for (const { key, size = 0, lastModified } of page.contents ?? [])
      found.push({ path: key.slice(prefix.length), bytes: size, modified: Date.parse(lastModified ?? '') || 0 });
    token = page.isTruncated === true ? page.nextContinuationToken : undefined;
  } while (token !== undefined);
  return found;
};

const requireEndpoint = (endpoint: string): string => {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const plain =
    url !== undefined && url.username === '' && url.password === '' && url.pathname === '/' && url.search === '';
  if (plain && (url.protocol === 'https:' || url.protocol === 'http:')) return url.origin;
  throw invalidInput('backup_s3_endpoint is not an address', 'write https://host or https://host:port, without a path');
};

const requirePrefix = (prefix: string): string => {
  const trimmed = prefix.replace(/^\/+|\/+$/g, '');
  if (trimmed === '') return '';
  if (/^[A-Za-z0-9._/-]{1,200}$/.test(trimmed) && !trimmed.split('/').some((part) => /^\.*$/.test(part)))
    return `${trimmed}/`;
  throw invalidInput('backup_s3_prefix is not valid', 'use letters, digits, ".", "_", "-" and "/"');
};

const notWhole = ({ endpoint, bucket }: Bucket, sent: number, found: number | undefined): BerthError =>
  new BerthError(
    'INTERNAL_ERROR',
    `${endpoint} keeps ${found ?? 'none'} of the ${sent} bytes of an upload to bucket "${bucket}"`,
    { hint: 'retry; if it persists, look at the S3 server', retryable: true },
  );
