import { createHash, createHmac } from 'node:crypto';

export interface SignRequest {
  method: 'GET' | 'DELETE';
  url: URL;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Headers that sign a request without body, by AWS Signature Version 4. For the few calls that Bun's client does not make. */
export const signedHeaders = (request: SignRequest): Record<string, string> => {
  const { method, url, region, accessKeyId, secretAccessKey } = request;
  const time = new Date(request.now).toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = [time.slice(0, 8), region, 's3', 'aws4_request'];
  const headers: Record<string, string> = { host: url.host, 'x-amz-content-sha256': sha256(''), 'x-amz-date': time };
  const names = Object.keys(headers).sort();
  const canonical = [
    method,
    url.pathname.split('/').map(reencode).join('/'),
    [...url.searchParams]
      .map(([name, value]) => `${encode(name)}=${encode(value)}`)
      .sort()
      .join('&'),
    ...names.map((name) => `${name}:${headers[name]}`),
    '',
    names.join(';'),
    sha256(''),
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>((above, part) => hmac(above, part), `AWS4${secretAccessKey}`);
  const signature = hmac(key, text).toString('hex');
  return {
    ...headers,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join('/')},SignedHeaders=${names.join(';')},Signature=${signature}`,
  };
};

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** As S3 wants it: all but letters, digits and `-._~`. */
const encode = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const reencode = (part: string): string => encode(decodeURIComponent(part));
