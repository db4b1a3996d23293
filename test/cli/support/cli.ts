import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const MAIN = join(import.meta.dir, '../../../src/main.ts');

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string;
}

/** A home of its own, so that no saved server of the developer is ever touched. */
export class Home {
  readonly dir = mkdtempSync(join(tmpdir(), 'berth-cli-'));

  path(...parts: string[]): string {
    return join(this.dir, ...parts);
  }

  /** Writes files below the home, with their folders. */
  write(files: Record<string, string>): this {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(this.path(path)), { recursive: true });
      writeFileSync(this.path(path), content);
    }
    return this;
  }

  get configFile(): string {
    return this.path('config', 'berth', 'config.json');
  }

  /** The CLI with these arguments, for another program to start. */
  argv(args: readonly string[]): string[] {
    return [process.execPath, MAIN, ...args];
  }

  /** Starts the CLI as a child process, as a shell would. */
  spawn(args: readonly string[], options: RunOptions = {}) {
    return Bun.spawn(this.argv(args), {
      cwd: options.cwd ?? this.dir,
      env: { PATH: process.env['PATH'] ?? '', HOME: this.dir, XDG_CONFIG_HOME: this.path('config'), ...options.env },
      stdin: options.stdin === undefined ? 'ignore' : new Blob([options.stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    });
  }

  async run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const child = this.spawn(args, options);
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, stdout, stderr };
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}
