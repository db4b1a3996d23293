import { createHash } from 'node:crypto';
import { docker } from './docker.ts';
import { until } from './until.ts';

const BARE = 'berth-test/systemd:bare';
const WITH_DOCKER = 'berth-test/systemd:docker';
/** What is kept from one run to the next: Docker's data with the images that machines have. */
const CACHE_LABEL = 'dev.berth.test-cache';

/** All but what reaches the machine below: its clock, its modules, its restart; and CAP_SYS_RESOURCE, which not every host can give. */
const CAPABILITIES = [
  'AUDIT_CONTROL AUDIT_WRITE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE',
  'MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW SETFCAP SETGID SETPCAP SETUID SYS_ADMIN SYS_CHROOT',
  'SYS_NICE SYS_PTRACE SYS_TTY_CONFIG SYSLOG',
]
  .join(' ')
  .split(' ');

const PRIVILEGES = [
  '--cap-drop=ALL',
  ...CAPABILITIES.map((name) => `--cap-add=${name}`),
  ...['seccomp', 'apparmor', 'systempaths'].flatMap((what) => ['--security-opt', `${what}=unconfined`]),
  '--device-cgroup-rule=a *:* rwm',
  // Its own tree of control groups, so that its engine limits nothing of the host's.
  '--cgroupns=private',
];

export interface MachineOptions {
  name: string;
  network: Network;
  /** Names in the network's DNS beside its own. */
  aliases?: string[];
  /** Whether somebody has installed Docker. */
  withDocker?: boolean;
  /** Images of the host that its engine has, or will have once it is installed. */
  images?: string[];
}

export interface Ran {
  code: number;
  out: string;
  error: string;
}

/** A server as a provider hands it out: a container that systemd boots, with an engine of its own inside. */
export class Machine {
  readonly id: string;
  readonly address: string;

  private constructor(id: string, address: string) {
    this.id = id;
    this.address = address;
  }

