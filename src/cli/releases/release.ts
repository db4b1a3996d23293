import { copyFile, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { executableName, PLATFORMS } from '#kernel/platform';
import { asReleaseManifest, MANIFEST, type ReleaseManifest } from '#kernel/release-manifest';
import type { Context } from '../context.ts';
import { CliFailure, localError } from '../failure.ts';
import { checkFile, fetchFile, type Download, type Wanted } from '../self/fetch-executable.ts';

/** The executables of one version, somewhere. */
export interface Release {
  /** As people call it. */
  from: string;
  manifest: ReleaseManifest;
  /** Brings one of its files, checked. */
  bring: (wanted: Wanted, to: string) => Promise<void>;
}

/** One that is downloaded. */
export interface RemoteRelease extends Release {
  download: Download;
}

export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text);

/** The release at an address: of a server, of a folder with `manifest.json`, or of one of its files. */
export const releaseAt = async (context: Context, url: string): Promise<RemoteRelease> => {
  requireSafe(url);
  const place = url
    .replace(/[?#].*$/, '')
    .replace(EXECUTABLE, '')
    .replace(/\/+$/, '');
  for (const endpoint of place.endsWith('/dl') ? [place] : [`${place}/dl`, place]) {
    const api = await context.apiFor({ endpoint, token: undefined, ca: undefined });
    const manifest = asReleaseManifest(await unlessMissing(api.releaseManifest()));
    if (manifest === undefined) continue;
    const download: Download = api.downloadRelease;
    return { from: endpoint, manifest, download, bring: (wanted, to) => fetchFile(download, wanted, to) };
  }
  throw localError(
    `${place} has no ${MANIFEST}, which lists executables`,
    `name a server (https://apps.example.com), or the address of a folder with all that "bun run build" wrote to dist/downloads`,
  );
};

/** The release in a folder, or beside a file; undefined when there is none. */
export const releaseIn = async (path: string): Promise<Release | undefined> => {
  const folder = (await stat(path)).isDirectory() ? path : dirname(path);
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch(() => undefined);
  const manifest = text === undefined ? undefined : asReleaseManifest(parsed(text));
  if (manifest === undefined) return undefined;
  const bring = async (wanted: Wanted, to: string): Promise<void> => {
    await copyFile(join(folder, wanted.name), to);
    await checkFile(to, wanted);
  };
  return { from: folder, manifest, bring };
};

const EXECUTABLE = new RegExp(`/(?:${PLATFORMS.map(executableName).join('|')})$`);

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/** A checksum from the same place proves nothing there. */
const requireSafe = (address: string): void => {
  if (!URL.canParse(address)) throw localError(`${address} is not an address`, 'write it as https://host/folder');
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:' || LOOPBACK.test(hostname)) return;
  throw localError(
    `whatever comes from ${address} could be changed on its way`,
    'use https, or bring the files to this machine by another way and name the file or folder',
  );
};

/** Undefined for what is not there (404), or is something else: a web page, say (200). */
const unlessMissing = async (reply: Promise<unknown>): Promise<unknown> => {
  try {
    return await reply;
  } catch (thrown) {
    if (thrown instanceof CliFailure && (thrown.status === 404 || thrown.status === 200)) return undefined;
    throw thrown;
  }
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
};
