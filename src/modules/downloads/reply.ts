import { acceptedCodings, selectPart } from '#http/representation';
import { invalidInput } from '#kernel/errors';
import type { Download } from './catalogue.ts';
import type { Transfers } from './transfers.ts';

const TYPES = { gzip: 'application/gzip', zstd: 'application/zstd' } as const;

/** Copies that are in caches are asked about before each use: the address is the same for every version. */
const CACHE = 'public, no-cache';

/** Sends an executable, or its compressed form where the client unpacks it on the way. */
export const fileReply = (
  request: Request,
  { download, packed }: { download: Download; packed: readonly Download[] },
  transfers: Transfers,
): Response => {
  const coded = negotiate(request.headers.get('accept-encoding'), packed);
  const sent = coded ?? download;
  const etag = `"${sent.sha256.slice(0, 40)}"`;
  const headers = new Headers({
    etag,
    'accept-ranges': 'bytes',
    'cache-control': CACHE,
    ...(packed.length > 0 ? { vary: 'Accept-Encoding' } : {}),
  });
  const selected = selectPart(request.headers, { etag, bytes: sent.bytes });
  if (selected.status === 304) return new Response(null, { status: 304, headers });
  if (selected.status === 416) return behindTheEnd(sent, headers);
  const name = download.packing === undefined ? 'berth' : download.name;
  headers.set('content-type', download.packing === undefined ? 'application/octet-stream' : TYPES[download.packing]);
  headers.set('content-disposition', `attachment; filename="${name}"`);
  if (coded?.packing !== undefined) headers.set('content-encoding', coded.packing);
  const { start, end } = selected.status === 206 ? selected.range : { start: 0, end: sent.bytes };
  if (selected.status === 206) headers.set('content-range', `bytes ${start}-${end - 1}/${sent.bytes}`);
  if (request.method !== 'HEAD') transfers.begin(request);
  // A part of a file is sent by the kernel, without passing through memory; a whole one would get ranges of the runtime's own.
  return new Response(Bun.file(sent.file).slice(start, end), { status: selected.status, headers });
};

const behindTheEnd = ({ bytes }: Download, headers: Headers): Response => {
  headers.set('content-range', `bytes */${bytes}`);
  const error = invalidInput(
    `the range begins behind the end: there are ${bytes} bytes`,
    'what you have is whole, or of another version: check it, or download it anew without Range',
  );
  return Response.json(error.toBody(), { status: 416, headers });
};

const negotiate = (accepted: string | null, packed: readonly Download[]): Download | undefined => {
  const packedAs = (coding: string): Download | undefined => packed.find(({ packing }) => packing === coding);
  const best = acceptedCodings(accepted, ['zstd', 'gzip']).find((coding) => packedAs(coding) !== undefined);
  return best === undefined ? undefined : packedAs(best);
};

/** A checksum as `sha256sum -c` reads it. */
export const checksumReply = ({ sha256, name }: Download): Response =>
  new Response(`${sha256}  ${name}\n`, {
    headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': CACHE },
  });
