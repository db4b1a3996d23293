import { randomBytes } from 'node:crypto';

/** Prefixes of the ids that berth hands out. */
export type IdPrefix = 'op' | 'tok' | 'evt' | 'req' | 'inst';

export type NewId = (prefix: IdPrefix) => string;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

const encodeTime = (ms: number): string => {
  let text = '';
  let rest = ms;
  for (let i = 0; i < 10; i += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};

/** Makes ids such as `op_01jd3k…`: prefix, 10 characters of time, 10 of randomness (50 bits); they sort by time of creation. */
export const createIds =
  (now: () => number): NewId =>
  (prefix) => {
    const random = Array.from(randomBytes(10), (byte) => ALPHABET.charAt(byte % 32)).join('');
    return `${prefix}_${encodeTime(now())}${random}`;
  };
