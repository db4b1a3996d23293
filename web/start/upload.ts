import type { Accepted } from '#modules/operations';
import { at, failureOf, OWN_REQUEST, unreachable } from '../api.ts';

interface UploadOptions {
  project: string;
  service: string;
  archive: Blob;
  onProgress: (sent: number) => void;
  signal: AbortSignal;
}

/** Uploads an archive as a deploy. By XMLHttpRequest, since fetch tells nothing of how far an upload is. */
export const upload = ({ project, service, archive, onProgress, signal }: UploadOptions): Promise<Accepted> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', at('projects', project, 'services', service, 'deploys'));
    for (const [name, value] of Object.entries(OWN_REQUEST)) request.setRequestHeader(name, value);
    request.setRequestHeader('content-type', 'application/gzip');
    request.upload.addEventListener('progress', ({ loaded }) => onProgress(loaded));
    request.addEventListener('load', () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText) as Accepted);
      else reject(failureOf(request.status, request.responseText, request.getResponseHeader('x-request-id')));
    });
    request.addEventListener('error', () => reject(unreachable()));
    request.addEventListener('abort', () => reject(new DOMException('canceled', 'AbortError')));
    signal.addEventListener('abort', () => request.abort(), { once: true });
    request.send(archive);
  });
