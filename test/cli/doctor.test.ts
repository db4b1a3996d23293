import { describe, expect, test } from 'bun:test';
import { runChecks, type CheckResult, type Subject } from '#cli/doctor/check';
import { CHECKS } from '#cli/doctor/index';
import type { HttpAnswer, Probes } from '#cli/doctor/probes';
import { DEFAULT_CONFIG, type Config } from '#kernel/config';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const GIB = 1024 ** 3;

const answer = (body: unknown, status = 200): HttpAnswer => ({ status, body, date: NOW });

const ENGINE: Record<string, HttpAnswer> = {
  '/version': answer({ Version: '28.5.1', ApiVersion: '1.51' }),
  '/info': answer({
    MemoryLimit: true,
    CpuCfsQuota: true,
    PidsLimit: true,
    CgroupVersion: '2',
    CgroupDriver: 'systemd',
    DockerRootDir: '/var/lib/docker',
  }),
};

/** A sound server; each test breaks one thing. */
const SOUND: Probes = {
  now: () => NOW,
  uid: () => 0,
  which: (program) => `/usr/bin/${program}`,
  output: async ([program]) => ({
    code: 0,
    text: program === 'git' ? 'git version 2.39.5' : program === 'timedatectl' ? 'yes' : '-N DOCKER-USER',
  }),
  docker: async (_socket, path) => ENGINE[path] ?? answer({}),
  http: async (url) => {
    if (url.endsWith('/v1/admin/capacity')) return answer({ datastores: { ready: 0, failed: 0 } });
    return answer(url.endsWith('/v1/health') ? { status: 'ok', version: '0.1.0' } : { projects: [] });
  },
  connects: async () => false,
  listeners: async () => [],
  disk: async () => ({ freeBytes: 50 * GIB, totalBytes: 100 * GIB }),
  memory: async () => ({ availableBytes: 4 * GIB, totalBytes: 8 * GIB }),
  stat: async () => ({ mode: 0o700, uid: 0, directory: true }),
  writable: async () => true,
  resolve: async () => ['203.0.113.7'],
  ownAddresses: () => ['127.0.0.1', '203.0.113.7'],
  sqlite: async () => '3.54.1',
};

const CONFIG: Config = { ...DEFAULT_CONFIG, baseDomain: 'apps.example.com', acmeEmail: 'me@example.com' };
const SERVER: Subject = { config: CONFIG, endpoint: 'http://127.0.0.1:4400', token: 'brt_x', version: '0.1.0' };
const REMOTE: Subject = { config: undefined, endpoint: 'https://api.example.com', token: 'brt_x', version: '0.1.0' };

const check = async (id: string, probes: Partial<Probes>, subject: Subject = SERVER): Promise<CheckResult> => {
  const results = await runChecks(CHECKS, { ...SOUND, ...probes }, subject);
  const found = results.find((result) => result.id === id);
  if (found === undefined) throw new Error(`no check ${id}`);
  return found;
};

const refused = async (): Promise<never> => {
  throw new Error('connect ENOENT');
};

