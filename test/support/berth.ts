import { Database } from 'bun:sqlite';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firewallSpec, LABEL } from '#deploy/index';
import { createIptablesFirewall } from '#engines/firewall/iptables';
import { createLog } from '#kernel/log';
import type { Operation } from '#modules/operations';
import { writeFiles } from './apps.ts';
import { removeByLabel } from './docker.ts';
import type { TestEngine } from './engine.ts';
import { freePorts } from './ports.ts';

/** The compiled executable that the end-to-end tests drive. */
const EXECUTABLE = join(import.meta.dir, '../../dist/berth');

export interface Reply {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into replies of many shapes
  body: any;
}

export interface ApiOptions {
  method?: string;
  body?: unknown;
  token?: string | null;
  headers?: Record<string, string>;
}

export interface Prepared {
  flags?: string[];
  /** Undoes what was prepared, once the server is gone. */
  cleanUp: () => Promise<void>;
}

export interface BootOptions {
  /** Called before the server starts, when its ports and its empty data directory are known. */
  prepare?: (berth: Berth) => Promise<Prepared>;
  /** The engine to use instead of the host's. */
  engine?: TestEngine;
  /** Another executable than dist/berth. */
  executable?: string;
}

/** A berth of its own: data directory, ports, Docker objects; nothing is left of it after `destroy`. */
export class Berth {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'berth-e2e-'));
  readonly ports: { api: number; http: number; https: number; proxyApi: number; registry: number };
  readonly #flags: string[];
  readonly #pool = randomPool();
  readonly #engine: TestEngine | undefined;
  #executable = EXECUTABLE;
  #process: ReturnType<typeof Bun.spawn> | undefined;
  #cleanUp: (() => Promise<void>) | undefined;
  token = '';

  private constructor(ports: number[], flags: string[], engine?: TestEngine) {
    const [api = 0, http = 0, https = 0, proxyApi = 0, registry = 0] = ports;
    this.ports = { api, http, https, proxyApi, registry };
    this.#flags = [...(engine === undefined ? [] : ['--docker-socket', engine.socket]), ...flags];
    this.#engine = engine;
  }

  static async boot(flags: string[] = [], { prepare, engine, executable }: BootOptions = {}): Promise<Berth> {
    const berth = new Berth(await freePorts(5), flags, engine);
    if (executable !== undefined) berth.#executable = executable;
    const prepared = await prepare?.(berth);
    berth.#cleanUp = prepared?.cleanUp;
    berth.#flags.push(...(prepared?.flags ?? []));
    await berth.start();
    return berth;
  }

  /** Where its API and its apps are reached. */
  get address(): string {
    return this.#engine?.address ?? '127.0.0.1';
  }

  get url(): string {
    return `http://${this.address}:${this.ports.api}`;
  }

  get logFile(): string {
    return join(this.dataDir, 'server.log');
  }

  get #tokenFile(): string {
    return join(this.dataDir, 'admin-token');
  }

  async start(): Promise<void> {
    this.launch();
    await this.ready();
    this.token = readFileSync(this.#tokenFile, 'utf8').trim();
  }

  /** Starts the process; it may not answer yet. */
  launch(): void {
    const { ports } = this;
    this.#process = Bun.spawn(
      [
        ...(this.#engine?.prefix ?? []),
        this.#executable,
        'server',
        '--data-dir',
        this.dataDir,
        '--listen',
        `${this.address}:${ports.api}`,
        '--http-port',
        String(ports.http),
        '--https-port',
        String(ports.https),
        '--proxy-api-port',
        String(ports.proxyApi),
        '--registry-port',
        String(ports.registry),
        '--token-file',
        this.#tokenFile,
        '--no-seed-base-images',
        ...(this.#flags.includes('--prepare-datastores') ? [] : ['--no-prepare-datastores']),
        '--network-pool',
        this.#pool,
        ...this.#flags,
      ],
      { stdout: 'ignore', stderr: Bun.file(this.logFile), env: { PATH: process.env.PATH ?? '', HOME: this.dataDir } },
    );
  }

  /** Waits until the API answers and its engines are there. */
  async ready(): Promise<void> {
    const deadline = performance.now() + 60_000;
    while (performance.now() < deadline) {
      if (this.#process?.exitCode !== null && this.#process?.exitCode !== undefined) break;
      const health = await fetch(`${this.url}/v1/health`).then(
        (reply) => reply.json(),
        () => undefined,
      );
      if (health?.status === 'ok') return;
      await Bun.sleep(50);
    }
    throw new Error(`berth did not become ready; its log:\n${readFileSync(this.logFile, 'utf8')}`);
  }

  get serverLog(): string {
    return readFileSync(this.logFile, 'utf8');
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Whether the server process lives. */
  get running(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Returns the exit code. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | undefined> {
    this.#process?.kill(signal);
    const code = await this.#process?.exited;
    this.#process = undefined;
    return code;
  }

  async api(path: string, options: ApiOptions = {}): Promise<Reply> {
    const token = options.token === undefined ? this.token : options.token;
    const response = await fetch(`${this.url}${path}`, {
      method: options.method ?? 'GET',
      headers: {
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : parse(text) };
  }

  async project(name: string): Promise<void> {
    const reply = await this.api('/v1/projects', { method: 'POST', body: { name } });
    if (reply.status > 201) throw new Error(`cannot create the project: ${JSON.stringify(reply.body)}`);
  }

  /** Uploads `files` as a deploy, and returns the reply at once. */
  async upload(project: string, service: string, files: Record<string, string>, query = ''): Promise<Reply> {
    return this.uploadArchive(project, service, await pack(files), query);
  }

  async uploadArchive(project: string, service: string, archive: Uint8Array, query = ''): Promise<Reply> {
    const response = await fetch(`${this.url}/v1/projects/${project}/services/${service}/deploys${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.token}`, 'content-type': 'application/gzip' },
      body: new Blob([archive as Uint8Array<ArrayBuffer>]),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  /** Deploys `files` and waits for the end of the operation. */
  async deploy(project: string, service: string, files: Record<string, string>, query = ''): Promise<Operation> {
    const reply = await this.upload(project, service, files, query);
    if (reply.status !== 202) throw new Error(`the deploy was refused: ${JSON.stringify(reply.body)}`);
    return this.wait(reply.body.operation_id);
  }

  async wait(operationId: string, seconds = 240): Promise<Operation> {
    const deadline = performance.now() + seconds * 1000;
    while (performance.now() < deadline) {
      const { body } = await this.api(`/v1/operations/${operationId}`);
      if (body.status === 'succeeded' || body.status === 'failed') return body;
      await Bun.sleep(50);
    }
    throw new Error(`operation ${operationId} did not end in ${seconds} s`);
  }

  /** A request to an app through the proxy. */
  app(project: string, service: string, path = '/', init: RequestInit = {}): Promise<Response> {
    return fetch(`http://${this.address}:${this.ports.http}${path}`, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init.headers)), host: `${service}--${project}.localhost` },
    });
  }

  async appText(project: string, service: string, path = '/'): Promise<string> {
    return (await this.app(project, service, path)).text();
  }

  /** Id of the installation, as its database has it. */
  instance(): string {
    const db = new Database(join(this.dataDir, 'berth.db'), { readonly: true });
    try {
      return db.query<{ value: string }, []>("SELECT value FROM meta WHERE key = 'instance'").get()?.value ?? '';
    } finally {
      db.close();
    }
  }

  /** Stops it, and removes its containers, networks, images and firewall rules by its id. */
  async destroy(): Promise<void> {
    const instance = this.instance();
    await this.stop('SIGKILL');
    // An engine of its own goes with all that it had.
    if (instance !== '' && this.#engine === undefined) {
      await removeByLabel(`${LABEL.instance}=${instance}`);
      await createIptablesFirewall({ ...firewallSpec(instance, []), log: QUIET }).remove();
    }
    await this.#cleanUp?.();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

/** Installations that start at the same time don't see each other's networks yet: each takes another slice of the default pool. */
const randomPool = (): string => {
  const slice = Math.floor(Math.random() * 128);
  return `10.${208 + (slice >> 3)}.${(slice & 7) * 32}.0/19`;
};

const QUIET = createLog('error', () => undefined, Date.now);

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Packs files as a gzipped tar, as a client would. */
export const pack = async (files: Record<string, string>): Promise<Uint8Array> => {
  const dir = mkdtempSync(join(tmpdir(), 'berth-source-'));
  try {
    writeFiles(dir, files);
    return await packDirectory(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

export const packDirectory = async (dir: string): Promise<Uint8Array> => {
  const tar = Bun.spawn(['tar', '-czf', '-', '-C', dir, '--exclude=node_modules', '.'], { stdout: 'pipe' });
  const bytes = await new Response(tar.stdout).bytes();
  if ((await tar.exited) !== 0) throw new Error('tar failed');
  return bytes;
};
