import { DEFAULT_CONFIG, flagName, type Config } from '#kernel/config';
import type { FlagSpec } from './command.ts';

type Help = [value: string, summary: string];

/** Settings that are secret: others on the machine can read the flags of a process. They are in berth.toml or the environment. */
export const SECRET = ['backupS3SecretKey'] as const satisfies readonly (keyof Config)[];

/** What each setting is, in the order of help. A setting without a line here does not compile. */
const HELP: Record<Exclude<keyof Config, (typeof SECRET)[number]>, Help> = {
  dataDir: ['DIR', 'where all state lives'],
  listen: ['HOST:PORT', 'address of the control API'],
  baseDomain: ['DOMAIN', 'apps answer at <service>--<project>.DOMAIN'],
  httpPort: ['PORT', 'port of the plain HTTP entry point'],
  httpsPort: ['PORT', 'port of the HTTPS entry point'],
  acmeEmail: ['ADDRESS', 'turns HTTPS on: your address at the certificate authority'],
  acmeServer: ['URL', 'directory of the ACME server'],
  acmeCaFile: ['FILE', 'PEM file with the CA of a private ACME server'],
  proxyApiPort: ['PORT', "loopback port of the proxy's API"],
  registryPort: ['PORT', 'loopback port of the image registry'],
  dockerSocket: ['FILE', 'socket of the Docker engine'],
  networkPool: ['CIDR', 'pool that project networks are cut from'],
  networkSize: ['BITS', "prefix length of one project's network"],
  firewall: ['', 'keep containers off the host and the metadata address by firewall rules'],
  traefikImage: ['IMAGE', 'image of the proxy'],
  registryImage: ['IMAGE', 'image of the registry'],
  buildConcurrency: ['N', 'builds at once; 0 is half of the cores'],
  buildTimeoutSeconds: ['SECONDS', 'longest build'],
  releaseTimeoutSeconds: ['SECONDS', 'longest release command'],
  buildMemoryMb: ['MB', "memory of all builds together; 0 is three quarters of the machine's"],
  maxUploadBytes: ['BYTES', 'largest upload'],
  buildCacheBytes: ['BYTES', 'build cache to keep, of all services together'],
  buildCacheBytesPerService: ['BYTES', 'build cache that one service may keep'],
  seedBaseImages: ['', 'put the base images at hand into the registry ahead of the first deploy'],
  prepareDatastores: ['', 'prepare data directories, so that a new Postgres is there sooner'],
  logBytesPerService: ['BYTES', 'stored log of one service'],
  quotaServices: ['N', 'services in one project'],
  quotaReplicas: ['N', 'replicas of one service'],
  quotaDatastores: ['N', 'datastores in one project'],
  quotaRepos: ['N', 'repositories in one project'],
  defaultMemoryMb: ['MB', 'memory limit of a replica, unless the service sets one'],
  defaultCpus: ['N', 'CPU limit of a replica, unless the service sets one'],
  healthTimeoutSeconds: ['SECONDS', 'time that a new replica has to listen, unless the service sets one'],
  rateLimitPerMinute: ['N', 'requests of one token in a minute; 0 is no limit'],
  minFreeBytes: ['BYTES', 'no new build below this much free disk'],
  minFreePercent: ['PERCENT', 'no new build below this share of free disk'],
  maxPushBytes: ['BYTES', 'largest push to a repository'],
  maxRepoBytes: ['BYTES', 'what one repository may take on disk'],
  backupHour: ['HOUR', 'hour of the day (UTC) from which nightly backups begin'],
  backupDays: ['DAYS', 'days that backups are kept'],
  backupKeyFile: ['FILE', 'age identity that backups are encrypted for; made when it is missing'],
  backupS3Endpoint: ['URL', 'S3-compatible service that verified backups are copied to'],
  backupS3Region: ['REGION', 'region of the bucket'],
  backupS3Bucket: ['NAME', 'bucket for backups'],
  backupS3AccessKey: ['ID', 'access key of the bucket; its secret is BERTH_BACKUP_S3_SECRET_KEY'],
  backupS3Prefix: ['PREFIX', 'what the names of objects begin with'],
  mirrorAllow: [
    'HOSTS',
    'hosts and blocks of addresses that mirrors of git repositories may reach though they are private',
  ],
  mirrorPollSeconds: ['SECONDS', 'time between two looks at the address of a mirror'],
  downloadsDir: [
    'DIR',
    'where the clients lie that /install.sh and /dl hand out: dist/downloads of "bun run build"; found by itself in downloads/ or ../lib/berth/downloads beside the executable',
  ],
  tokenFile: ['FILE', 'also write the first admin token to this file (mode 0600)'],
  logLevel: ['LEVEL', 'debug, info, warn or error'],
};

const KEYS = Object.keys(HELP) as (keyof typeof HELP)[];

/** The flags of `berth server`, made of the settings themselves. */
export const CONFIG_FLAGS: Readonly<Record<string, FlagSpec>> = Object.fromEntries(
  KEYS.map((key) => {
    const wanted = DEFAULT_CONFIG[key];
    const [value, text] = HELP[key];
    const summary = typeof wanted === 'boolean' || wanted === '' ? text : `${text} (default ${wanted})`;
    const spec: FlagSpec =
      typeof wanted === 'boolean'
        ? {
            type: 'boolean',
            on: 'auto',
            summary: `${summary} (default ${wanted ? 'on' : 'off'}; --no-${flagName(key)})`,
          }
        : typeof wanted === 'number'
          ? { type: 'number', value, min: 0, summary }
          : {
              type: 'string',
              value,
              summary,
              ...(value === 'FILE' ? { complete: 'file' } : value === 'DIR' ? { complete: 'directory' } : {}),
            };
    return [flagName(key), spec];
  }),
);

/** The flags that were given, as `loadConfig` takes them. */
export const givenConfigFlags = (flags: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.keys(CONFIG_FLAGS)
      .filter((name) => flags[name] !== undefined)
      .map((name) => [name, String(flags[name])]),
  );
