import { join } from 'node:path';
import { until } from '#test/support/until.ts';
import type { Home } from './cli.ts';

const MAIN = join(import.meta.dir, '../../../src/main.ts');

export interface TerminalOptions {
  env?: Record<string, string>;
  columns?: number;
  /** The program itself, where it is not berth from source. */
  program?: readonly string[];
}

/** The CLI on a pseudo terminal, as a person sees it. */
export class Terminal {
  #shown = '';
  readonly #decoder = new TextDecoder();
  readonly #child: Bun.Subprocess;

  constructor(home: Pick<Home, 'dir' | 'path'>, args: readonly string[], options: TerminalOptions = {}) {
    const { env = {}, columns = 100, program = [process.execPath, MAIN] } = options;
    this.#child = Bun.spawn([...program, ...args], {
      cwd: home.dir,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: home.dir,
        XDG_CONFIG_HOME: home.path('config'),
        TERM: 'xterm-256color',
        ...env,
      },
      terminal: {
        cols: columns,
        rows: 30,
        data: (_terminal, bytes) => {
          this.#shown += this.#decoder.decode(bytes, { stream: true });
        },
      },
    });
  }

  /** Everything that came, escapes included. */
  get shown(): string {
    return this.#shown.replaceAll('\r\n', '\n');
  }

  get lines(): string[] {
    return Bun.stripANSI(this.shown).trimEnd().split('\n');
  }

  async until(text: string): Promise<void> {
    await until(() => this.shown.includes(text));
  }

  type(text: string): void {
    this.#child.terminal?.write(text);
  }

  /** The exit code, once all output has come. */
  async end(): Promise<number> {
    const code = await this.#child.exited;
    this.#child.terminal?.close();
    return code;
  }
}
