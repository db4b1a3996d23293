import { randomBytes } from 'node:crypto';

const SHAPE = /^brt_([0-9a-z]{20})_[0-9a-f]{64}$/;

/** Makes `brt_<id without its prefix>_<256 random bits>`. */
export const newSecret = (tokenId: string): string =>
  `brt_${tokenId.slice('tok_'.length)}_${randomBytes(32).toString('hex')}`;

/** What is stored of a secret. Plain SHA-256 is enough for 256 random bits. */
export const hashSecret = (secret: string): Uint8Array => Bun.SHA256.hash(secret) as Uint8Array;

/** The id of the token that a secret claims to be; undefined when it has not the shape of one. */
export const claimedId = (secret: string): string | undefined => {
  const part = SHAPE.exec(secret)?.[1];
  return part === undefined ? undefined : `tok_${part}`;
};
