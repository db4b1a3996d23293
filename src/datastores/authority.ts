import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  createAuthority as makeAuthority,
  issueCertificate,
  type AuthorityFiles,
} from '#engines/datastores/certificates';
import type { TlsFiles } from '#engines/datastores/port';
import type { Meta } from '#kernel/meta';
import type { Clock } from '#kernel/clock';
import type { Seal } from '#modules/datastores';

/** berth's own certificate authority, which vouches for datastores. */
export interface Authority {
  /** A certificate for one datastore. The authority is made with the first one. */
  issue(names: { host: string; address: string }): Promise<TlsFiles>;
  /** The authority's certificate as a file for apps, or null when there is none yet. */
  file(): string | null;
}

export interface AuthorityDeps {
  meta: Meta;
  vault: Seal;
  clock: Clock;
  /** Where the certificate is put for apps. */
  path: string;
}

const CERTIFICATE = 'datastore_ca';
const KEY = 'datastore_ca_key';

export const openAuthority = ({ meta, vault, clock, path }: AuthorityDeps): Authority => {
  let making: Promise<AuthorityFiles> | undefined;

  const known = (): AuthorityFiles | undefined => {
    const certificatePem = meta.get(CERTIFICATE);
    const key = meta.get(KEY);
    if (certificatePem === undefined || key === undefined) return undefined;
    return { certificatePem, keyPem: vault.open(KEY, Buffer.from(key, 'base64')) };
  };
  const make = async (): Promise<AuthorityFiles> => {
    const made = await makeAuthority(clock.now());
    // The key first: a certificate alone would look like an authority that lost its key.
    meta.ensure(KEY, () => Buffer.from(vault.seal(KEY, made.keyPem)).toString('base64'));
    meta.ensure(CERTIFICATE, () => made.certificatePem);
    return made;
  };
  /** Containers mount the file: it is put back when somebody took it away, and never changes in place. */
  const place = (certificatePem: string): void => {
    if (readIfThere(path) === certificatePem) return;
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(`${path}.part`, certificatePem, { mode: 0o644 });
    renameSync(`${path}.part`, path);
  };

  const present = meta.get(CERTIFICATE);
  if (present !== undefined) place(present);

  return {
    issue: async ({ host, address }) => {
      making ??= Promise.resolve(known() ?? make());
      const authority = await making;
      place(authority.certificatePem);
      return issueCertificate(authority, { host, address, now: clock.now() });
    },
    file: () => (meta.get(CERTIFICATE) === undefined ? null : path),
  };
};

const readIfThere = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
};
