/** Values that say nothing: masking them would blacken ordinary words in every log. */
const HARMLESS = new Set([
  'production',
  'development',
  'staging',
  'testing',
  'enabled',
  'disabled',
  'verbose',
  'warning',
  'default',
  'localhost',
  'postgres',
  'sqlite',
  'memory',
  'undefined',
]);

const SHORTEST = 6;

/**
 * Whether a value is masked in logs. All are that have at least six characters, but for well-known words: a public value
 * that is masked costs a little comfort, a secret one that is not costs the secret. Short numbers, `true` or `info`
 * are below the length.
 */
export const worthMasking = (value: string): boolean => {
  const text = value.trim();
  return text.length >= SHORTEST && !HARMLESS.has(text.toLowerCase());
};
