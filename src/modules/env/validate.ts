import { invalidInput } from '#kernel/errors';
import { ENV_NAME_PATTERN } from '#kernel/schema';

export const MAX_VALUE_BYTES = 64 * 1024;
export const MAX_NAMES = 500;
/** The kernel refuses to start a process whose environment is much larger. */
export const MAX_TOTAL_BYTES = 1024 * 1024;

const NAME = new RegExp(ENV_NAME_PATTERN);

export type EnvChanges = ReadonlyMap<string, string | null>;

/** Accepts the map itself, and the map alone under `env`. Throws INVALID_INPUT that names the variable, never its value. */
export const parseEnvBody = (body: unknown): EnvChanges => {
  const map = unwrap(body);
  const entries = Object.entries(map);
  if (entries.length === 0) {
    throw invalidInput('the body names no variable', 'send {"NAME": "value"}; null unsets a name');
  }
  const changes = new Map<string, string | null>();
  for (const [name, value] of entries) changes.set(validName(name), validValue(name, value));
  return changes;
};

const unwrap = (body: unknown): object => {
  if (!isMap(body)) throw invalidInput('the body must be a JSON object', 'send {"NAME": "value"}; null unsets a name');
  const inner: unknown = 'env' in body && Object.keys(body).length === 1 ? body.env : undefined;
  return isMap(inner) ? inner : body;
};

const isMap = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);

const validName = (name: string): string => {
  if (NAME.test(name)) return name;
  throw invalidInput(
    `${JSON.stringify(name.slice(0, 60))} is no name of an environment variable`,
    'letters, digits and underscores; it does not start with a digit, and has at most 128 characters',
  );
};

const validValue = (name: string, value: unknown): string | null => {
  if (value === null) return null;
  if (typeof value !== 'string')
    throw invalidInput(`${name} must be a string or null`, `quote it: {"${name}": "value"}`);
  if (value.includes('\0'))
    throw invalidInput(`${name} contains a NUL byte`, 'encode binary values, for example as base64');
  if (!value.isWellFormed())
    throw invalidInput(`${name} contains half of a surrogate pair`, 'send complete Unicode characters');
  if (Buffer.byteLength(value) > MAX_VALUE_BYTES) {
    throw invalidInput(`${name} has more than ${MAX_VALUE_BYTES} bytes`, 'keep large values in a file or a datastore');
  }
  if (name === 'PORT' && !isPort(value)) {
    throw invalidInput(
      'PORT must be a number from 1 to 65535',
      'set it to the port that the app listens on, or unset it for 8080',
    );
  }
  return value;
};

const isPort = (value: string): boolean => /^[1-9]\d{0,4}$/.test(value) && Number(value) <= 65_535;

/** Checks the environment as it would be after the change. */
export const requireFits = (env: ReadonlyMap<string, string>): void => {
  if (env.size > MAX_NAMES) {
    throw invalidInput(
      `the project would have ${env.size} variables, ${MAX_NAMES} are possible`,
      'unset some with null',
    );
  }
  let total = 0;
  for (const [name, value] of env) total += name.length + Buffer.byteLength(value) + 2;
  if (total > MAX_TOTAL_BYTES) {
    throw invalidInput(
      `the environment would have ${total} bytes, ${MAX_TOTAL_BYTES} are possible`,
      'keep large values in a file or a datastore',
    );
  }
};
