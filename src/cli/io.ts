/** A stream that the CLI writes to. */
export interface Writer {
  write(text: string): void;
  readonly isTTY: boolean;
  readonly columns: number;
}

/** Everything that the CLI takes from the process: src/main.ts gives the real one, tests give their own. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  home: string;
  stdout: Writer;
  stderr: Writer;
  /** Whether a person can answer questions. */
  interactive: boolean;
  /** Asks on the terminal and reads one line; `hidden` does not echo it. */
  ask(question: string, options?: { hidden?: boolean }): Promise<string>;
  /** All of standard input. */
  readStdin(): Promise<string>;
  /** Aborts on Ctrl-C. */
  signal: AbortSignal;
  /** Makes the signals that end the process end `run` instead, for the server. SIGUSR2 asks for the executable that lies in its place now. */
  untilStopped(): Promise<'SIGTERM' | 'SIGINT' | 'SIGUSR2'>;
  /** Runs an executable in the place of this process, with the same arguments; never returns. */
  exec(executable: string): never;
}
