import Docker from 'dockerode';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { createDockerRuntime } from '#engines/runtime/docker';
import type { ContainerSpec, Runtime } from '#engines/runtime/port';
import { takenSubnets } from '#engines/runtime/host-routes';
import { allocateSubnet } from '#engines/runtime/subnets';

export const SOCKET = process.env.DOCKER_SOCKET ?? '/var/run/docker.sock';
/** A small Debian: it has bash and perl, and nothing of the network tools. */
export const IMAGE = process.env.BERTH_TEST_IMAGE ?? 'debian:trixie-slim';
export const quiet = createLog('error', (line) => process.stderr.write(line), Date.now);

/** A real engine with labels of its own, and all that was made with it cleaned up by id. */
export interface Lab {
  runtime: Runtime;
  stranger: Runtime;
  /** dockerode itself, for what the port does not offer. */
  docker: Docker;
  prefix: string;
  /** A folder of its own, on this machine. */
  dir: string;
  /** Makes a network in a free subnet. */
  addNetwork: (suffix: string, interContainer?: boolean) => Promise<LabNetwork>;
  spec: (network: LabNetwork, ip: string, command: string[]) => ContainerSpec;
  cleanUp: () => Promise<void>;
}

export interface LabNetwork {
  name: string;
  subnet: string;
  gateway: string;
  bridge: string;
}

export const openLab = (socketPath = SOCKET): Lab => {
  const run = randomBytes(4).toString('hex');
  const prefix = `berth-test-${run}`;
  const installation = { 'berth.installation': run };
  const options = { socketPath, clock: systemClock, log: quiet };
  const runtime = createDockerRuntime({ ...options, installation });
  // Cleans up past whatever a test puts between itself and Docker.
  const direct = createDockerRuntime({ ...options, socketPath: SOCKET, installation });
  let dir: string | undefined;
  let counter = 0;
  return {
    runtime,
    get dir() {
      dir ??= mkdtempSync(join(tmpdir(), 'berth-lab-'));
      return dir;
    },
    stranger: createDockerRuntime({ ...options, installation: { 'berth.installation': `not-${run}` } }),
    docker: new Docker({ socketPath: SOCKET }),
    prefix,
    addNetwork: async (suffix, interContainer = true) => {
      const place = await freeSubnet(direct);
      const network = { name: `${prefix}-${suffix}`, ...place, bridge: `bt${run}${suffix}`.slice(0, 15) };
      await direct.ensureNetwork({ ...network, labels: {}, interContainer });
      return network;
    },
    spec: (network, ip, command) => {
      counter += 1;
      return { ...plainSpec, name: `${prefix}-c${counter}`, command, network: { name: network.name, ip, aliases: [] } };
    },
    cleanUp: async () => {
      if (dir !== undefined) rmSync(dir, { recursive: true, force: true });
      for (const { id } of await direct.list({})) await direct.remove(id);
      for (const { name } of await direct.listVolumes({})) await direct.removeVolume(name);
      for (const { name } of await direct.listNetworks({})) await direct.removeNetwork(name);
    },
  };
};

/** A /24 that neither Docker nor the host uses. */
export const freeSubnet = async (runtime: Runtime): Promise<{ subnet: string; gateway: string }> => {
  const free = allocateSubnet('10.206.0.0/16', 24, await takenSubnets(runtime));
  if (free === undefined) throw new Error('no free subnet for the test');
  return free;
};

const plainSpec: Omit<ContainerSpec, 'name' | 'command' | 'network'> = {
  image: IMAGE,
  env: {},
  labels: {},
  loopbackPorts: [],
  mounts: [],
  volumes: [],
  memoryBytes: 64 * 1024 ** 2,
  cpus: 1,
  pidsLimit: 64,
  capAdd: [],
  readOnlyRoot: false,
  tmpfs: [],
  restart: 'no',
  init: true,
  stopGraceSeconds: 1,
};

export const bash = (script: string): string[] => ['bash', '-c', script];