  static async boot({
    name,
    network,
    aliases = [],
    withDocker = false,
    images = [],
  }: MachineOptions): Promise<Machine> {
    const prepared = images.length === 0 ? [] : ['--volume', `${await preparedData(images)}:/prepared:ro`];
    const started = await start([
      '--network',
      network.id,
      '--hostname',
      name,
      ...aliases.flatMap((alias) => ['--network-alias', alias]),
      // Docker's own file system cannot lie on that of a container.
      '--volume',
      '/var/lib/docker',
      ...prepared,
      withDocker ? WITH_DOCKER : BARE,
    ]);
    const address = (
      await docker(['inspect', '--format', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', started])
    ).trim();
    const machine = new Machine(started, address);
    try {
      await machine.up();
    } catch (error) {
      await machine.dispose();
      throw error;
    }
    return machine;
  }

  /** Waits until systemd has brought up what belongs to a start. */
  async up(): Promise<void> {
    await booted(this.id);
  }

  /** Runs a program as root. */
  async run(argv: string[], { input, env = {} }: { input?: string; env?: Record<string, string> } = {}): Promise<Ran> {
    const variables = Object.entries(env).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
    const child = Bun.spawn(['docker', 'exec', '--interactive', ...variables, this.id, ...argv], {
      stdin: new TextEncoder().encode(input ?? ''),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, error, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, out, error };
  }

  /** What a script says on standard output; fails with all that it said. */
  async sh(script: string, env: Record<string, string> = {}): Promise<string> {
    const { code, out, error } = await this.run(['sh', '-euc', script], { env });
    if (code !== 0) throw new Error(`status ${code} of: ${script}\n${out}${error}`);
    return out.trim();
  }

  /** Puts a file of the host there. */
  async copy(from: string, to: string): Promise<void> {
    await docker(['cp', from, `${this.id}:${to}`]);
  }

  /** Gives a file of this machine to another one, at the same place. */
  async copyTo(path: string, other: Machine): Promise<void> {
    await pipe(
      ['docker', 'exec', this.id, 'cat', path],
      ['docker', 'exec', '--interactive', other.id, 'sh', '-euc', 'umask 077; cat >"$1"', 'sh', path],
    );
  }

  /** The power goes, and comes back. */
  async crash(): Promise<void> {
    await docker(['kill', this.id]);
    await docker(['start', this.id]);
    await this.up();
  }

  async dispose(): Promise<void> {
    await docker(['rm', '--force', '--volumes', this.id]);
  }
}

/** A network of its own for machines that talk to each other. */
export class Network {
  readonly id: string;
  /** Where machines reach the host. */
  readonly gateway: string;

  private constructor(id: string, gateway: string) {
    this.id = id;
    this.gateway = gateway;
  }

  static async make(): Promise<Network> {
    // From the range for tests of networks (RFC 2544), beside those of TestEngine.
    const range = `198.19.${process.pid % 256}`;
    const name = `berth-test-machines-${process.pid}`;
    const id = await docker(['network', 'create', '--subnet', `${range}.0/24`, '--gateway', `${range}.1`, name]);
    return new Network(id.trim(), `${range}.1`);
  }

  async dispose(): Promise<void> {
    await docker(['network', 'rm', this.id]);
  }
}

const start = async (argv: string[]): Promise<string> =>
  (await docker(['run', '--detach', '--memory=4g', ...PRIVILEGES, ...argv])).trim();

const booted = async (id: string): Promise<void> => {
  const state = async (): Promise<string> => {
    const child = Bun.spawn(['docker', 'exec', id, 'systemctl', 'is-system-running'], {
      stdout: 'pipe',
      stderr: 'ignore',
    });
    const said = (await new Response(child.stdout).text()).trim();
    await child.exited;
    return said;
  };
  let said = '';
  await until(async () => {
    said = await state();
    return said === 'running' || said === 'degraded';
  }, 60);
  if (said === 'running') return;
  const failed = await docker(['exec', id, 'systemctl', 'list-units', '--failed', '--no-legend', '--plain']);
  throw new Error(`not all of the machine started:\n${failed}`);
};

/** A volume with the data of an engine that has `images`; copying it takes a second or two, loading them many. */
const preparedData = async (images: string[]): Promise<string> => {
  const ids = await docker(['image', 'inspect', '--format', '{{.Id}}', WITH_DOCKER, ...images]);
  const name = `berth-test-engine-${createHash('sha256').update(ids).digest('hex').slice(0, 16)}`;
  const known = (await docker(['volume', 'ls', '--quiet', '--filter', `label=${CACHE_LABEL}`])).split('\n');
  if (known.includes(name)) return name;
  const loader = await start(['--volume', '/var/lib/docker', WITH_DOCKER]);
  try {
    await booted(loader);
    await pipe(['docker', 'save', ...images], ['docker', 'exec', '--interactive', loader, 'docker', 'load', '--quiet']);
    await docker(['exec', loader, 'systemctl', 'stop', 'docker.socket', 'docker']);
    await docker(['volume', 'create', '--label', CACHE_LABEL, name]);
    await docker([
      'run',
      '--rm',
      '--volumes-from',
      loader,
      '--volume',
      `${name}:/prepared`,
      '--entrypoint',
      'cp',
      WITH_DOCKER,
      '-a',
      '/var/lib/docker/.',
      '/prepared/',
    ]);
  } finally {
    await docker(['rm', '--force', '--volumes', loader]);
  }
  return name;
};

const pipe = async (from: string[], to: string[]): Promise<void> => {
  const source = Bun.spawn(from, { stdout: 'pipe', stderr: 'inherit' });
  const target = Bun.spawn(to, { stdin: source.stdout, stdout: 'ignore', stderr: 'inherit' });
  if ((await source.exited) !== 0 || (await target.exited) !== 0) throw new Error(`${from.join(' ')} failed`);
};
