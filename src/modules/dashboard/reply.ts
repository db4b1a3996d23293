import { createHash } from 'node:crypto';
import { acceptedCodings, selectPart } from '#http/representation';
import type { WebFile, WebFiles } from './files.ts';

/**
 * Nothing but this server's own files is loaded, nothing inline runs or styles, text never becomes markup by the DOM's string
 * sinks (Trusted Types), and no other page can frame it.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const PAGE_HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // The address stays the same when the page changes.
  'cache-control': 'no-cache',
};

const ASSET_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'public, max-age=31536000, immutable',
};

export const pageReply = (web: WebFiles, request: Request): Response => {
  const { page } = web.manifest;
  return fileReply(web, request, { file: page, version: versionOf(web, page), headers: PAGE_HEADERS });
};

export const assetReply = (web: WebFiles, request: Request, asset: WebFile): Response =>
  fileReply(web, request, {
    file: asset,
    version: asset.path.slice(asset.path.lastIndexOf('/') + 1),
    headers: ASSET_HEADERS,
  });

interface Sent {
  file: WebFile;
  /** Changes with the content. */
  version: string;
  headers: Record<string, string>;
}

/** Parts are not offered: no file is large. */
const fileReply = (web: WebFiles, request: Request, { file, version, headers: own }: Sent): Response => {
  const { coding, bytes } = encoded(web, request, file);
  // Each coding is other bytes, and has a name of its own (RFC 9110, 8.8.3.3).
  const etag = coding === undefined ? `"${version}"` : `"${version}.${coding}"`;
  const headers = new Headers({ ...own, etag, vary: 'Accept-Encoding' });
  const conditions = new Headers();
  const known = request.headers.get('if-none-match');
  if (known !== null) conditions.set('if-none-match', known);
  if (selectPart(conditions, { etag, bytes: file.bytes }).status === 304)
    return new Response(null, { status: 304, headers });
  headers.set('content-type', file.type);
  headers.set('content-length', String(bytes.length));
  if (coding !== undefined) headers.set('content-encoding', coding);
  return new Response(bytes, { headers });
};

const SUFFIX = { br: '.br', gzip: '.gz' } as const;
type Coding = keyof typeof SUFFIX;

const encoded = (
  web: WebFiles,
  request: Request,
  file: WebFile,
): { coding: Coding | undefined; bytes: Uint8Array<ArrayBuffer> } => {
  const offered: Coding[] = [
    ...(file.brotli === null ? [] : ['br' as const]),
    ...(file.gzip === null ? [] : ['gzip' as const]),
  ];
  for (const coding of acceptedCodings(request.headers.get('accept-encoding'), offered)) {
    const bytes = web.read(`${file.file}${SUFFIX[coding]}`);
    if (bytes !== undefined) return { coding, bytes: owned(bytes) };
  }
  return { coding: undefined, bytes: owned(plain(web, file)) };
};

const plain = (web: WebFiles, file: WebFile): Uint8Array => {
  const bytes = web.read(file.file);
  if (bytes !== undefined) return bytes;
  const packed = web.read(`${file.file}${SUFFIX.gzip}`);
  if (packed === undefined) throw new Error(`the dashboard has no file ${file.file}`);
  return Bun.gunzipSync(owned(packed));
};

/** What the types of a reply's body ask for; files are never shared memory. */
const owned = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => bytes as Uint8Array<ArrayBuffer>;

const versions = new WeakMap<WebFile, string>();

const versionOf = (web: WebFiles, page: WebFile): string => {
  const known = versions.get(page);
  if (known !== undefined) return known;
  const version = createHash('sha256').update(plain(web, page)).digest('base64url').slice(0, 27);
  versions.set(page, version);
  return version;
};
