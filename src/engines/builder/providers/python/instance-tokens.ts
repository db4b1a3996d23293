import type { Token } from '../support/tokens.ts';

export interface FoundInstances {
  /** More than one when none of them has a name that says it is the app. */
  variables: string[];
  factory: boolean;
}

/** The names that frameworks themselves look for. */
const USUAL = ['app', 'api', 'application', 'server', 'asgi', 'wsgi'];
const FACTORY = /^(?:create|make|build|get)_(?:\w+_)?(?:app|application)$/;

/** App objects that a module makes at its outermost level, else the function in it that makes one. */
export const instanceIn = (tokens: Token[], constructors: readonly string[]): FoundInstances | null => {
  const assigned = new Set<string>();
  const made = new Set<string>();
  const known = factoriesKnownTo(tokens);
  for (const [index, token] of tokens.entries()) {
    if (!token.leftmost || token.kind !== 'name') continue;
    const called = callAfter(tokens, index);
    if (called === null) continue;
    if (constructors.includes(called)) assigned.add(token.text);
    else if (FACTORY.test(called) && known.has(called)) made.add(token.text);
  }
  const objects = chosen([...assigned]) ?? chosen([...made]);
  if (objects !== null) return { variables: objects, factory: false };
  const factory = factoryIn(tokens, constructors);
  return factory === null ? null : { variables: [factory], factory: true };
};

const chosen = (names: string[]): string[] | null => {
  const usual = USUAL.find((name) => names.includes(name));
  return usual !== undefined ? [usual] : names.length > 0 ? names : null;
};

/** What is called in `app = FastAPI(`, `app: FastAPI = fastapi.FastAPI(`: the last name before the bracket. */
const callAfter = (tokens: Token[], index: number): string | null => {
  const rest = tokens.slice(index + 1, index + 14);
  const equals = rest.findIndex((token) => token.text === '=' && token.kind === 'punctuation');
  if (equals < 0 || (equals > 0 && rest[0]?.text !== ':') || rest.slice(0, equals).some((token) => token.leftmost))
    return null;
  let at = equals + 1;
  while (rest[at]?.kind === 'name' && rest[at + 1]?.text === '.') at += 2;
  const name = rest[at];
  return name?.kind === 'name' && rest[at + 1]?.text === '(' ? name.text : null;
};

/** Functions that make apps, defined or imported here: `app = create_app()` is an app, too. */
const factoriesKnownTo = (tokens: Token[]): Set<string> => {
  const known = new Set<string>();
  for (const [index, token] of tokens.entries()) {
    const before = tokens[index - 1]?.text ?? '';
    if (token.kind === 'name' && FACTORY.test(token.text) && ['def', 'import', ',', '('].includes(before))
      known.add(token.text);
  }
  return known;
};

/** `def create_app():` whose body calls a constructor, and which can be called without arguments. */
const factoryIn = (tokens: Token[], constructors: readonly string[]): string | null => {
  for (const [index, token] of tokens.entries()) {
    const name = tokens[index + 1]?.text ?? '';
    if (!token.leftmost || token.text !== 'def' || !FACTORY.test(name)) continue;
    const end = tokens.findIndex((other, at) => at > index && other.leftmost && other.text !== ')');
    const body = tokens.slice(index + 2, end < 0 ? undefined : end);
    const calls = body.some(
      (other, at) => other.kind === 'name' && constructors.includes(other.text) && body[at + 1]?.text === '(',
    );
    if (calls && !needsArguments(body)) return name;
  }
  return null;
};

/** Whether a parameter list (from its bracket on) has a parameter without a default. */
const needsArguments = (tokens: Token[]): boolean => {
  let depth = 0;
  let first: Token | undefined;
  let optional = false;
  for (const token of tokens) {
    if (depth === 1 && (token.text === ',' || token.text === ')')) {
      if (first !== undefined && !optional) return true;
      first = undefined;
      optional = false;
    } else if (depth === 1 && token.kind !== 'string') {
      first ??= token;
      if (['=', '*', '/'].includes(token.text)) optional = true;
    }
    if (token.kind === 'punctuation' && '([{'.includes(token.text)) depth += 1;
    if (token.kind === 'punctuation' && ')]}'.includes(token.text)) depth -= 1;
    if (depth === 0) return false;
  }
  return false;
};
