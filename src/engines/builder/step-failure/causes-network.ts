import type { Cause } from './causes.ts';

const CREDENTIALS =
  'is it private? Set its token as a variable of the project, and refer to that in the settings of the package manager: "//host/:_authToken=${NPM_TOKEN}" in .npmrc, PIP_EXTRA_INDEX_URL or UV_INDEX_…, CARGO_REGISTRIES_…_TOKEN, GOPRIVATE with GITHUB_TOKEN';

const ONLINE = 'retry; if it persists, check the network and the DNS of the server';

/** Asked in this order. */
export const NETWORK_CAUSES: Cause[] = [
  {
    patterns: [
      /(?:ECONNREFUSED|[Cc]onnection refused|[Cc]onnectionRefused)[^\n]*?(?:127\.0\.0\.1|localhost|::1)(?::(\d+))?/,
      /(?:127\.0\.0\.1|localhost|\[?::1\]?)[":]*(\d*)[^\n]{0,60}(?:ECONNREFUSED|[Cc]onnection refused)/,
    ],
    why: (match) => `it asked for a service on its own machine${portOf(match)}, where nothing runs during a build`,
    hint: () =>
      'a build has no database and no other service beside it: ask when the app starts, or in the release command; else set the address as a variable of the project',
  },
  {
    patterns: [
      /(?:ENOTFOUND|EAI_AGAIN) ([\w-]+(?:\.[\w-]+)+)/,
      /failed to resolve address for ([\w.-]+):/,
      /(?:Temporary failure resolving|Could not resolve host(?:name)?:?|Unknown host|UnknownHostException:|lookup|resolve host name) '?([\w-]+(?:\.[\w-]+)+)/,
      /ENOTFOUND|EAI_AGAIN/,
      /no such host/,
      /DNSResolveFailed/,
      /dns error/,
      /failed to lookup address/,
      /[Nn]ame or service not known/,
      /Temporary failure in name resolution/,
    ],
    why: (match) => `the name ${match[1] ?? 'of a server'} could not be resolved (DNS)`,
    hint: () => ONLINE,
    retryable: true,
  },
  {
    patterns: [
      /self[- ]signed certificate/,
      /SELF_SIGNED_CERT/,
      /UNABLE_TO_(?:GET_ISSUER|VERIFY)\w*/,
      /unable to get local issuer/,
      /CERTIFICATE_VERIFY_FAILED/,
      /certificate verify failed/,
      /x509: [^\n]+/,
      /PKIX path building failed/,
      /invalid peer certificate[^\n]*/,
      /UnknownIssuer/,
      /SSL certificate problem[^\n]*/,
      /CERT_HAS_EXPIRED/,
    ],
    why: ([text]) => `the certificate of a server is not trusted (${text})`,
    hint: () =>
      'if the server is your own, give the tool its authority (NODE_EXTRA_CA_CERTS, PIP_CERT, SSL_CERT_FILE, CARGO_HTTP_CAINFO) with a file of the source; else check the clock and the proxy of the server',
  },
  {
    patterns: [
      /could not read (?:Username|Password) for '([^']+)'/,
      /Permission denied \(publickey/,
      /Host key verification failed/,
      /terminal prompts disabled/,
      /failed to authenticate when downloading repository/,
      /Authentication is required for ([^\s.]+(?:\.[^\s.]+)+)/,
    ],
    why: (match) => `a repository${hostOf(match[1])} asks for credentials`,
    hint: () =>
      'a build has no SSH keys: use its https address, set GITHUB_TOKEN (or GITLAB_TOKEN) as a variable of the project, for Go GOPRIVATE as well; or commit the package with the source',
  },
  {
    patterns: [
      /\bE40[13]\b[^\n]*/,
      /ERR_PNPM_FETCH_40[13][^\n]*/,
      /YN0041[^\n]*/,
      /[^\n]{0,200}\b(?:401|403)\b[^\n]{0,40}(?:Unauthorized|Forbidden|authenticat|Credentials)[^\n]*/,
      /[^\n]{0,200}(?:HTTP error|status code:?|Response Code:|got|HTTP| -) 40[13]\b[^\n]*/,
      /Invalid authentication[^\n]*/,
      /token rejected for [^\n]*/,
      /[^\n]{0,200}(?:no authentication|[Uu]nauthorized|Bad username or password)[^\n]*/,
    ],
    why: ([text]) => `a package registry refused access: ${shown(text)}`,
    hint: () => CREDENTIALS,
  },
  {
    patterns: [/too many requests/i, /rate limit exceeded/i],
    why: () => 'a server said that it was asked too often',
    hint: () => 'wait a little, then redeploy',
    retryable: true,
  },
  {
    patterns: [
      /No matching version found for (\S+)/,
      /Couldn't find any versions for "([^"]+)" that matches/,
      /failed to select a version for the requirement `([^`]+)`/,
      /that satisfies the requirement (\S+) \(from versions: (?!none)/,
      /unknown revision (v\S+)/,
    ],
    why: (match) => `no version of a package is what was asked for: ${decoded(match[1])}`,
    hint: () => 'correct its version, and update the lock file',
  },
  {
    patterns: [
      /npm (?:error|ERR!) 404 +The requested resource '([^']+)'/,
      /npm (?:error|ERR!) 404 +'?([^\s']+)'? is not in this registry/i,
      /Couldn't find package "([^"]+)"/i,
      /No matching distribution found for (\S+)/i,
      /no matching package named `([^`]+)` found/i,
      /Could not find artifact (\S+)/i,
      /Could not find gem '([^' ]+)/i,
      /Because (\S+) was not found in the package registry/i,
      /error: GET https?:\/\/[^/\s]+\/(\S+) - 404/i,
      /Unable to find package ([^\s.]+)/i,
      /ERR_PNPM_FETCH_404\S*\s+GET https?:\/\/[^/\s]+\/([^\s:]+): Not Found/i,
      /could not find a matching version of package (\S+)/i,
      /Could not find (?:a version that satisfies the requirement )(\S+)/i,
      /(\S+): Package not found/i,
    ],
    why: (match) =>
      `the package ${decoded(match.slice(1).find((name) => name !== undefined))} was not found in its registry`,
    hint: () => `check its name and version; ${CREDENTIALS}`,
  },
  {
    patterns: [/\bE404\b/i, /\b404\b[^\n]{0,20}Not Found/i, /repository (?:'[^']*' )?not found/i, /410 Gone/i],
    why: () => 'a package was not found in its registry',
    hint: () => `check its name and version; ${CREDENTIALS}`,
  },
  {
    patterns: [
      /ECONNREFUSED/i,
      /ECONNRESET/i,
      /ETIMEDOUT/i,
      /ESOCKETTIMEDOUT/i,
      /ENETUNREACH/i,
      /EHOSTUNREACH/i,
      /connection (?:refused|reset|timed out)/i,
      /[Nn]etwork is unreachable/i,
      /i\/o timeout/i,
      /(?:Read|Connect)TimeoutError/i,
      /operation timed out/i,
      /TLS handshake timeout/i,
      /spurious network error/i,
      /Connection ?Refused/i,
      /Could not transfer artifact/i,
      /50[0234] (?:Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out)/i,
    ],
    why: ([text]) => `a server could not be reached (${text})`,
    hint: () => ONLINE,
    retryable: true,
  },
  // Package managers say this of packages that they could not ask for, too: so it comes last.
  {
    patterns: [
      /ResolutionImpossible/i,
      /No solution found when resolving/i,
      /version solving failed/i,
      /cannot install .* because these package versions have conflicting/i,
    ],
    why: () => 'the versions of the dependencies contradict each other',
    hint: () => 'read the last lines of its log for the two that do, and widen one of the ranges',
  },
];

const portOf = (match: RegExpExecArray): string => {
  const port = match[1] ?? '';
  return port === '' ? '' : ` (port ${port})`;
};

const hostOf = (url: string | undefined): string => (url === undefined ? '' : ` at ${url}`);

const shown = (text: string): string => text.replace(/\s+/g, ' ').trim().slice(0, 200);

/** npm's names of scopes come as `@shop%2fui`. */
const decoded = (name: string | undefined): string => (name ?? '').replace(/%2f/i, '/').replace(/[:,.]+$/, '');
