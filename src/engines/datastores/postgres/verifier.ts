import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);
/** Those of Postgres itself. */
const ITERATIONS = 4096;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/**
 * What Postgres stores for a password (RFC 5803, `SCRAM-SHA-256$…`): given in its place, so that no password is ever part of a
 * statement, which might end up in a log. For passwords of ASCII characters, as berth's all are.
 */
export const scramVerifier = async (password: string, salt: Uint8Array = randomBytes(SALT_BYTES)): Promise<string> => {
  const salted = await derive(password, salt, ITERATIONS, KEY_BYTES, 'sha256');
  const keyed = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64');
  const server = keyed('Server Key').toString('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${Buffer.from(salt).toString('base64')}$${stored}:${server}`;
};
