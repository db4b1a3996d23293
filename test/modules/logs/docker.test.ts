import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { systemClock } from '#kernel/clock';
import { createMasker } from '#kernel/mask';
import { createServiceLogs, type ServiceLogs } from '#modules/logs';
import { bash, openLab, quiet, type Lab, type LabNetwork } from '../../engines/runtime/support.ts';
import { atEnd } from '#test/support/preload.ts';
import { tempDir } from '../support/rig.ts';

// A busy machine may take its time.
setDefaultTimeout(60_000);

let lab: Lab;
let network: LabNetwork;
beforeAll(async () => {
  lab = openLab();
  network = await lab.addNetwork('logs');
});
afterAll(() => lab.cleanUp());

let last = 1;
const launch = async (script: string): Promise<string> => {
  last += 1;
  const ip = network.gateway.replace(/\.1$/, `.${last}`);
  const spec = lab.spec(network, ip, bash(script));
  const { id } = await lab.runtime.create({ ...spec, restart: 'unless-stopped' });
  await lab.runtime.start(id);
  return id;
};

const openLogs = (dataDir: string): ServiceLogs => {
  const logs = createServiceLogs({
    runtime: lab.runtime,
    clock: systemClock,
    log: quiet,
    config: { dataDir, logBytesPerService: 10_000_000 },
    maskerFor: () => createMasker(['planted-secret']),
  });
  atEnd(() => logs.stop());
  return logs;
};

const attach = (logs: ServiceLogs, containerId: string): void =>
  logs.attach({ containerId, name: 'r1', project: 'shop', service: 'web', release: 'rel_1' });

const stored = (logs: ServiceLogs): string[] => logs.tail('shop', 'web', { lines: 100_000 }).map(({ line }) => line);

const until = async (condition: () => boolean, what: string): Promise<void> => {
  const deadline = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

test('every line of a busy container is stored once and in order, over restarts of berth in the middle', async () => {
  const id = await launch(
    'for i in $(seq 1 6000); do echo "n $i"; [ $((i % 20)) = 0 ] && sleep 0.01; done; sleep 1000',
  );
  const dataDir = tempDir();
  let logs = openLogs(dataDir);
  attach(logs, id);
  for (const enough of [500, 1500, 3000]) {
    await until(() => stored(logs).length > enough, `${enough} lines`);
    await logs.stop();
    await new Promise((resolve) => setTimeout(resolve, 200));
    logs = openLogs(dataDir);
    attach(logs, id);
  }
  await until(() => stored(logs).at(-1) === 'n 6000', 'the last line');
  expect(stored(logs)).toEqual(Array.from({ length: 6000 }, (_, i) => `n ${i + 1}`));
});

test('a container that crashes and restarts is followed on, and its last words are kept when it is retired', async () => {
  const id = await launch(
    'echo up planted-secret; trap "echo bye; exit 0" TERM; sleep 0.5 & wait; [ -e /tmp/x ] || { touch /tmp/x; echo crash; exit 3; }; sleep 1000 & wait',
  );
  const logs = openLogs(tempDir());
  attach(logs, id);
  await until(() => stored(logs).length >= 3, 'the second start');
  await lab.runtime.stop(id, 5);
  await logs.detach(id);
  await lab.runtime.remove(id);
  expect(stored(logs)).toEqual(['up [secret]', 'crash', 'up [secret]', 'bye']);
});
