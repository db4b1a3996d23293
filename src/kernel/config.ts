import { readFileSync, existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { invalidInput, messageOf } from './errors.ts';

/** Everything that can be set, read once at start: flags, then `BERTH_*` variables, then `berth.toml`, then defaults. */
export interface Config {
  /** Where all state lives. */
  dataDir: string;
  /** `host:port` of the control API. */
  listen: string;
  /** Apps answer at `<service>--<project>.<baseDomain>`. */
  baseDomain: string;
  /** Port of the plain HTTP entry point. */
  httpPort: number;
  /** Port of the HTTPS entry point; used once `acmeEmail` is set. */
  httpsPort: number;
  /** Turns HTTPS on: the account's address at the certificate authority. */
  acmeEmail: string;
  /** Directory URL of the ACME server (RFC 8555, 7.1.1). */
  acmeServer: string;
  /** PEM file with the CA of a private ACME server. */
  acmeCaFile: string;
  /** Loopback port of Traefik's API. */
  proxyApiPort: number;
  /** Loopback port of the image registry. */
  registryPort: number;
  dockerSocket: string;
  /** Pool that project networks are cut from, in CIDR. */
  networkPool: string;
  /** Prefix length of one project's network. */
  networkSize: number;
  /** Whether berth writes firewall rules that keep containers off the host and the metadata address. */
  firewall: boolean;
  traefikImage: string;
  registryImage: string;
  /** Builds at once; 0 means half of the cores, at least 1. */
  buildConcurrency: number;
  buildTimeoutSeconds: number;
  /** Longest run of a release command. */
  releaseTimeoutSeconds: number;
  /** Memory that all builds together may use; 0 means three quarters of the machine's. */
  buildMemoryMb: number;
  /** Largest upload in bytes. */
  maxUploadBytes: number;
  /** Bytes of build cache to keep, of all services together. */
  buildCacheBytes: number;
  /** Bytes of build cache that one service may keep. */
  buildCacheBytesPerService: number;
  /** Whether the server puts the base images that it has into its registry ahead of the first deploy. */
  seedBaseImages: boolean;
  /** Whether the server keeps a prepared data directory for each image of Postgres that is there. */
  prepareDatastores: boolean;
  /** Stored log bytes a service may use. */
  logBytesPerService: number;
  quotaServices: number;
  quotaReplicas: number;
  quotaDatastores: number;
  quotaRepos: number;
  defaultMemoryMb: number;
  defaultCpus: number;
  /** Default time a new replica has to listen. */
  healthTimeoutSeconds: number;
  /** Requests a token may send in a minute; 0 turns the limit off. */
  rateLimitPerMinute: number;
  /** No new build below this many free bytes. */
  minFreeBytes: number;
  /** No new build below this share of free disk, in percent. */
  minFreePercent: number;
  /** Largest push, as git counts it: objects as they are sent. */
  maxPushBytes: number;
  /** What a repository may take on disk. */
  maxRepoBytes: number;
  /** Hour of the day, 0 to 23 in UTC, from which nightly backups begin; they are spread over the hour after it. */
  backupHour: number;
  /** Days that backups are kept. */
  backupDays: number;
  /** File with age identities: backups are encrypted for the first one. Made when it is missing. Empty: not encrypted. */
  backupKeyFile: string;
  /** S3-compatible bucket that verified backups are copied to; all empty for none. */
  backupS3Endpoint: string;
  backupS3Region: string;
  backupS3Bucket: string;
  backupS3AccessKey: string;
  backupS3SecretKey: string;
  backupS3Prefix: string;
  /**
   * Hosts and blocks of addresses that mirrors may reach besides public https addresses, with commas between:
   * `git.lan`, `git.lan:3000`, `10.1.0.0/16`. What is listed may be private, use plain http and any (or this) port.
   */
  mirrorAllow: string;
  /** Seconds between two looks at the address of a mirror; its webhooks come on top. */
  mirrorPollSeconds: number;
  /** Folder with the clients that `/dl` hands out; empty: beside the executable, or in ../lib/berth. */
  downloadsDir: string;
  /** File that the first admin token is written to (0600), besides being printed once. */
  tokenFile: string;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
}

const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

export const DEFAULT_CONFIG: Config = {
  dataDir: '/var/lib/berth',
  listen: '127.0.0.1:4400',
  baseDomain: 'localhost',
  httpPort: 80,
  httpsPort: 443,
  acmeEmail: '',
  acmeServer: 'https://acme-v02.api.letsencrypt.org/directory',
  acmeCaFile: '',
  proxyApiPort: 4401,
  registryPort: 4402,
  dockerSocket: '/var/run/docker.sock',
  networkPool: '10.208.0.0/12',
  networkSize: 23,
  firewall: true,
  traefikImage: 'traefik:v3.6',
  registryImage: 'registry:3',
  buildConcurrency: 0,
  buildTimeoutSeconds: 1800,
  releaseTimeoutSeconds: 600,
  buildMemoryMb: 0,
  maxUploadBytes: 512 * MIB,
  buildCacheBytes: 10 * GIB,
  buildCacheBytesPerService: 4 * GIB,
  seedBaseImages: true,
  prepareDatastores: true,
  logBytesPerService: 50 * MIB,
  quotaServices: 20,
  quotaReplicas: 10,
  quotaDatastores: 10,
  quotaRepos: 20,
  defaultMemoryMb: 512,
  defaultCpus: 1,
  healthTimeoutSeconds: 60,
  rateLimitPerMinute: 6000,
  minFreeBytes: 2 * GIB,
  minFreePercent: 5,
  maxPushBytes: 1 * GIB,
  maxRepoBytes: 5 * GIB,
  backupHour: 2,
  backupDays: 7,
  backupKeyFile: '',
  backupS3Endpoint: '',
  backupS3Region: 'us-east-1',
  backupS3Bucket: '',
  backupS3AccessKey: '',
  backupS3SecretKey: '',
  backupS3Prefix: 'berth/',
  mirrorAllow: '',
  mirrorPollSeconds: 300,
  downloadsDir: '',
  tokenFile: '',
  logLevel: 'info',
};

type Key = keyof Config;
const KEYS = Object.keys(DEFAULT_CONFIG) as Key[];

const kebab = (key: string): string => key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
/** `dataDir` → `data-dir`, the flag's name without dashes. */
export const flagName = (key: Key): string => kebab(key);
/** `dataDir` → `BERTH_DATA_DIR`. */
export const variableName = (key: Key): string => `BERTH_${kebab(key).replaceAll('-', '_').toUpperCase()}`;
/** `dataDir` → `data_dir`, the key in `berth.toml`. */
export const tomlName = (key: Key): string => kebab(key).replaceAll('-', '_');

export interface ConfigSources {
  /** `--data-dir x` as `{'data-dir': 'x'}`. */
  flags: Record<string, string>;
  env: Record<string, string | undefined>;
  /** The configuration file; by default `<data dir>/berth.toml` when it is there. */
  file?: string;
}

/** `BERTH_*` variables that the client reads, and which are no server settings. */
const CLIENT_VARIABLES = new Set(['BERTH_CONFIG', 'BERTH_SECRET_KEY_FILE', 'BERTH_NO_COLOR', 'BERTH_PROFILE']);

/** Reads, merges and validates the configuration. Wrong keys and values are INVALID_INPUT with the valid list. */
export const loadConfig = (sources: ConfigSources): Config => {
  const fromFlags = pick(sources.flags, flagName, 'flag', '--');
  const berthVariables = Object.fromEntries(
    Object.entries(sources.env).filter(([name]) => name.startsWith('BERTH_') && !CLIENT_VARIABLES.has(name)),
  );
  const fromEnv = pick(berthVariables, variableName, 'variable', '');
  const dataDir = fromFlags.dataDir ?? fromEnv.dataDir ?? DEFAULT_CONFIG.dataDir;
  const file = sources.file ?? join(dataDir, 'berth.toml');
  const fromFile = sources.file !== undefined || existsSync(file) ? pick(readToml(file), tomlName, 'key', '') : {};
  const merged = { ...DEFAULT_CONFIG, ...fromFile, ...fromEnv, ...fromFlags };
  return validate({ ...merged, dataDir: resolve(merged.dataDir) });
};

const readToml = (file: string): Record<string, unknown> => {
  try {
    return parseToml(readFileSync(file, 'utf8'));
  } catch (error) {
    throw invalidInput(
      `cannot read the configuration file ${file}: ${messageOf(error)}`,
      'fix the file, or remove it to use the defaults',
    );
  }
};

const pick = (
  given: Record<string, unknown>,
  nameOf: (key: Key) => string,
  what: string,
  dash: string,
): Partial<Config> => {
  const byName = new Map(KEYS.map((key) => [nameOf(key), key]));
  const result: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const key = byName.get(name);
    if (key === undefined) {
      throw invalidInput(
        `unknown ${what} ${dash}${name}`,
        `valid: ${[...byName.keys()].map((valid) => dash + valid).join(', ')}`,
      );
    }
    result[key] = coerce(key, value, dash + name);
  }
  return result;
};

