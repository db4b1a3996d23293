import { isIP } from 'node:net';
import type { Config } from '#kernel/config';
import { duration } from '../output/format.ts';
import { fail, ok, overApi, skip, warn, type Check, type Verdict } from './check.ts';
import type { Probes } from './probes.ts';

const MOST_SKEW_MS = 60_000;

const field = (body: unknown, key: string): string | undefined => {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[key] : undefined;
  return typeof value === 'string' ? value : undefined;
};

export const health: Check = {
  id: 'health',
  title: 'Server',
  run: overApi(async (probes, endpoint, { config }) => {
    try {
      const { status, body } = await probes.http(`${endpoint}/v1/health`, undefined);
      const said = field(body, 'status') ?? 'no status';
      if (status === 200)
        return ok(
          `${endpoint} is healthy${field(body, 'version') === undefined ? '' : `, version ${field(body, 'version')}`}`,
        );
      if (body === undefined)
        return fail(
          `${endpoint} answers ${status}, but not as berth does`,
          'check the address: another program or a proxy answers there',
        );
      return fail(
        `${endpoint} answers ${status}: ${said}`,
        config === undefined
          ? 'run berth doctor on the server'
          : 'look at the other checks here, then at the log of the server',
      );
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown);
      if (config !== undefined) return warn(`no server answers at ${endpoint}`, 'start it: berth server');
      return fail(`cannot reach ${endpoint}: ${why}`, 'check the address, the network, and that the server runs');
    }
  }),
};

export const token: Check = {
  id: 'token',
  title: 'Token',
  run: overApi(async (probes, endpoint, subject) => {
    if (subject.token === undefined)
      return subject.config === undefined
        ? warn('none is set', 'run: berth login <url>, or set SERVICE_TOKEN')
        : skip('none is set');
    const answer = await probes.http(`${endpoint}/v1/projects?limit=1`, subject.token).catch(() => undefined);
    if (answer === undefined) return skip('the server cannot be reached');
    if (answer.status === 401) return fail('the server refuses it', 'log in again: berth login <url>');
    return answer.status === 200 || answer.status === 403
      ? ok('accepted')
      : warn(`the server answers ${answer.status}`, 'look at the server first');
  }),
};

export const version: Check = {
  id: 'version',
  title: 'Versions',
  run: overApi(async (probes, endpoint, subject) => {
    const answer = await probes.http(`${endpoint}/v1/health`, undefined).catch(() => undefined);
    const theirs = field(answer?.body, 'version');
    if (theirs === undefined) return skip('the server does not say its version');
    if (theirs.split('.')[0] === subject.version.split('.')[0])
      return ok(`client ${subject.version}, server ${theirs}`);
    return warn(`client ${subject.version}, server ${theirs}`, 'use a client of the same major version as the server');
  }),
};

export const clock: Check = {
  id: 'clock',
  title: 'Clock',
  run: async (probes, { endpoint, config }) => {
    if (endpoint !== undefined && config === undefined) {
      const before = probes.now();
      const answer = await probes.http(`${endpoint}/v1/health`, undefined).catch(() => undefined);
      if (answer?.date === undefined) return skip('the server does not say its time');
      const skew = Math.abs(answer.date - (before + probes.now()) / 2);
      return skew > MOST_SKEW_MS
        ? warn(
            `this machine and the server differ by ${duration(skew)}`,
            'synchronise the clocks (NTP): certificates and expiry depend on them',
          )
        : ok('agrees with the server');
    }
    if (probes.which('timedatectl') === null) return skip('timedatectl is not installed');
    const { text } = await probes.output(['timedatectl', 'show', '--property=NTPSynchronized', '--value']);
    if (text === 'yes') return ok('synchronised');
    return text === 'no'
      ? warn('not synchronised', 'switch NTP on: timedatectl set-ntp true')
      : skip('systemd does not say');
  },
};

export const dns: Check = {
  id: 'dns',
  title: 'DNS of the apps',
  run: async (probes, { config, endpoint, token: secret }) => {
    const domain =
      config?.baseDomain ?? (endpoint === undefined ? undefined : await domainOf(probes, endpoint, secret));
    if (domain === undefined) return skip('the base domain is known once a service is there');
    return domain === 'localhost' || domain.endsWith('.localhost')
      ? ok(`*.${domain}: browsers and curl know it`)
      : examine(probes, domain, { config, endpoint });
  },
};

const examine = async (
  probes: Probes,
  domain: string,
  where: { config: Config | undefined; endpoint: string | undefined },
): Promise<Verdict> => {
  const addresses = await probes.resolve(`berth-doctor.${domain}`);
  const hint = `create a DNS record *.${domain} that points to the server`;
  if (addresses.length === 0) return fail(`*.${domain} is not known`, hint);
  const shown = `*.${domain} is ${addresses.join(', ')}`;
  if (where.config === undefined) {
    const host = where.endpoint === undefined ? '' : new URL(where.endpoint).hostname;
    const servers = isIP(host) === 0 ? await probes.resolve(host) : [host];
    return servers.some((server) => addresses.includes(server))
      ? ok(shown)
      : warn(`${shown}, but the API is at ${servers.join(', ')}`, `${hint}, unless that is meant`);
  }
  if (probes.ownAddresses().some((own) => addresses.includes(own))) return ok(shown);
  return warn(`${shown}, which is no address of this machine`, `${hint}; behind NAT that may be right`);
};

/** The base domain, from the URL of some service that the token can see. */
const domainOf = async (probes: Probes, endpoint: string, secret: string | undefined): Promise<string | undefined> => {
  if (secret === undefined) return undefined;
  const projects = await probes.http(`${endpoint}/v1/projects`, secret).catch(() => undefined);
  for (const name of namesIn(projects?.body, 'projects', 'name')) {
    const services = await probes
      .http(`${endpoint}/v1/projects/${encodeURIComponent(name)}/services?limit=1`, secret)
      .catch(() => undefined);
    const url = namesIn(services?.body, 'services', 'service_url')[0];
    if (url !== undefined && URL.canParse(url)) return new URL(url).hostname.split('.').slice(1).join('.');
  }
  return undefined;
};

const namesIn = (body: unknown, list: string, key: string): string[] => {
  const items = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[list] : undefined;
  return Array.isArray(items) ? items.map((item) => field(item, key)).filter((value) => value !== undefined) : [];
};
