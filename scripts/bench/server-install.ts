import { join } from 'node:path';
import { IMAGES, publish } from '#test/e2e/install/lab.ts';
import { Machine, Network } from '#test/support/machine.ts';
import type { Benchmark } from './kit/bench.ts';
import { summarise } from './kit/stats.ts';

/** Each run boots nothing anew: the machine is purged of berth in between. */
const MOST_RUNS = 5;

/** The one line on a machine that systemd booted and that has Docker and the images, until the server is well. */
export const serverInstall: Benchmark = async ({ runs, say, scope }) => {
  const network = await Network.make();
  scope.defer(() => network.dispose());
  const publisher = publish(network, { now: join(import.meta.dir, '../../dist/berth') });
  scope.defer(() => publisher.stop());
  const machine = await Machine.boot({ name: 'bench', network, images: IMAGES, withDocker: true });
  scope.defer(() => machine.dispose());
  const line = (flags: string): string =>
    `curl -fsSL ${publisher.url}/install.sh | sh -s -- ${publisher.from('now')} --yes ${flags}`;
  const times: number[] = [];
  for (let run = 1; run <= Math.min(runs, MOST_RUNS); run += 1) {
    const begun = performance.now();
    await machine.sh(line(''));
    times.push(performance.now() - begun);
    say(`server install ${run}: ${times.at(-1)?.toFixed(0)} ms`);
    await machine.sh(line('--uninstall --purge'));
  }
  return [
    {
      what: 'install of a server that has Docker and the images, to its first healthy answer',
      unit: 'ms',
      berth: summarise(times),
      target: { kind: 'value', atMost: 30_000 },
      notes: ['Debian 12 in a container that systemd boots; download of the executable from the same machine'],
    },
  ];
};