const coerce = (key: Key, value: unknown, shown: string): string | number | boolean => {
  const wanted = DEFAULT_CONFIG[key];
  if (typeof wanted === 'number') {
    const number = typeof value === 'number' ? value : Number(String(value).trim() || 'x');
    if (!Number.isFinite(number) || number < 0)
      throw invalidInput(`${shown} must be a number, not "${String(value)}"`, `default: ${wanted}`);
    return number;
  }
  if (typeof wanted === 'boolean') {
    const text = String(value);
    if (text !== 'true' && text !== 'false')
      throw invalidInput(`${shown} must be true or false, not "${text}"`, `default: ${wanted}`);
    return text === 'true';
  }
  return String(value);
};

const DOMAIN = /^(?=.{1,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

const validate = (config: Config): Config => {
  if (!/^[^\s:]+:\d{1,5}$/.test(config.listen))
    throw invalidInput(`--listen must be host:port, not "${config.listen}"`, `default: ${DEFAULT_CONFIG.listen}`);
  if (!DOMAIN.test(config.baseDomain)) {
    throw invalidInput(
      `--base-domain "${config.baseDomain}" is no domain name in lower case`,
      'use a name such as apps.example.com, without scheme and port',
    );
  }
  for (const key of ['httpPort', 'httpsPort', 'proxyApiPort', 'registryPort'] as const) {
    if (!Number.isInteger(config[key]) || config[key] < 1 || config[key] > 65_535) {
      throw invalidInput(
        `--${flagName(key)} must be a port from 1 to 65535, not ${config[key]}`,
        `default: ${DEFAULT_CONFIG[key]}`,
      );
    }
  }
  if (!['debug', 'info', 'warn', 'error'].includes(config.logLevel)) {
    throw invalidInput(`--log-level "${config.logLevel}" is unknown`, 'valid: debug, info, warn, error');
  }
  if (config.acmeEmail !== '' && !/^[^@\s]+@[^@\s]+$/.test(config.acmeEmail)) {
    throw invalidInput(
      `--acme-email "${config.acmeEmail}" is no e-mail address`,
      'use the address at which the certificate authority may reach you',
    );
  }
  if (!/^\d+\.\d+\.\d+\.\d+\/\d+$/.test(config.networkPool)) {
    throw invalidInput(
      `--network-pool "${config.networkPool}" is no IPv4 CIDR`,
      `default: ${DEFAULT_CONFIG.networkPool}`,
    );
  }
  requireBackupSettings(config);
  return config;
};

const requireBackupSettings = (config: Config): void => {
  if (!Number.isInteger(config.backupHour) || config.backupHour > 23)
    throw invalidInput(`--backup-hour must be an hour from 0 to 23, not ${config.backupHour}`, 'it is in UTC');
  if (!Number.isInteger(config.backupDays) || config.backupDays < 1)
    throw invalidInput(
      `--backup-days must be 1 or more, not ${config.backupDays}`,
      `default: ${DEFAULT_CONFIG.backupDays}`,
    );
  const bucket = ['backupS3Endpoint', 'backupS3Bucket', 'backupS3AccessKey', 'backupS3SecretKey'] as const;
  const missing = bucket.filter((key) => config[key] === '');
  if (missing.length > 0 && missing.length < bucket.length) {
    throw invalidInput(
      `backups cannot go to a bucket without ${missing.map(tomlName).join(', ')}`,
      'set all four, in berth.toml or as BERTH_BACKUP_S3_… variables; or none of them',
    );
  }
};

/** Scheme and port at which the entry point serves, for URLs shown to users. */
export const publicOrigin = (config: Config, host: string): string => {
  if (config.acmeEmail !== '') return `https://${host}${config.httpsPort === 443 ? '' : `:${config.httpsPort}`}`;
  return `http://${host}${config.httpPort === 80 ? '' : `:${config.httpPort}`}`;
};

export const serviceHost = (config: Config, project: string, service: string): string =>
  `${service}--${project}.${config.baseDomain}`;

export const serviceUrl = (config: Config, project: string, service: string): string =>
  publicOrigin(config, serviceHost(config, project, service));
