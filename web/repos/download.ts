import type { FileView } from '#modules/repos';
import { ApiError, call } from '../api.ts';
import type { RepoId } from './places.ts';
import { nameOf } from './places.ts';
import { repoApi } from './reads.ts';

const RANGE = 4 * 1024 ** 2;
/** Held in the page's memory; larger ones are for git. */
const LARGEST = 256 * 1024 ** 2;

/** Reads the whole file in ranges, of the commit that it was shown at, and gives it to the browser to keep. */
export const downloadFile = async (id: RepoId, { path, commit, size }: FileView): Promise<void> => {
  if (size > LARGEST)
    throw new ApiError(
      { code: 'TOO_LARGE', message: 'it is too large for a browser', hint: 'clone the repository', retryable: false },
      0,
    );
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let offset: number | null = 0;
  while (offset !== null) {
    const part: FileView = await call<FileView>('GET', repoApi(id, 'file'), {
      query: { path, ref: commit, offset, length: RANGE },
    });
    parts.push(bytesOf(part));
    offset = part.next_offset;
  }
  const url = URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = nameOf(path);
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
};

const bytesOf = ({ encoding, content }: FileView): Uint8Array<ArrayBuffer> =>
  encoding === 'utf-8'
    ? new TextEncoder().encode(content)
    : Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
