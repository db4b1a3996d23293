import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createBuildkitBuilder } from '#engines/builder/buildkit';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import type { BuilderHarness } from '#test/contracts/builder.ts';
import { docker, removeByLabel } from '#test/support/docker.ts';

export const SOCKET = process.env['DOCKER_SOCKET'] ?? '/var/run/docker.sock';
export const quiet = createLog('error', (line) => process.stderr.write(line), Date.now);

export const bootBuilder = (): Promise<BuilderHarness> => {
  const prefix = `berth-test-${randomBytes(4).toString('hex')}`;
  return Promise.resolve({
    builder: createBuildkitBuilder({ socketPath: SOCKET, clock: systemClock, log: quiet }),
    baseImage: 'debian:trixie-slim',
    runs: isRunning,
    describeImage: async (tag) =>
      (await docker(['image', 'inspect', '--format', '{{json .Config}}', tag])) +
      (await docker(['history', '--no-trunc', '--format', '{{.CreatedBy}}', tag])),
    prefix,
    cleanUp: () => removeByLabel(`berth.test=${prefix}`),
  });
};

/** Whether any process of this machine has the word in its command line; RUN steps are processes of the host. */
export const isRunning = async (word: string): Promise<boolean> => {
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name) || name === String(process.pid)) continue;
    // A process may end while it is looked at.
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '');
    if (line.includes(word)) return true;
  }
  return false;
};
