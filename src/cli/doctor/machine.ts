import { dirname } from 'node:path';
import { bytes } from '../output/format.ts';
import { fail, ok, onServer, skip, warn, type Check, type Verdict } from './check.ts';
import type { Probes } from './probes.ts';

const OLDEST_DOCKER_API = 1.41;
const LITTLE_MEMORY = 512 * 1024 ** 2;
/** core.fsync and its batches, which make a push that was acknowledged survive a power cut. */
const OLDEST_GIT = [2, 37] as const;

const text = (body: unknown, key: string): string => {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[key] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
};

const flag = (body: unknown, key: string): boolean =>
  typeof body === 'object' && body !== null && (body as Record<string, unknown>)[key] === true;

export const docker: Check = {
  id: 'docker',
  title: 'Docker engine',
  run: onServer(async (probes, { dockerSocket }) => {
    try {
      const { body } = await probes.docker(dockerSocket, '/version');
      const version = text(body, 'Version');
      const api = text(body, 'ApiVersion');
      if (version === '')
        return fail(
          `what listens at ${dockerSocket} is no Docker engine`,
          'set --docker-socket to the socket of the engine',
        );
      if (
        Number(api.split('.')[0]) < 1 ||
        (api.startsWith('1.') && Number(api.slice(2)) < Number(String(OLDEST_DOCKER_API).slice(2)))
      ) {
        return fail(
          `Docker ${version} speaks API ${api}, berth needs ${OLDEST_DOCKER_API}`,
          'upgrade Docker to 20.10 or later',
        );
      }
      return ok(`Docker ${version}, API ${api}`);
    } catch (thrown) {
      return fail(
        `cannot reach Docker at ${dockerSocket}: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        'install and start Docker (systemctl start docker), or run this as root or as a member of the group docker',
      );
    }
  }),
};

export const limits: Check = {
  id: 'limits',
  title: 'Limits (cgroups)',
  run: onServer(async (probes, { dockerSocket }) => {
    const answer = await probes.docker(dockerSocket, '/info').catch(() => undefined);
    if (answer === undefined) return skip('needs Docker');
    const missing = [
      flag(answer.body, 'MemoryLimit') ? [] : ['memory'],
      flag(answer.body, 'CpuCfsQuota') ? [] : ['CPU'],
      flag(answer.body, 'PidsLimit') ? [] : ['processes'],
    ].flat();
    const shown = `cgroup v${text(answer.body, 'CgroupVersion') || '1'}, driver ${text(answer.body, 'CgroupDriver') || 'unknown'}`;
    if (missing.length === 0) return ok(shown);
    return warn(
      `${shown}: this kernel cannot limit ${missing.join(', ')}`,
      'enable the cgroup controllers (on Debian: cgroup_enable=memory on the kernel command line)',
    );
  }),
};

export const firewall: Check = {
  id: 'firewall',
  title: 'Firewall',
  run: onServer(async (probes, config) => {
    if (!config.firewall)
      return warn(
        'switched off: containers can reach the host and the metadata address',
        'remove --no-firewall unless another firewall does it',
      );
    if (probes.which('iptables') === null)
      return fail(
        'iptables is not installed',
        'install iptables, or start with --no-firewall if another firewall keeps containers off the host',
      );
    if (probes.uid() !== 0) return warn('not root: the rules cannot be looked at', 'run berth doctor as root');
    const { code, text: said } = await probes.output(['iptables', '-w', '2', '-S', 'DOCKER-USER']);
    if (code === 0) return ok('iptables works, and Docker uses it');
    return warn(
      `iptables has no chain DOCKER-USER (${said.split('\n')[0] ?? ''})`,
      'start Docker with its iptables support on',
    );
  }),
};

export const memory: Check = {
  id: 'memory',
  title: 'Memory',
  run: onServer(async (probes) => {
    const { availableBytes, totalBytes } = await probes.memory();
    const shown = `${bytes(availableBytes)} of ${bytes(totalBytes)} available`;
    return availableBytes < LITTLE_MEMORY
      ? warn(`${shown}: builds may be killed`, 'scale something down, add memory, or add swap')
      : ok(shown);
  }),
};

export const disk: Check = {
  id: 'disk',
  title: 'Disk',
  run: onServer(async (probes, config) => {
    const info = await probes.docker(config.dockerSocket, '/info').catch(() => undefined);
    const root = text(info?.body, 'DockerRootDir');
    const places = [
      await existing(probes, config.dataDir),
      ...(root !== '' && (await probes.stat(root)) !== undefined ? [root] : []),
    ];
    const verdicts: Verdict[] = [];
    for (const place of places) {
      const { freeBytes, totalBytes } = await probes.disk(place);
      const percent = totalBytes === 0 ? 0 : Math.floor((freeBytes / totalBytes) * 100);
      const shown = `${bytes(freeBytes)} (${percent} %) free at ${place}`;
      const short = freeBytes < config.minFreeBytes || percent < config.minFreePercent;
      verdicts.push(
        short
          ? fail(
              `${shown}; builds need ${bytes(config.minFreeBytes)} and ${config.minFreePercent} %`,
              'free disk space: delete services that are not used, or lower --build-cache-bytes',
            )
          : ok(shown),
      );
    }
    return verdicts.find(({ status }) => status === 'fail') ?? ok(verdicts.map(({ detail }) => detail).join('; '));
  }),
};

export const dataDir: Check = {
  id: 'data-dir',
  title: 'Data directory',
  run: onServer(async (probes, { dataDir: path }) => {
    const stats = await probes.stat(path);
    if (stats === undefined) {
      const above = await existing(probes, path);
      return (await probes.writable(above))
        ? ok(`${path} will be made at the first start`)
        : fail(
            `${path} does not exist and ${above} is not writable for this user`,
            `run the server as root, or make it: install -d -m 700 -o $USER ${path}`,
          );
    }
    if (!stats.directory) return fail(`${path} is no directory`, 'choose another --data-dir');
    if (!(await probes.writable(path)))
      return fail(`${path} is not writable for this user`, 'run this as the user of the server, or correct the owner');
    if ((stats.mode & 0o077) !== 0)
      return warn(`${path} has mode ${stats.mode.toString(8)}: others can look into it`, `run: chmod 700 ${path}`);
    return ok(`${path}, mode ${stats.mode.toString(8)}`);
  }),
};

export const sqlite: Check = {
  id: 'sqlite',
  title: 'SQLite',
  run: onServer(async (probes) => {
    try {
      return ok(await probes.sqlite());
    } catch (thrown) {
      return fail(
        thrown instanceof Error ? thrown.message : String(thrown),
        'use the official berth executable, which has its own SQLite',
      );
    }
  }),
};

export const git: Check = {
  id: 'git',
  title: 'Git',
  run: onServer(async (probes) => {
    const needed = OLDEST_GIT.join('.');
    if (probes.which('git') === null)
      return warn(
        'git is not installed: repositories cannot be cloned, pushed to, read or mirrored',
        `install git ${needed} or later on the server (on Debian: apt-get install git)`,
      );
    const { text: said } = await probes.output(['git', '--version']);
    const version = /(\d+)\.(\d+)[.\d]*/.exec(said);
    const [major, minor] = [Number(version?.[1] ?? 0), Number(version?.[2] ?? 0)];
    const old = major < OLDEST_GIT[0] || (major === OLDEST_GIT[0] && minor < OLDEST_GIT[1]);
    if (!old) return ok(version?.[0] ?? said);
    return warn(
      `git ${version?.[0] ?? `says "${said}"`} is too old: berth needs ${needed} or later for repositories`,
      `upgrade git to ${needed} or later (on Debian 11: from bullseye-backports)`,
    );
  }),
};

export const images: Check = {
  id: 'images',
  title: 'Images',
  run: onServer(async (probes, { dockerSocket, traefikImage, registryImage }) => {
    const missing: string[] = [];
    for (const image of [traefikImage, registryImage]) {
      const answer = await probes
        .docker(dockerSocket, `/images/${encodeURIComponent(image)}/json`)
        .catch(() => undefined);
      if (answer === undefined) return skip('needs Docker');
      if (answer.status === 404) missing.push(image);
    }
    if (missing.length === 0) return ok(`${traefikImage}, ${registryImage}`);
    return warn(
      `not here yet: ${missing.join(', ')}`,
      'the server pulls them when it starts; without access to their registry, run scripts/images from the source tree',
    );
  }),
};

/** The nearest directory above that exists. */
const existing = async (probes: Probes, path: string): Promise<string> => {
  let at = path;
  while (at !== dirname(at) && (await probes.stat(at)) === undefined) at = dirname(at);
  return at;
};
