import type { ContainerSpec } from '#engines/runtime/port';
import { BerthError } from '#kernel/errors';
import { maskColoured } from '#kernel/mask';
import { colouredText, withoutColours } from '#kernel/terminal';
import type { Run } from '#modules/operations';
import type { ServiceRow } from '#modules/services';
import type { Addresses } from './addresses.ts';
import type { DeployDeps } from './deps.ts';
import type { Networks } from './networks.ts';
import { replicaEnv, replicaSpec } from './specs.ts';

export interface ReleaseCommand {
  /**
   * Runs `argv` once in the new image, with the service's env, network and limits, and waits for its end; not again when
   * berth was restarted after it. Rejects with
   * BUILD_COMMAND_FAILED when it ends with another code than 0, and with TIMEOUT when it takes too long.
   */
  run(run: Run, service: ServiceRow, what: { image: string; argv: string[] }): Promise<void>;
}

const TAIL_LINES = 50;
/** Number of no replica, for the container's name. */
const SLOT = 0;

export const createReleaseCommand = (deps: DeployDeps, addresses: Addresses, networks: Networks): ReleaseCommand => {
  const { runtime, config } = deps;

  /** Its lines as they come; resolves with the last ones when the container has ended. */
  const follow = async (run: Run, containerId: string, signal: AbortSignal): Promise<string> => {
    const masker = deps.env.masker(run.project);
    const tail: string[] = [];
    for await (const { line } of runtime.logs(containerId, { follow: true, signal })) {
      const shown = maskColoured(masker, colouredText(line));
      run.log('rollout', shown);
      tail.push(withoutColours(shown));
      if (tail.length > TAIL_LINES) tail.shift();
    }
    return tail.join('\n');
  };

  const specOf = (
    run: Run,
    service: ServiceRow,
    place: { image: string; network: string; ip: string },
  ): ContainerSpec => {
    const attachments = deps.datastores.attachments(service.project);
    const env = replicaEnv(config, service, { ...attachments.env, ...deps.env.resolve(service.project) });
    const spec = replicaSpec({
      ...place,
      config,
      instance: deps.instance,
      service,
      operationId: run.id,
      slot: SLOT,
      env,
      mounts: attachments.mounts,
    });
    // It serves nothing: under the service's name others would try to reach it.
    return { ...spec, network: { name: place.network, ip: place.ip, aliases: [] } };
  };

  return {
    run: async (run, service, { image, argv }) => {
      if (run.checkpoint !== null) {
        run.log('rollout', 'the release command ran before berth was restarted');
        return;
      }
      const project = await networks.ensure(service.project);
      const ip = addresses.reserve(project);
      const limit = AbortSignal.timeout(config.releaseTimeoutSeconds * 1000);
      let containerId: string | undefined;
      try {
        const spec = specOf(run, service, { image, network: project.network, ip });
        containerId = (await runtime.create({ ...spec, command: argv })).id;
        run.log('rollout', `release command: ${argv.join(' ')}`);
        await runtime.start(containerId);
        const logTail = await follow(run, containerId, AbortSignal.any([run.signal, limit]));
        if (run.signal.aborted) throw run.signal.reason;
        if (limit.aborted) throw tooLong(config.releaseTimeoutSeconds, logTail);
        const state = await runtime.inspect(containerId);
        if (state?.exitCode !== 0) throw failed(state?.exitCode ?? null, state?.oomKilled ?? false, logTail);
        run.saveCheckpoint({ release: null, committed: false });
      } finally {
        if (containerId !== undefined) await runtime.remove(containerId);
        addresses.release(service.project, ip);
      }
    },
  };
};

const tooLong = (seconds: number, logTail: string): BerthError =>
  new BerthError(
    'TIMEOUT',
    `the release command took longer than ${seconds} s and was stopped; nothing was rolled out`,
    {
      hint: 'make it quicker, or raise release_timeout_seconds in the configuration of the server; then deploy again',
      logTail,
    },
  );

const failed = (exitCode: number | null, oomKilled: boolean, logTail: string): BerthError => {
  const how = oomKilled ? 'ran out of memory' : `ended with exit code ${exitCode ?? 'unknown'}`;
  return new BerthError('BUILD_COMMAND_FAILED', `the release command ${how}; nothing was rolled out`, {
    hint: 'read the last lines of its log for the cause, fix the command, and deploy again',
    logTail,
  });
};
