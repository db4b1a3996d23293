import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { docker } from './docker.ts';
import { SmallDisk } from './small-disk.ts';
import { until } from './until.ts';

/** Point-to-point addresses from the range for tests of networks, RFC 2544. */
const range = (number: number): { host: string; engine: string } => ({
  host: `198.18.${number}.1`,
  engine: `198.18.${number}.2`,
});

/**
 * A Docker engine that a test may kill and stop as it likes: it has its own socket, data and network namespace, so it
 * disturbs nothing of the host's. Processes that need its containers' addresses run inside by `prefix`.
 */
export class TestEngine {
  readonly #dir: string;
  readonly #namespace: string;
  /** Where its network namespace is reached from the host. */
  readonly address: string;
  #disk: SmallDisk | undefined;
  #daemon: ReturnType<typeof Bun.spawn> | undefined;

  private constructor(dir: string, number: number) {
    this.#dir = dir;
    this.#namespace = `berth-test-${number}`;
    this.address = range(number).engine;
  }

  /** Starts one that has the host's `images`; `dataMegabytes` keeps its data on a file system of that size. */
  static async start(images: string[], { dataMegabytes }: { dataMegabytes?: number } = {}): Promise<TestEngine> {
    const root = (await docker(['info', '--format', '{{.DockerRootDir}}'])).trim();
    const number = process.pid % 256;
    // Beside the host's engine: there the file system is known to bear one.
    const engine = new TestEngine(mkdtempSync(join(dirname(root), 'berth-test-engine-')), number);
    mkdirSync(engine.dataDir);
    if (dataMegabytes !== undefined) engine.#disk = await SmallDisk.inFile(engine.dataDir, dataMegabytes);
    await engine.#makeNamespace(number);
    await engine.up();
    await engine.#copyImages(images);
    return engine;
  }

  get dataDir(): string {
    return join(this.#dir, 'data');
  }

  /** The file system of its data, when it has one of its own. */
  get disk(): SmallDisk {
    if (this.#disk === undefined) throw new Error('this engine has no disk of its own');
    return this.#disk;
  }

  get socket(): string {
    return join(this.#dir, 'docker.sock');
  }

  /** Goes before the argv of a process that is to run in its network namespace. */
  get prefix(): string[] {
    return ['nsenter', `--net=/run/netns/${this.#namespace}`];
  }

  docker(argv: string[]): Promise<string> {
    return docker(['--host', `unix://${this.socket}`, ...argv]);
  }

  /** Starts it, and waits until it answers. */
  async up(): Promise<void> {
    const path = (name: string): string => join(this.#dir, name);
    this.#clearLeftovers();
    const log = openSync(path('dockerd.log'), 'a');
    this.#daemon = Bun.spawn(
      [
        ...this.prefix,
        'dockerd',
        `--host=unix://${this.socket}`,
        `--data-root=${this.dataDir}`,
        `--exec-root=${path('exec')}`,
        `--pidfile=${path('docker.pid')}`,
      ],
      { stdin: 'ignore', stdout: log, stderr: log },
    );
    await until(() => this.docker(['version']).then(Boolean, () => false), 60);
  }

  /** As a crash: its containers run on, and the next start finds them. */
  async kill(): Promise<void> {
    this.#daemon?.kill('SIGKILL');
    await this.#daemon?.exited;
    // It notices a moment later that its parent is gone.
    await until(() => !runs('containerd', this.#containerdPid));
  }

  /** As `systemctl stop docker`: its containers end too. */
  async stop(): Promise<void> {
    this.#daemon?.kill('SIGTERM');
    await this.#daemon?.exited;
  }

  /** It hangs: it takes connections, and answers none of them. */
  freeze(): void {
    this.#daemon?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#daemon?.kill('SIGCONT');
  }

  /** Ends it with all that it had. */
  async dispose(): Promise<void> {
    // Only an engine that runs can take its containers away.
    if (this.#daemon?.exitCode === null && this.#daemon.signalCode === null) this.thaw();
    else await this.up();
    const containers = words(await this.docker(['ps', '-aq']));
    if (containers.length > 0) await this.docker(['rm', '-fv', ...containers]);
    await this.stop();
    // A container that was being made when the engine was killed leaves processes that no engine knows.
    const left = processesOf(this.#dir).map(String);
    // Some end by themselves meanwhile, which is no failure.
    if (left.length > 0) Bun.spawnSync(['kill', '-9', ...left], { stderr: 'ignore' });
    await run(['ip', 'netns', 'delete', this.#namespace]);
    for (const path of mountsBelow(this.#dir)) await run(['umount', '--lazy', path]);
    rmSync(this.#dir, { recursive: true, force: true });
  }

  /** A killed engine leaves files that make the next one wait for a containerd that is none. */
  #clearLeftovers(): void {
    rmSync(join(this.#dir, 'docker.pid'), { force: true });
    rmSync(this.#containerdPid, { force: true });
    for (const name of ['containerd.sock', 'containerd.sock.ttrpc'])
      rmSync(join(this.#dir, 'exec/containerd', name), { force: true });
  }

  get #containerdPid(): string {
    return join(this.#dir, 'exec/containerd/containerd.pid');
  }

  async #makeNamespace(number: number): Promise<void> {
    const { host, engine } = range(number);
    const inside = ['ip', '-n', this.#namespace];
    const [outer, inner] = [`brtht${number}`, `brtht${number}i`];
    await run(['ip', 'netns', 'add', this.#namespace]);
    await run(['ip', 'link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', this.#namespace]);
    await run(['ip', 'address', 'add', `${host}/30`, 'dev', outer]);
    await run(['ip', 'link', 'set', outer, 'up']);
    await run([...inside, 'address', 'add', `${engine}/30`, 'dev', inner]);
    await run([...inside, 'link', 'set', inner, 'up']);
    await run([...inside, 'link', 'set', 'lo', 'up']);
    await run([...inside, 'route', 'add', 'default', 'via', host]);
  }

  async #copyImages(images: string[]): Promise<void> {
    const save = Bun.spawn(['docker', 'save', ...images], { stdout: 'pipe', stderr: 'inherit' });
    const load = Bun.spawn(['docker', '--host', `unix://${this.socket}`, 'load'], {
      stdin: save.stdout,
      stdout: 'ignore',
      stderr: 'inherit',
    });
    if ((await save.exited) !== 0 || (await load.exited) !== 0) throw new Error('cannot copy the images');
  }
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

const runs = (name: string, pidFile: string): boolean => {
  if (!existsSync(pidFile)) return false;
  const comm = `/proc/${readFileSync(pidFile, 'utf8').trim()}/comm`;
  return existsSync(comm) && readFileSync(comm, 'utf8').trim() === name;
};

/** Processes with `argument` in their command line, and their children. */
const processesOf = (argument: string): number[] => {
  const list = Bun.spawnSync(['ps', '-eo', 'pid=,ppid=,args=']).stdout.toString().split('\n');
  const found = new Set<number>();
  // Parents come before their children, unless process ids have started over.
  for (const line of list) {
    const [pid = 0, parent = 0] = line.trim().split(/\s+/, 2).map(Number);
    if (line.includes(argument) || found.has(parent)) found.add(pid);
  }
  return [...found];
};

/** The innermost first. */
const mountsBelow = (dir: string): string[] =>
  readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[1] ?? [])
    .filter((path) => path.startsWith(`${dir}/`))
    .sort((a, b) => b.length - a.length);

const run = async (argv: string[]): Promise<void> => {
  const child = Bun.spawn(argv, { stdout: 'ignore', stderr: 'pipe' });
  const error = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${argv.join(' ')}: ${error}`);
};
