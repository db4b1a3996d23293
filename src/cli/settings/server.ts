import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Io } from '../io.ts';
import { fileFault, localError, usageError } from '../failure.ts';
import { didYouMean } from '../suggest.ts';
import { configFile, readProfiles, type Profiles } from './profiles.ts';

/** Where a command talks to, and where that came from. */
export interface ServerSettings {
  endpoint: string;
  token: string | undefined;
  profile: string | undefined;
  /** Certificates of a private authority, PEM. */
  ca: string | undefined;
}

export interface ServerFlags {
  endpoint?: string | undefined;
  token?: string | undefined;
  profile?: string | undefined;
  /** A file. */
  ca?: string | undefined;
}

/** Like `findServer`; none is a usage error. */
export const resolveServer = async (io: Io, flags: ServerFlags): Promise<ServerSettings> => {
  const found = await findServer(io, flags);
  if (found !== undefined) return found;
  throw usageError('no server is set', 'run: berth login <url>, or give --endpoint, or set SERVICE_ENDPOINT');
};

/** Flags, then SERVICE_ENDPOINT and SERVICE_TOKEN, then the profile. A saved token goes to its own server only. */
export const findServer = async (io: Io, flags: ServerFlags): Promise<ServerSettings | undefined> => {
  const saved = await readProfiles(configFile(io));
  const wanted = flags.profile ?? io.env['BERTH_PROFILE'];
  if (wanted !== undefined && saved.profiles[wanted] === undefined) {
    const names = Object.keys(saved.profiles);
    const list = names.length === 0 ? 'none is saved; run: berth login <url>' : `saved: ${names.join(', ')}`;
    throw usageError(`no profile named "${wanted}"`, didYouMean(wanted, names, list));
  }
  const given = flags.endpoint ?? (wanted === undefined ? nonEmpty(io.env['SERVICE_ENDPOINT']) : undefined);
  const token = flags.token ?? (wanted === undefined ? nonEmpty(io.env['SERVICE_TOKEN']) : undefined);
  const profile = profileFor(saved, given, wanted);
  const fromProfile = profile === undefined ? undefined : saved.profiles[profile];
  const endpoint = given === undefined ? fromProfile?.endpoint : normalEndpoint(given);
  if (endpoint === undefined) return undefined;
  const own = fromProfile?.endpoint === endpoint ? fromProfile : undefined;
  const caFile = flags.ca ?? nonEmpty(io.env['BERTH_CA']);
  const ca = caFile === undefined ? own?.ca : await readCa(resolve(io.cwd, caFile));
  return { endpoint, token: token ?? own?.token, profile, ca };
};

/** The certificates in a PEM file. */
export const readCa = async (file: string): Promise<string> => {
  const text = await readFile(file, 'utf8').catch((thrown: unknown) => {
    throw fileFault(`cannot read the certificate ${file}`, thrown);
  });
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw localError(
    `${file} holds no certificate in PEM form`,
    'convert it: openssl x509 -inform der -in FILE -out ca.pem',
  );
};

/** The profile asked for; else, for a given endpoint, the one of that same server; else the current one. */
const profileFor = (saved: Profiles, given: string | undefined, wanted: string | undefined): string | undefined => {
  if (wanted !== undefined) return wanted;
  if (given === undefined) return saved.current ?? undefined;
  const endpoint = normalEndpoint(given);
  return Object.entries(saved.profiles).find(([, profile]) => profile.endpoint === endpoint)?.[0];
};

const nonEmpty = (text: string | undefined): string | undefined =>
  text === undefined || text.trim() === '' ? undefined : text.trim();

/** An address as it is compared and saved: with scheme, without a slash or `/v1` at the end. */
export const normalEndpoint = (text: string): string => {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${isLocal(text) ? 'http' : 'https'}://${text}`;
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw usageError(`"${text}" is no address`, 'write it as https://api.example.com');
  }
  const web = url.protocol === 'http:' || url.protocol === 'https:';
  if (!web || url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw usageError(
      `"${text}" is no address of a server`,
      'write it as https://api.example.com, without user, query or fragment',
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/v1$/, '')}`;
};

const isLocal = (text: string): boolean => /^(?:localhost|127\.[\d.]+|\[::1\]|.*\.localhost)(?:[:/]|$)/i.test(text);

/** Whether a token would cross a network unprotected. */
export const isPlainRemote = (endpoint: string): boolean => {
  const { protocol, host } = new URL(endpoint);
  return protocol === 'http:' && !isLocal(host);
};
