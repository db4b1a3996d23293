import { BerthError } from '#kernel/errors';
import { maskLine } from '#kernel/mask';
import type { Run } from '#modules/operations';
import type { ServiceRow } from '#modules/services';
import type { Addresses } from './addresses.ts';
import type { DeployDeps } from './deps.ts';
import type { Networks } from './networks.ts';
import { replicaEnv, replicaName, replicaSpec } from './specs.ts';

export interface ReleaseCommand {
  /**
   * Runs `argv` once in the new image, with the service's env, network and limits, and waits for its end. Rejects with
   * BUILD_COMMAND_FAILED when it ends with another code than 0.
   */
  run(run: Run, service: ServiceRow, what: { image: string; argv: string[] }): Promise<void>;
}

const TAIL_LINES = 50;
/** Number of no replica, for the container's name. */
const SLOT = 0;

export const createReleaseCommand = (deps: DeployDeps, addresses: Addresses, networks: Networks): ReleaseCommand => {
  const { runtime, config } = deps;

  /** Its lines as they come; resolves with the last ones when the container has ended. */
  const follow = async (run: Run, containerId: string): Promise<string> => {
    const masker = deps.env.masker(run.project);
    const tail: string[] = [];
    for await (const { line } of runtime.logs(containerId, { follow: true, signal: run.signal })) {
      const shown = maskLine(masker, line);
      run.log('rollout', shown);
      tail.push(shown);
      if (tail.length > TAIL_LINES) tail.shift();
    }
    return tail.join('\n');
  };

  return {
    run: async (run, service, { image, argv }) => {
      const project = await networks.ensure(service.project);
      const ip = addresses.reserve(project);
      let containerId: string | undefined;
      try {
        const env = replicaEnv(config, service, deps.env.resolve(service.project));
        const place = {
          config,
          instance: deps.instance,
          network: project.network,
          operationId: run.id,
          slot: SLOT,
          ip,
        };
        const spec = replicaSpec({ ...place, service, image, env });
        containerId = (await runtime.create({ ...spec, command: argv, name: replicaName(service, SLOT, run.id) })).id;
        run.log('rollout', `release command: ${argv.join(' ')}`);
        await runtime.start(containerId);
        const logTail = await follow(run, containerId);
        if (run.signal.aborted) throw run.signal.reason;
        const state = await runtime.inspect(containerId);
        if (state?.exitCode !== 0) throw failed(state?.exitCode ?? null, state?.oomKilled ?? false, logTail);
      } finally {
        if (containerId !== undefined) await runtime.remove(containerId);
        addresses.release(service.project, ip);
      }
    },
  };
};

const failed = (exitCode: number | null, oomKilled: boolean, logTail: string): BerthError => {
  const how = oomKilled ? 'ran out of memory' : `ended with exit code ${exitCode ?? 'unknown'}`;
  return new BerthError('BUILD_COMMAND_FAILED', `the release command ${how}; nothing was rolled out`, {
    hint: 'read log_tail for the cause, fix the command, and deploy again',
    logTail,
  });
};