test('a sound server passes every check', async () => {
  const results = await runChecks(CHECKS, SOUND, SERVER);
  expect(results.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(results.map(({ id }) => id).join(' ')).toBe(
    'docker limits firewall memory disk data-dir sqlite git images ' +
      'port-api port-http port-https port-proxy-api port-registry dns health token version backups clock',
  );
});

test('from afar, only the way there is checked', async () => {
  const results = await runChecks(CHECKS, SOUND, REMOTE);
  expect(results.map(({ id }) => id)).toEqual(['dns', 'health', 'token', 'version', 'backups', 'clock']);
});

test('a check that throws has failed, and the others still run', async () => {
  const results = await runChecks(CHECKS, { ...SOUND, memory: refused }, SERVER);
  expect(results.find(({ id }) => id === 'memory')).toMatchObject({
    status: 'fail',
    detail: 'could not be checked: connect ENOENT',
  });
  expect(results).toHaveLength(20);
});

type Case = [id: string, what: string, probes: Partial<Probes>, status: string, next: RegExp, config?: Partial<Config>];

const CASES: Case[] = [
  ['docker', 'no engine', { docker: refused }, 'fail', /systemctl start docker/],
  [
    'docker',
    'an engine that is too old',
    { docker: async () => answer({ Version: '19.03', ApiVersion: '1.40' }) },
    'fail',
    /20\.10/,
  ],
  ['docker', 'something else', { docker: async () => answer(undefined) }, 'fail', /--docker-socket/],
  [
    'limits',
    'no memory controller',
    { docker: async (_, path) => (path === '/info' ? answer({ CpuCfsQuota: true, PidsLimit: true }) : answer({})) },
    'warn',
    /cgroup_enable=memory/,
  ],
  ['firewall', 'no iptables', { which: () => null }, 'fail', /install iptables/],
  [
    'firewall',
    'no chain of Docker',
    { output: async () => ({ code: 1, text: 'No chain' }) },
    'warn',
    /iptables support/,
  ],
  ['firewall', 'no root', { uid: () => 1000 }, 'warn', /as root/],
  ['firewall', 'switched off', {}, 'warn', /--no-firewall/, { firewall: false }],
  ['memory', 'little memory', { memory: async () => ({ availableBytes: GIB / 4, totalBytes: GIB }) }, 'warn', /swap/],
  [
    'disk',
    'too few bytes',
    { disk: async () => ({ freeBytes: GIB, totalBytes: 10 * GIB }) },
    'fail',
    /free disk space/,
  ],
  [
    'disk',
    'too small a share',
    { disk: async () => ({ freeBytes: 3 * GIB, totalBytes: 100 * GIB }) },
    'fail',
    /free disk space/,
  ],
  [
    'data-dir',
    'one that others can read',
    { stat: async () => ({ mode: 0o755, uid: 0, directory: true }) },
    'warn',
    /chmod 700/,
  ],
  ['data-dir', 'one that is not writable', { writable: async () => false }, 'fail', /owner/],
  [
    'data-dir',
    'a file in its place',
    { stat: async () => ({ mode: 0o600, uid: 0, directory: false }) },
    'fail',
    /--data-dir/,
  ],
  [
    'data-dir',
    'none, and nowhere to make it',
    {
      stat: async (path) => (path === '/' ? { mode: 0o755, uid: 0, directory: true } : undefined),
      writable: async () => false,
    },
    'fail',
    /install -d/,
  ],
  ['sqlite', 'an old SQLite', { sqlite: refused }, 'fail', /official/],
  ['git', 'no git', { which: (program) => (program === 'git' ? null : program) }, 'warn', /install git/],
  ['git', 'an old git', { output: async () => ({ code: 0, text: 'git version 2.36.9' }) }, 'warn', /2\.37 or later/],
  ['git', 'something else', { output: async () => ({ code: 1, text: 'broken' }) }, 'warn', /2\.37 or later/],
  [
    'images',
    'no image yet',
    { docker: async (_, path) => (path.startsWith('/images') ? answer({}, 404) : (ENGINE[path] ?? answer({}))) },
    'warn',
    /scripts\/images/,
  ],
  [
    'port-http',
    'another web server',
    { connects: async () => true, listeners: async (port) => (port === 80 ? ['nginx'] : ['traefik']) },
    'fail',
    /--http-port/,
  ],
  ['port-api', 'an unknown holder', { connects: async () => true }, 'warn', /as root/],
  ['port-https', 'no right to low ports', { uid: () => 1000 }, 'warn', /CAP_NET_BIND_SERVICE/],
  ['dns', 'no record', { resolve: async () => [] }, 'fail', /\*\.apps\.example\.com/],
  ['dns', 'a record of another machine', { resolve: async () => ['198.51.100.1'] }, 'warn', /NAT/],
  ['health', 'no server', { http: refused }, 'warn', /berth server/],
  [
    'health',
    'a server that is not well',
    { http: async () => answer({ status: 'degraded' }, 503) },
    'fail',
    /other checks/,
  ],
  ['health', 'something else', { http: async () => answer(undefined, 404) }, 'fail', /another program/],
  [
    'token',
    'a token that is refused',
    { http: async (url) => answer({}, url.includes('projects') ? 401 : 200) },
    'fail',
    /berth login/,
  ],
  [
    'version',
    'another major version',
    { http: async () => answer({ version: '1.0.0' }) },
    'warn',
    /same major version/,
  ],
  ['clock', 'no NTP', { output: async () => ({ code: 0, text: 'no' }) }, 'warn', /set-ntp/],
];

test.each(CASES)('%s: %s is told with what to do', async (...[id, , probes, status, next, config]) => {
  const result = await check(id, probes, { ...SERVER, config: { ...CONFIG, ...config } });
  expect(result.status as string).toBe(status);
  expect(result.next).toMatch(next);
});

describe('ports', () => {
  const taken = (...holders: string[]): Partial<Probes> => ({
    connects: async () => true,
    listeners: async () => holders,
  });

  test('those that berth itself holds are fine', async () => {
    expect(await check('port-api', taken('berth-linux-amd'))).toMatchObject({ status: 'ok' });
    expect(await check('port-api', taken('berth'))).toMatchObject({ status: 'ok', detail: '4400, held by berth' });
    expect(await check('port-registry', taken('docker-proxy'))).toMatchObject({ status: 'ok' });
  });

  test('HTTPS is looked at once it is on', async () => {
    const results = await runChecks(CHECKS, SOUND, { ...SERVER, config: { ...CONFIG, acmeEmail: '' } });
    expect(results.map(({ id }) => id)).not.toContain('port-https');
  });
});

describe('datastores and backups', () => {
  const sound = {
    ready: 2,
    failed: 0,
    read_only: 0,
    used_bytes: 3_000_000,
    never_backed_up: 0,
    oldest_backup_at: new Date(NOW - 3_600_000).toISOString(),
    last_backup_failed: 0,
  };
  const said = (over: Partial<typeof sound>): Promise<CheckResult> =>
    check('backups', { http: async () => answer({ datastores: { ...sound, ...over } }) });

  test('all that are backed up are fine', async () => {
    expect(await said({})).toMatchObject({ status: 'ok', detail: '2 with 2.9 MB; all backed up in the last 60m' });
    expect(await said({ ready: 0 })).toMatchObject({ status: 'ok', detail: 'no datastore yet' });
    expect(await said({ never_backed_up: 1 })).toMatchObject({ status: 'ok' });
  });

  test('what is wrong is told, with where to look', async () => {
    const old = new Date(NOW - 40 * 3_600_000).toISOString();
    const wrong = { failed: 1, read_only: 1, last_backup_failed: 1, oldest_backup_at: old };
    const { status, detail, next } = await said(wrong);
    expect([status, next]).toEqual(['warn', 'look: berth db ls, berth db backups <name>']);
    for (const part of [
      '1 could not be made',
      '1 take no writes',
      'newest backup of 1 failed',
      'not backed up for 40h',
    ])
      expect(detail).toContain(part);
  });

  test('who is no administrator is told that it was not looked at', async () => {
    expect(await check('backups', { http: async () => answer({ error: {} }, 403) })).toMatchObject({ status: 'skip' });
    expect(await check('backups', {}, { ...SERVER, token: undefined })).toMatchObject({ status: 'skip' });
  });
});

describe('from afar', () => {
  test('a server that cannot be reached is a failure', async () => {
    expect(await check('health', { http: refused }, REMOTE)).toMatchObject({ status: 'fail' });
  });

  test('clocks that differ are told', async () => {
    const late = async (): Promise<HttpAnswer> => ({ status: 200, body: {}, date: NOW - 300_000 });
    expect(await check('clock', { http: late }, REMOTE)).toMatchObject({
      status: 'warn',
      detail: 'this machine and the server differ by 5m',
    });
    expect(await check('clock', {}, REMOTE)).toMatchObject({ status: 'ok' });
  });

  test('the domain comes from the URL of a service', async () => {
    const asked: string[] = [];
    const http = async (url: string): Promise<HttpAnswer> => {
      if (url.includes('/services'))
        return answer({ services: [{ service_url: 'https://web--shop.apps.example.com' }] });
      return answer({ projects: [{ name: 'shop' }] });
    };
    const resolve = async (name: string): Promise<string[]> => {
      asked.push(name);
      return name.startsWith('berth-doctor') ? ['203.0.113.7'] : ['203.0.113.7', '2001:db8::7'];
    };
    expect(await check('dns', { http, resolve }, REMOTE)).toMatchObject({ status: 'ok' });
    expect(asked).toEqual(['berth-doctor.apps.example.com', 'api.example.com']);
    expect(
      await check(
        'dns',
        { http, resolve: async (name) => (name.startsWith('berth') ? ['198.51.100.9'] : ['203.0.113.7']) },
        REMOTE,
      ),
    ).toMatchObject({ status: 'warn' });
  });

  test('without a token, the way to one is said', async () => {
    expect(await check('token', {}, { ...REMOTE, token: undefined })).toMatchObject({
      status: 'warn',
      next: 'run: berth login <url>, or set SERVICE_TOKEN',
    });
  });
});
