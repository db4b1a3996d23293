import { isIP } from 'node:net';
import { invalidInput } from '#kernel/errors';

const NAME = /^[a-z](?:[a-z0-9]|-(?=[a-z0-9])){0,29}$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const NUMBER = /^[0-9]+$/;
const PATH = /^\/(?!\/)[A-Za-z0-9\-._~!$&'()*+,;=:@%/?]*$/;
const SECRET = /^[A-Za-z0-9_-]{16,256}$/;

/** Checks the name of a project or service, because it becomes a file name and names in Traefik. */
export const checkName = (what: string, name: string): string => {
  if (NAME.test(name)) return name;
  throw invalidInput(
    `${what} ${quoted(name)} is not a valid name`,
    'use a–z, digits and single dashes, starting with a letter, not ending with a dash, at most 30 characters',
  );
};

/**
 * Checks a host name before it goes between the backquotes of a rule. Nothing that could end the quoting, start a
 * template or mean something else to another parser passes; international names come as punycode (`xn--…`).
 */
export const checkHost = (host: string): string => {
  const labels = host.split('.');
  const fine = host.length <= 253 && labels.every((label) => LABEL.test(label)) && !NUMBER.test(labels.at(-1) ?? '');
  if (fine) return host;
  throw invalidInput(
    `${quoted(host)} is not a valid host name`,
    'use lower-case letters, digits, dashes and dots, without port or trailing dot; write international names in punycode (xn--…)',
  );
};

export const checkHosts = (hosts: string[]): string[] => {
  if (hosts.length === 0) throw invalidInput('a route needs at least one host name', 'give the route a host name');
  if (new Set(hosts).size < hosts.length) {
    throw invalidInput('a route names one host twice', 'give every host name of the route once');
  }
  return hosts.map(checkHost);
};

/** `ip:port` of an upstream, with brackets around an IPv6 address. */
export const checkUpstream = (ip: string, port: number): string => {
  const family = isIP(ip);
  if (family === 0 || ip.includes('%')) {
    throw invalidInput(`${quoted(ip)} is not an IP address`, 'give the upstream by its plain IPv4 or IPv6 address');
  }
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw invalidInput(`${port} is not a port`, 'give the upstream a port from 1 to 65535');
  }
  return family === 6 ? `[${ip}]:${port}` : `${ip}:${port}`;
};

/** Splits and checks `ip:port`, such as the address of berth's own listener. */
export const checkAddress = (address: string): string => {
  const match = /^\[?([0-9a-fA-F.:]+?)\]?:(\d{1,5})$/.exec(address);
  if (match?.[1] === undefined || match[2] === undefined) {
    throw invalidInput(`${quoted(address)} is not an address`, 'give it as ip:port, such as 127.0.0.1:4400');
  }
  return checkUpstream(match[1], Number(match[2]));
};

export const checkHealthPath = (path: string): string => {
  if (path.length <= 1024 && PATH.test(path)) return path;
  throw invalidInput(
    `${quoted(path)} is not a valid health path`,
    'give a path that starts with one slash and has only the characters of a URL, such as /health',
  );
};

export const checkSecret = (secret: string): string => {
  if (SECRET.test(secret)) return secret;
  throw invalidInput(
    'the proxy secret is not usable in a header',
    'use 16 to 256 characters of A–Z, a–z, 0–9, - and _',
  );
};

/** Shows a refused value on one line, shortened. */
const quoted = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
