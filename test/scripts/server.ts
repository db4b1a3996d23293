import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePorts } from '#test/support/ports.ts';

const REPOSITORY = join(import.meta.dir, '../..');

export interface Installed {
  code: number;
  said: string;
}

/** A directory that stands for the root of a server; everything that is installed lies below it, and really runs. */
export class FakeServer {
  readonly root = mkdtempSync(join(tmpdir(), 'berth-install-'));
  readonly dataDir = this.path('/var/lib/berth');
  readonly executable = this.path('/usr/local/bin/berth');
  readonly unit = this.path('/etc/systemd/system/berth.service');
  readonly #media = this.path('/media');
  readonly #tools = this.path('/tools');

  /** `systemd`: whether it seems to be what started this machine. */
  constructor({ systemd }: { systemd: boolean }) {
    this.write('/etc/os-release', 'ID=debian\n');
    copyFileSync(join(REPOSITORY, 'install.sh'), this.write('/media/install.sh', ''));
    copyFileSync(join(REPOSITORY, 'dist/berth'), this.write('/media/berth', ''));
    for (const name of ['install.sh', 'berth']) chmodSync(join(this.#media, name), 0o755);
    mkdirSync(this.#tools);
    if (systemd) {
      mkdirSync(this.path('/run/systemd/system'), { recursive: true });
      this.tool('systemctl', SYSTEMCTL);
    }
  }

  path(below: string): string {
    return join(this.root, below);
  }

  write(below: string, text: string): string {
    const file = this.path(below);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  read(below: string): string {
    return readFileSync(this.path(below), 'utf8');
  }

  /** Puts a program in front of the machine's own. */
  tool(name: string, script: string): void {
    chmodSync(this.write(`/tools/${name}`, script), 0o755);
  }

  /** The same as a link to where the program lies. */
  toolAt(name: string, place: string, script: string): void {
    chmodSync(this.write(place, script), 0o755);
    symlinkSync(this.path(place), this.path(`/tools/${name}`));
  }

  dropTool(name: string): void {
    rmSync(this.path(`/tools/${name}`));
  }

  /** Lets the server use ports that nobody has. */
  async choosePorts(): Promise<{ api: number; http: number }> {
    const [api = 0, http = 0, https = 0, proxy = 0, registry = 0] = await freePorts(5);
    const config = [
      `listen = "127.0.0.1:${api}"`,
      `http_port = ${http}`,
      `https_port = ${https}`,
      `proxy_api_port = ${proxy}`,
      `registry_port = ${registry}`,
      'seed_base_images = false',
      'prepare_datastores = false',
      '',
    ].join('\n');
    this.write('/var/lib/berth/berth.toml', config);
    return { api, http };
  }

  /** Runs install.sh without a terminal. */
  async install(...flags: string[]): Promise<Installed> {
    return this.#run([join(this.#media, 'install.sh'), ...flags]);
  }

  /** As from `curl … | sh -s -- FLAGS`, of a script that may have arrived in part. */
  async pipe(script: string, ...flags: string[]): Promise<Installed> {
    return this.#run(['sh', '-s', '--', ...flags], script);
  }

  async #run(argv: string[], input = ''): Promise<Installed> {
    const child = Bun.spawn(['setsid', '--wait', ...argv], {
      env: {
        ...process.env,
        PATH: `${this.#tools}:${process.env['PATH']}`,
        INSTALL_ROOT: this.root,
        FAKE_ROOT: this.root,
      },
      stdin: new TextEncoder().encode(input),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, error, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { code, said: out + error };
  }

  /** What systemctl was asked to do. */
  get asked(): string[] {
    return existsSync(this.path('/asked')) ? this.read('/asked').trim().split('\n') : [];
  }

  get pid(): number {
    return Number(this.read('/pid'));
  }

  async remove(): Promise<void> {
    await this.install('--uninstall', '--purge', '--yes');
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Notes what it is asked, and starts and stops the service as its unit says. */
const SYSTEMCTL = `#!/bin/sh
[ "$1" != --quiet ] || shift
[ "$1" != show ] || exit 0
echo "$*" >>"$FAKE_ROOT/asked"
stop() {
  [ -e "$FAKE_ROOT/pid" ] || return 0
  kill "$(cat "$FAKE_ROOT/pid")" 2>/dev/null
  while kill -0 "$(cat "$FAKE_ROOT/pid")" 2>/dev/null; do sleep 0.05; done
  rm "$FAKE_ROOT/pid"
}
case "$*" in
  'restart berth')
    stop
    setsid $(sed -n 's/^ExecStart=//p' "$FAKE_ROOT/etc/systemd/system/berth.service") >/dev/null 2>>"$FAKE_ROOT/log" &
    echo $! >"$FAKE_ROOT/pid"
    ;;
  'disable --now berth') stop ;;
esac
`;
