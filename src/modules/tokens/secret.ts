import { randomBytes } from 'node:crypto';

const PREFIX = 'brt_';
const ID_ENDS = PREFIX.length + 20;
const LENGTH = ID_ENDS + 1 + 64;

/** Makes `brt_<id without its prefix>_<256 random bits>`. */
export const newSecret = (tokenId: string): string =>
  `${PREFIX}${tokenId.slice('tok_'.length)}_${randomBytes(32).toString('hex')}`;

/** What is stored of a secret. Plain SHA-256 is enough for 256 random bits. */
export const hashSecret = (secret: string): Uint8Array => Bun.SHA256.hash(secret) as Uint8Array;

/**
 * The id (without its prefix) of the token that a secret claims to be; undefined when it has not the outline of one. Every
 * request comes by here, so what the comparison of the whole secret finds anyway is not looked at.
 */
export const claimedId = (secret: string): string | undefined =>
  secret.length === LENGTH && secret.startsWith(PREFIX) && secret[ID_ENDS] === '_'
    ? secret.slice(PREFIX.length, ID_ENDS)
    : undefined;
