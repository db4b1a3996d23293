/** Set by the bundler: whether this is `bun scripts/web.ts --dev`. */
declare const DEVELOPMENT: boolean;

/** Files of the examples that travel with the page, by name and path. */
declare module 'berth:examples' {
  const examples: Record<string, Record<string, string>>;
  export default examples;
}
