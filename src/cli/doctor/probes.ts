/** Answer of an HTTP probe. */
export interface HttpAnswer {
  status: number;
  /** Parsed JSON; undefined for anything else. */
  body: unknown;
  /** Milliseconds since the epoch that the answer's Date header gives. */
  date: number | undefined;
}

/** How doctor looks at the world. Tests give their own. Probes throw when they cannot look. */
export interface Probes {
  now(): number;
  /** User id of this process. */
  uid(): number;
  /** Full path of a program; null when it is not installed. */
  which(program: string): string | null;
  /** Runs a program and returns what it printed. */
  output(argv: readonly string[]): Promise<{ code: number; text: string }>;
  /** GET on the Docker engine's API; throws when the engine cannot be reached. */
  docker(socket: string, path: string): Promise<HttpAnswer>;
  http(url: string, token: string | undefined): Promise<HttpAnswer>;
  /** Whether something accepts connections. */
  connects(host: string, port: number): Promise<boolean>;
  /** Programs that listen on a port, as far as this user may see them. */
  listeners(port: number): Promise<string[]>;
  disk(path: string): Promise<{ freeBytes: number; totalBytes: number }>;
  memory(): Promise<{ availableBytes: number; totalBytes: number }>;
  /** Undefined when there is no such path. */
  stat(path: string): Promise<{ mode: number; uid: number; directory: boolean } | undefined>;
  /** Whether this user can write there. */
  writable(path: string): Promise<boolean>;
  /** IP addresses of a name; none when it is not known. */
  resolve(name: string): Promise<string[]>;
  ownAddresses(): string[];
  /** Opens a database in memory as the server does; gives SQLite's version, throws when it is too old. */
  sqlite(): Promise<string>;
}
