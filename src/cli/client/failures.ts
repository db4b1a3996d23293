import { ERROR_CODES, messageOf } from '#kernel/errors';
import { CliFailure, type FailureBody } from '../failure.ts';

/** Turns a refused reply into a failure: the API's error object, or a clear word about what else answered. */
export const failureOf = async (response: Response, url: URL): Promise<CliFailure> => {
  const text = await response.text();
  const body = errorBody(text);
  const status = response.status;
  if (body !== undefined) return new CliFailure(body, { status });
  return new CliFailure(strangerBody(response, url), { status });
};

const errorBody = (text: string): FailureBody | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || !('code' in value) || !('message' in value)) return undefined;
  const code = ERROR_CODES.find((known) => known === value.code);
  if (code === undefined || typeof value.message !== 'string') return undefined;
  const hint = 'hint' in value && typeof value.hint === 'string' ? value.hint : '';
  const body: FailureBody = {
    code,
    message: value.message,
    hint,
    retryable: 'retryable' in value && value.retryable === true,
  };
  if ('log_tail' in value && typeof value.log_tail === 'string') body.log_tail = value.log_tail;
  return body;
};

const strangerBody = (response: Response, url: URL): FailureBody => {
  const gateway = [502, 503, 504].includes(response.status);
  return {
    code: 'UNREACHABLE',
    message: `${url.origin} answered ${response.status} ${response.statusText}, but not as berth does`,
    hint: gateway
      ? 'a proxy in between cannot reach the server: check that berth runs, then retry'
      : 'check the address (berth login <url>): another program or a proxy seems to answer there',
    retryable: gateway || response.status === 429,
  };
};

/** A reply that should be JSON and is not. */
export const notBerth = (url: URL): CliFailure =>
  new CliFailure({
    code: 'UNREACHABLE',
    message: `${url.origin} did not answer as berth does`,
    hint: 'check the address (berth login <url>): another program or a proxy seems to answer there',
    retryable: false,
  });

/** Turns what `fetch` threw into a failure that names the cause. */
export const unreachable = (thrown: unknown, url: URL): CliFailure => {
  const code = errorCodeOf(thrown);
  const { message, hint, retryable } = explain(code, messageOf(thrown), url);
  return new CliFailure({ code: 'UNREACHABLE', message, hint, retryable }, { cause: thrown });
};

const errorCodeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';

interface Explanation {
  message: string;
  hint: string;
  retryable: boolean;
}

const explain = (code: string, message: string, url: URL): Explanation => {
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/.test(code)) {
    return {
      message: `the certificate of ${url.host} is not trusted: ${message}`,
      hint: 'for a private CA, set NODE_EXTRA_CA_CERTS to its certificate; else check the address and the clock',
      retryable: false,
    };
  }
  if (/TLS|SSL|EPROTO/i.test(code)) {
    return {
      message: `TLS with ${url.host} failed: ${message}`,
      hint: `does the server speak HTTPS there? Without it, use http://${url.host}`,
      retryable: false,
    };
  }
  if (/ENOTFOUND|EAI_|DNS/i.test(code)) {
    return {
      message: `the name ${url.hostname} is not known`,
      hint: 'check the address for typos, and the DNS of this machine',
      retryable: true,
    };
  }
  const cause =
    code === 'ConnectionRefused' || code === 'ECONNREFUSED'
      ? 'nothing listens there'
      : message || code || 'no connection';
  return {
    message: `cannot reach ${url.origin}: ${cause}`,
    hint: 'check that the server runs and that the address is right; on the server: berth doctor',
    retryable: true,
  };
};
