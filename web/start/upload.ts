import type { Accepted } from '#modules/operations';
import { ApiError, at, failureOf, OWN_REQUEST } from '../api.ts';
import { bytes } from '../ui/format.ts';

interface UploadOptions {
  project: string;
  service: string;
  archive: Blob;
  /** The same for the same deploy: if only the reply was lost, trying again gives the reply. */
  key: string;
  onProgress: (sent: number) => void;
  signal: AbortSignal;
}

/** So long nothing may move; the server waits as long. */
const STALLED_MS = 60_000;

/** Uploads an archive as a deploy. By XMLHttpRequest, since fetch tells nothing of how far an upload is. */
export const upload = ({ project, service, archive, key, onProgress, signal }: UploadOptions): Promise<Accepted> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let sent = 0;
    let stalled: ReturnType<typeof setTimeout> | undefined;
    const broken = (): void => reject(brokenOff(sent, archive.size));
    const moved = (): void => {
      clearTimeout(stalled);
      if (sent >= archive.size) return;
      stalled = setTimeout(() => {
        broken();
        request.abort();
      }, STALLED_MS);
    };
    request.open('POST', at('projects', project, 'services', service, 'deploys'));
    for (const [name, value] of Object.entries(OWN_REQUEST)) request.setRequestHeader(name, value);
    request.setRequestHeader('content-type', 'application/gzip');
    request.setRequestHeader('idempotency-key', key);
    request.upload.addEventListener('progress', ({ loaded }) => {
      sent = loaded;
      moved();
      onProgress(loaded);
    });
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText) as Accepted);
      else reject(failureOf(request.status, request.responseText, request.getResponseHeader('x-request-id')));
    });
    request.addEventListener('error', broken);
    request.addEventListener('abort', () => reject(new DOMException('canceled', 'AbortError')));
    request.addEventListener('loadend', () => clearTimeout(stalled));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(archive);
    moved();
  });

const brokenOff = (sent: number, size: number): ApiError => {
  const nearly = sent < size ? `the upload broke off after ${bytes(sent)} of ${bytes(size)}` : undefined;
  return new ApiError(
    {
      code: 'UNREACHABLE',
      message: nearly ?? 'the connection broke off before the server answered',
      hint: 'check the network, then try again: it is packed already, and is deployed only once',
      retryable: true,
    },
    0,
  );
};
