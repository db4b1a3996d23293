import { randomBytes } from 'node:crypto';

/** Prefixes of the ids that berth hands out. */
export type IdPrefix = 'op' | 'tok' | 'evt' | 'req' | 'inst' | 'ds' | 'bkp' | 'repo' | 'ses';

export type NewId = (prefix: IdPrefix) => string;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const COUNT_CHARACTERS = 3;
const RANDOM_CHARACTERS = 7;
const COUNT_LIMIT = 32 ** COUNT_CHARACTERS;

const encode = (number: number, length: number): string => {
  let text = '';
  let rest = number;
  for (let i = 0; i < length; i += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};

/**
 * Makes ids such as `op_01jd3k…`: prefix, 10 characters of milliseconds, 3 that count within one, 7 of randomness (35 bits).
 * They sort by the order in which one process made them, also when the clock jumps back.
 */
export const createIds = (now: () => number): NewId => {
  let time = 0;
  let count = 0;
  return (prefix) => {
    const at = now();
    count = at > time ? 0 : count + 1;
    if (count === COUNT_LIMIT) {
      time += 1;
      count = 0;
    }
    time = Math.max(time, at);
    const random = Array.from(randomBytes(RANDOM_CHARACTERS), (byte) => ALPHABET.charAt(byte % 32)).join('');
    return `${prefix}_${encode(time, TIME_CHARACTERS)}${encode(count, COUNT_CHARACTERS)}${random}`;
  };
};
