import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pack } from 'tar-stream';
import { createBuildkitBuilder } from '#engines/builder/buildkit';
import type { RegistryNetwork, RegistryPlace } from '#engines/registry/container';
import { createDockerRegistry, type DockerRegistry } from '#engines/registry/docker';
import { createDockerRuntime } from '#engines/runtime/docker';
import { takenSubnets } from '#engines/runtime/host-routes';
import type { Runtime } from '#engines/runtime/port';
import { allocateSubnet, hostAddresses } from '#engines/runtime/subnets';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { docker, removeByLabel } from '#test/support/docker.ts';
import { freePorts } from '#test/support/ports.ts';

export interface Lab {
  registry: DockerRegistry;
  runtime: Runtime;
  place: RegistryPlace;
  prefix: string;
  /** A second installation's worth of the same registry: another berth process on the same directory. */
  again: (change?: Partial<RegistryPlace>) => DockerRegistry;
  makeImage: (content: string, base?: string, bytes?: number) => Promise<string>;
  /** An image whose history and layer name a build argument. */
  makeImageWithArgument: (content: string, argument: string) => Promise<string>;
  close: () => Promise<void>;
}

const SOCKET = process.env['DOCKER_SOCKET'] ?? '/var/run/docker.sock';
const quiet = createLog('error', (line) => process.stderr.write(line), Date.now);

export const openLab = async (): Promise<Lab> => {
  const run = randomBytes(4).toString('hex');
  const prefix = `berth-test-${run}`;
  const labels = { 'berth.test': prefix };
  const options = { socketPath: SOCKET, clock: systemClock, log: quiet };
  const runtime = createDockerRuntime({ ...options, installation: labels });
  const [port = 0] = await freePorts(1);
  const freeNetwork = async (): Promise<RegistryNetwork> => {
    const allotted = allocateSubnet('10.205.0.0/16', 29, await takenSubnets(runtime));
    if (allotted === undefined) throw new Error('no free subnet for the test');
    const [registry = '', collector = ''] = hostAddresses(allotted.subnet);
    return {
      network: { name: prefix, ...allotted, bridge: `bt${run}`, labels, interContainer: false },
      addresses: { registry, collector },
    };
  };
  const dir = await mkdtemp(join(tmpdir(), 'berth-registry-'));
  await chmod(dir, 0o711);
  const place: RegistryPlace = {
    ...(await freeNetwork()),
    name: `${prefix}-registry`,
    image: 'registry:3',
    port,
    dir,
    user: '65532:65532',
    labels,
  };
  const images: string[] = [];
  const nextName = (): string => {
    const name = `${prefix}/image:${images.length}`;
    images.push(name);
    return name;
  };
  return {
    registry: createDockerRegistry({ ...options, runtime, place, otherNetwork: freeNetwork }),
    runtime,
    place,
    prefix,
    again: (change = {}) =>
      createDockerRegistry({ ...options, runtime, place: { ...place, ...change }, otherNetwork: freeNetwork }),
    makeImage: async (content, base = 'scratch', bytes = 100_000) => {
      const name = nextName();
      // Bytes that do not compress, so that sizes on disk mean something.
      const dockerfile = `FROM ${base}\nCOPY content /${images.length}\n`;
      await buildImage(name, prefix, dockerfile, Buffer.concat([Buffer.from(content), randomBytes(bytes)]));
      return name;
    },
    makeImageWithArgument: async (content, argument) => {
      const name = nextName();
      await buildWithArgument(name, prefix, content, argument);
      return name;
    },
    close: async () => {
      // Those on top of others first.
      for (const name of images.reverse()) {
        const id = await docker(['images', '-q', name]);
        if (id !== '') await docker(['rmi', '-f', id.trim()]);
      }
      await removeByLabel(`berth.test=${prefix}`);
      await rm(dir, { recursive: true, force: true });
    },
  };
};

const buildImage = async (name: string, prefix: string, dockerfile: string, content: Buffer): Promise<void> => {
  const dir = await mkdtemp(join(tmpdir(), 'berth-image-'));
  await Bun.write(join(dir, 'Dockerfile'), dockerfile);
  await Bun.write(join(dir, 'content'), content);
  await docker(['build', '-q', '-t', name, '--label', `berth.test=${prefix}`, dir]);
  await rm(dir, { recursive: true });
};

const DOCKERFILE =
  'FROM debian:trixie-slim\nCOPY content /content\nARG ARGUMENT\nRUN printf %s "$ARGUMENT" >/argument\n';

/** By the builder that berth uses: Docker's older one writes an image's history in other words. */
const buildWithArgument = async (tag: string, prefix: string, content: string, argument: string): Promise<void> => {
  const context = pack();
  context.entry({ name: 'Dockerfile' }, DOCKERFILE);
  context.entry({ name: 'content' }, content);
  context.finalize();
  await createBuildkitBuilder({ socketPath: SOCKET, clock: systemClock, log: quiet }).build({
    context: Readable.from(context),
    dockerfile: 'Dockerfile',
    tag,
    buildArgs: { ARGUMENT: argument },
    labels: { 'berth.test': prefix },
    cacheScope: prefix,
    noCache: false,
    signal: new AbortController().signal,
    onLog: () => undefined,
  });
};
