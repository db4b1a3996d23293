import { CliFailure, type FailureBody } from '../failure.ts';
import { VERSION } from '../version.ts';
import { explainConnection } from './connection-failures.ts';

/** The version of the server, in every reply. */
const VERSION_HEADER = 'x-berth-version';
const TEXT_READ = 64 * 1024;

/** Turns a refused reply into a failure: the API's error object, or a clear word about what else answered. */
export const failureOf = async (response: Response, url: URL): Promise<CliFailure> => {
  const text = (await response.text()).slice(0, TEXT_READ);
  const body = errorBody(text);
  const status = response.status;
  if (body === undefined) return new CliFailure(strangerBody(response, text, url), { status });
  const mismatch = isMisunderstanding(body, status) ? versionHint(response) : undefined;
  const hint = mismatch === undefined ? body.hint : `${body.hint}; ${mismatch}`;
  return new CliFailure({ ...body, hint }, { status });
};

/** A newer server may have codes and fields that this client does not know: only the core fields are looked at. */
const errorBody = (text: string): FailureBody | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('code' in value) || !('message' in value)) return undefined;
  const { code, message } = value;
  if (typeof code !== 'string' || !/^[A-Z][A-Z_]+$/.test(code) || typeof message !== 'string') return undefined;
  if (!('hint' in value) || typeof value.hint !== 'string') return undefined;
  const body: FailureBody = {
    code: code as FailureBody['code'],
    message,
    hint: value.hint,
    retryable: 'retryable' in value && value.retryable === true,
  };
  if ('log_tail' in value && typeof value.log_tail === 'string') body.log_tail = value.log_tail;
  return body;
};

/** Refusals that another version may explain: a path, a method or a field that the server does not know. */
const isMisunderstanding = ({ code, message }: FailureBody, status: number): boolean =>
  status === 405 || (code as string) === 'INVALID_INPUT' || (status === 404 && message.startsWith('no such path'));

/** What to do about versions that differ; undefined when they are the same, or the server does not say. */
export const versionHint = (response: Response): string | undefined => {
  const server = response.headers.get(VERSION_HEADER);
  return server === null ? undefined : versionAdvice(server);
};

/** The same for a version that is known. */
export const versionAdvice = (server: string, client = VERSION): string | undefined => {
  if (!/^\d+\.\d+\.\d+/.test(server)) return undefined;
  const order = Bun.semver.order(client, server);
  if (order === 0) return undefined;
  return order < 0
    ? `this client is ${client} and the server is ${server}, which is newer: upgrade the client (berth upgrade)`
    : `the server is ${server} and this client is ${client}, which is newer: upgrade the server`;
};

const WRONG_ADDRESS = 'check the address (berth login <url>): another program or a proxy seems to answer there';

const strangerBody = (response: Response, text: string, url: URL): FailureBody => {
  const { status, statusText } = response;
  const gateway = [502, 503, 504].includes(status);
  return {
    code: 'UNREACHABLE',
    message: `${url.origin} answered ${`${status} ${statusText}`.trim()}, but not as berth does`,
    hint: strangerHint(status, text, url, gateway),
    retryable: gateway || status === 429,
  };
};

const strangerHint = (status: number, text: string, url: URL, gateway: boolean): string => {
  if (gateway) return 'a proxy in between cannot reach the server: check that berth runs, then retry';
  if (status === 407) return PROXY_LOGIN;
  // What web servers say to plain HTTP on their port for HTTPS.
  if (status === 400 && url.protocol === 'http:' && /https/i.test(text))
    return `the server wants HTTPS there: use https://${url.host}`;
  return WRONG_ADDRESS;
};

const PROXY_LOGIN =
  'the proxy wants a login: put it into HTTPS_PROXY as http://user:password@proxy:port, or exempt the server with NO_PROXY';

/** A reply that should be JSON and is not. */
export const notBerth = (response: Response, url: URL): CliFailure => {
  const page = response.headers.get('content-type')?.startsWith('text/html') === true ? ' but with a web page' : '';
  return new CliFailure(
    {
      code: 'UNREACHABLE',
      message: `${url.origin} did not answer as berth does${page}`,
      hint: WRONG_ADDRESS,
      retryable: false,
    },
    { status: response.status },
  );
};

/** A redirect would lose the method or carry the token elsewhere: says where to go instead. */
export const redirected = (response: Response, url: URL): CliFailure => {
  const location = response.headers.get('location');
  const target = location === null || !URL.canParse(location, url) ? undefined : new URL(location, url);
  const secure = target?.protocol === 'https:' && url.protocol === 'http:' && target.hostname === url.hostname;
  return new CliFailure({
    code: 'UNREACHABLE',
    message: `${url.origin} redirects to ${target === undefined ? 'elsewhere' : `${target.origin}${target.pathname}`.slice(0, 200)}`,
    hint: secure
      ? `use HTTPS: berth login ${target.origin}`
      : 'log in with the final address (berth login <url>); a page to sign in at is no berth: its proxy has to let the API through',
    retryable: false,
  });
};

/** Turns what `fetch` threw into a failure that names the cause. `proxy`: the one that the request went through. */
export const unreachable = (thrown: unknown, url: URL, proxy?: string): CliFailure =>
  new CliFailure({ code: 'UNREACHABLE', ...explainConnection(thrown, url, proxy) }, { cause: thrown });
