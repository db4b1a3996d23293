import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 characters of 62: 190 bits. */
const LENGTH = 32;
/** The largest multiple of 62 that fits a byte: bytes beyond it would make some characters likelier. */
const FAIR = 248;

/** A random password of letters and digits: no URL, shell or configuration file gives any of them a meaning. */
export const newPassword = (): string => {
  let password = '';
  while (password.length < LENGTH) {
    for (const byte of randomBytes(LENGTH)) {
      if (byte < FAIR && password.length < LENGTH) password += ALPHABET.charAt(byte % ALPHABET.length);
    }
  }
  return password;
};

/** A name for a credential of apps; another at each rotation, so that two can be valid at once. */
export const newUser = (): string => `app_${randomBytes(4).toString('hex')}`;
