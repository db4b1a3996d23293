import { compare } from 'semver';

export interface Build {
  version: string;
  sha256: string;
}

/** What the server's client is to this one. `other`: the same version, built from something else. */
export type Standing = 'same' | 'newer' | 'older' | 'other';

export const standingOf = (own: Build, offered: Build): Standing => {
  if (own.sha256 === offered.sha256) return 'same';
  const order = compare(offered.version, own.version);
  if (order === 0) return 'other';
  return order > 0 ? 'newer' : 'older';
};
