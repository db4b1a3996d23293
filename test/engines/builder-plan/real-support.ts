import { randomBytes } from 'node:crypto';
import { createBuildkitBuilder } from '#engines/builder/buildkit';
import { planBuild } from '#engines/builder/detect';
import { contextFiles } from '#engines/builder/dockerfile';
import { readSourceTree } from '#engines/builder/source-tree-read';
import { packContext } from '#engines/source/context';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { docker, removeByLabel } from '#test/support/docker.ts';

const SOCKET = process.env['DOCKER_SOCKET'] ?? '/var/run/docker.sock';

export interface Built {
  tag: string;
  cached: string[];
  log: string;
}

export interface Running {
  id: string;
  get(path: string, init?: RequestInit): Promise<Response>;
  /** Stops it as a rollout does, and gives the milliseconds that it took. */
  stop(): Promise<number>;
}

/** Builds folders as a deploy does, and runs them with the rights of a deployed app; `destroy` removes everything. */
export class RealBuilds {
  readonly #run = `berth-plan-${randomBytes(4).toString('hex')}`;
  readonly #builder = createBuildkitBuilder({
    socketPath: SOCKET,
    clock: systemClock,
    log: createLog('error', (line) => process.stderr.write(line), Date.now),
  });

  async build(dir: string, env: Record<string, string> = {}): Promise<Built> {
    const name = dir.replace(/\/$/, '').replace(/^.*\//, '');
    const plan = planBuild(readSourceTree(dir), { projectEnv: env, remembered: {}, serviceName: name });
    const cached: string[] = [];
    const lines: string[] = [];
    const tag = `${this.#run}/${name}`;
    await this.#builder.build({
      context: packContext({ layers: [{ dir, prefix: 'source' }], files: contextFiles(plan, env, `test-${name}`) }),
      dockerfile: 'berth/Dockerfile',
      tag,
      buildArgs: {},
      labels: { 'berth.test': this.#run },
      cacheScope: `test-${name}`,
      noCache: false,
      signal: AbortSignal.timeout(600_000),
      onLog: ({ step, line }) => {
        if (line.endsWith('] CACHED')) cached.push(step);
        lines.push(line);
      },
    });
    return { tag, cached, log: lines.join('\n') };
  }

  /** Starts an image, and waits at most `seconds` until it answers. */
  async start(tag: string, { seconds = 60 }: { seconds?: number } = {}): Promise<Running> {
    const rights = ['--init', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--memory', '512m'];
    const label = `berth.test=${this.#run}`;
    const id = (await docker(['run', '-d', ...rights, '-e', 'PORT=3456', '--label', label, tag])).trim();
    const address = (await docker(['inspect', '-f', '{{.NetworkSettings.IPAddress}}', id])).trim();
    const get = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`http://${address}:3456${path}`, { redirect: 'manual', ...init });
    const deadline = systemClock.monotonic() + seconds * 1000;
    const answers = (): Promise<boolean> =>
      get('/').then(
        () => true,
        () => false,
      );
    while (!(await answers())) {
      if (systemClock.monotonic() > deadline) throw new Error(`${tag} never listened: ${await docker(['logs', id])}`);
      await systemClock.sleep(50);
    }
    const stop = async (): Promise<number> => {
      const started = systemClock.monotonic();
      await docker(['stop', '-t', '10', id]);
      return systemClock.monotonic() - started;
    };
    return { id, get, stop };
  }

  destroy(): Promise<unknown> {
    return removeByLabel(`berth.test=${this.#run}`);
  }
}
