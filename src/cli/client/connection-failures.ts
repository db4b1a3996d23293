import { messageOf } from '#kernel/errors';

export interface Explanation {
  message: string;
  hint: string;
  retryable: boolean;
}

/** Says why there was no reply, by the codes of Bun's `fetch` (those of Node where it has them). */
export const explainConnection = (thrown: unknown, url: URL, proxy: string | undefined): Explanation => {
  const code = errorCodeOf(thrown);
  const explained = explainTls(code, url) ?? (proxy === undefined ? undefined : explainProxy(code, thrown, proxy));
  if (explained !== undefined) return explained;
  if (/ENOTFOUND|EAI_|DNS/i.test(code)) {
    return {
      message: `the name ${url.hostname} is not known`,
      hint: 'check the address for typos, and the DNS of this machine',
      retryable: code !== 'ENOTFOUND',
    };
  }
  return {
    message: `cannot reach ${url.origin}: ${causeOf(code, thrown)}`,
    hint: hintFor(code, url),
    retryable: code !== 'Malformed_HTTP_Response',
  };
};

const errorCodeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : '';

const CAUSES: Readonly<Record<string, string>> = {
  ConnectionRefused: 'nothing listens there',
  ECONNREFUSED: 'nothing listens there',
  ConnectionClosed: 'the connection broke off',
  ECONNRESET: 'the connection broke off',
  EPIPE: 'the connection broke off',
  ETIMEDOUT: 'no answer',
  EHOSTUNREACH: 'there is no way to that machine',
  ENETUNREACH: 'there is no way to that network',
  Malformed_HTTP_Response: 'what answers there does not speak HTTP',
};

const causeOf = (code: string, thrown: unknown): string =>
  CAUSES[code] ??
  (messageOf(thrown).replace(/\s*For more information, pass `verbose.*$/, '') || code || 'no connection');

const hintFor = (code: string, url: URL): string => {
  const check = 'check that the server runs and that the address is right; on the server: berth doctor';
  const closed = code === 'ECONNRESET' || code === 'Malformed_HTTP_Response';
  // A port for HTTPS hangs up on plain HTTP without a word.
  return closed && url.protocol === 'http:' ? `${check}; if it serves HTTPS there, use https://${url.host}` : check;
};

const CA_HINT =
  'for a private authority, give its certificate: --ca FILE (berth login saves it), or NODE_EXTRA_CA_CERTS';

const explainTls = (code: string, { host, hostname }: URL): Explanation | undefined => {
  const refuse = (why: string, hint: string): Explanation => ({
    message: `the certificate of ${host} is not trusted: ${why}`,
    hint,
    retryable: false,
  });
  if (code === 'CERT_HAS_EXPIRED')
    return refuse('it has expired', 'renew it on the server, and check the clock of this machine');
  if (code === 'CERT_NOT_YET_VALID')
    return refuse('it is not valid yet', 'check the clock of this machine and of the server');
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return refuse(
      `it is for another name than ${hostname}`,
      'use the name that the certificate is for, or check the address',
    );
  if (code === 'DEPTH_ZERO_SELF_SIGNED_CERT')
    return refuse('it is self-signed', `if it is the right one, trust it itself: --ca FILE; ${CA_HINT}`);
  if (/CERT|SELF_SIGNED|UNABLE_TO_/.test(code)) return refuse('no authority known here has issued it', CA_HINT);
  if (!/TLS|SSL|EPROTO/i.test(code)) return undefined;
  return {
    message: `TLS with ${host} failed: there is no HTTPS, or of another version`,
    hint: `does the server speak HTTPS there? Without it, use http://${host}`,
    retryable: false,
  };
};

const explainProxy = (code: string, thrown: unknown, proxy: string): Explanation | undefined => {
  const through = `the proxy ${proxy} (HTTPS_PROXY or HTTP_PROXY)`;
  const exempt = 'exempt the server with NO_PROXY';
  if (code === 'ERR_PROXY_TUNNEL') {
    const answer = /: (\d{3}.*)$/.exec(messageOf(thrown))?.[1] ?? 'a refusal';
    const login = answer.startsWith('407');
    return {
      message: `${through} answered ${answer}`,
      hint: login
        ? `it wants a login: put it into the variable as http://user:password@proxy:port, or ${exempt}`
        : `check that the proxy may reach the server, or ${exempt}`,
      retryable: /^50[234]/.test(answer),
    };
  }
  if (!/ECONNREFUSED|ConnectionRefused|ENOTFOUND|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/.test(code)) return undefined;
  return {
    message: `${through} cannot be reached: ${CAUSES[code] ?? 'its name is not known'}`,
    hint: `check the variable, or ${exempt}`,
    retryable: false,
  };
};
