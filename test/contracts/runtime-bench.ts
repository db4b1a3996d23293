import type { BerthError } from '#kernel/errors';
import type { ContainerSpec, Labels, NetworkSpec, Runtime, RuntimeLogLine } from '#engines/runtime/port';

/** What a container of these tests does; each harness knows the command that does it. */
export type Program = 'idle' | 'says' | 'fails';

/** The lines of the program `says`, which then ends with code 0. */
export const SAID = [
  { stream: 'stdout', line: 'one' },
  { stream: 'stdout', line: 'two' },
  { stream: 'stderr', line: 'three' },
] as const;
/** The exit code of the program `fails`. */
export const FAILURE_CODE = 3;

export interface RuntimeHarness {
  runtime: Runtime;
  /** The same engine, as an installation with other labels sees it. */
  stranger: Runtime;
  /** An image that is there. */
  image: string;
  command: (program: Program) => string[];
  /** Unique to this run, so that nothing collides. */
  prefix: string;
  network: { subnet: string; gateway: string; bridge: string };
  /** Address in the network. */
  address: (index: number) => string;
  /** What the engine says of a container's limit, in bytes. */
  memoryLimit: (id: string) => Promise<number | undefined>;
  cleanUp: () => Promise<void>;
}

/** The kind of error that a call fails with. */
export const kindOf = async (promise: Promise<unknown>): Promise<string> => {
  try {
    await promise;
    return 'no error';
  } catch (error) {
    return (error as BerthError).kind;
  }
};

/** Waits for a state that the engine reaches by itself. */
export const until = async (condition: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + 10_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('the condition did not come true within 10 s');
    await Bun.sleep(10);
  }
};

/** The text of lines. */
export const text = (lines: RuntimeLogLine[]): string[] => lines.map(({ line }) => line);

/** One engine under test, opened anew for every test. */
export class Bench {
  private current: RuntimeHarness | undefined;
  private counter = 0;
  private readonly boot: () => Promise<RuntimeHarness>;

  constructor(boot: () => Promise<RuntimeHarness>) {
    this.boot = boot;
  }

  async open(): Promise<void> {
    this.current = await this.boot();
    await this.runtime.ensureNetwork(this.network());
  }

  async close(): Promise<void> {
    await this.current?.cleanUp();
    this.current = undefined;
  }

  get harness(): RuntimeHarness {
    if (this.current === undefined) throw new Error('the bench is closed');
    return this.current;
  }

  get runtime(): Runtime {
    return this.harness.runtime;
  }

  get labels(): Labels {
    return { 'berth.test': this.harness.prefix };
  }

  network(): NetworkSpec {
    const { prefix, network } = this.harness;
    return { name: `${prefix}-net`, ...network, labels: this.labels, interContainer: true };
  }

  spec(program: Program, overrides: Partial<ContainerSpec> = {}): ContainerSpec {
    this.counter += 1;
    return {
      name: `${this.harness.prefix}-${this.counter}`,
      image: this.harness.image,
      entrypoint: this.harness.command(program),
      command: [],
      env: {},
      labels: this.labels,
      network: { name: this.network().name, ip: this.harness.address(this.counter % 100), aliases: ['app'] },
      loopbackPorts: [],
      mounts: [],
      volumes: [],
      memoryBytes: 64 * 1024 ** 2,
      cpus: 0.5,
      pidsLimit: 64,
      capAdd: [],
      readOnlyRoot: false,
      tmpfs: [],
      restart: 'no',
      init: true,
      stopGraceSeconds: 2,
      ...overrides,
    };
  }

  async run(program: Program, overrides: Partial<ContainerSpec> = {}): Promise<string> {
    const { id } = await this.runtime.create(this.spec(program, overrides));
    await this.runtime.start(id);
    return id;
  }

  ended(id: string): Promise<void> {
    return until(async () => (await this.runtime.inspect(id))?.status === 'exited');
  }

  async allLines(id: string, options: { tail?: number; since?: string } = {}): Promise<RuntimeLogLine[]> {
    return await Array.fromAsync(this.runtime.logs(id, { follow: false, ...options }));
  }
}
