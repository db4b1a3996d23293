import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { BerthError } from '#kernel/errors';
import { APP_CAPABILITIES } from '#engines/runtime/container-spec';
import type { ContainerSpec } from '#engines/runtime/port';
import { bash, type Lab, type LabNetwork, openLab } from './support.ts';

// A busy machine may take its time.
setDefaultTimeout(60_000);

let lab: Lab;
let network: LabNetwork;
let last = 1;

const nextAddress = (): string => {
  last += 1;
  return network.gateway.replace(/\.1$/, `.${last}`);
};
const launch = async (script: string, overrides: Partial<ContainerSpec> = {}): Promise<string> => {
  const { id } = await lab.runtime.create({ ...lab.spec(network, nextAddress(), bash(script)), ...overrides });
  await lab.runtime.start(id);
  return id;
};
/** What a container prints until it ends. */
const output = async (script: string, overrides: Partial<ContainerSpec> = {}): Promise<string[]> => {
  const lines = await Array.fromAsync(lab.runtime.logs(await launch(script, overrides), { follow: true }));
  return lines.map(({ line }) => line);
};

beforeAll(async () => {
  lab = openLab();
  network = await lab.addNetwork('a');
});
afterAll(() => lab.cleanUp());

describe('inside a container', () => {
  test('there are no capabilities and no way to new privileges', async () => {
    const status = await output('grep -E "^(CapPrm|CapEff|CapBnd|NoNewPrivs)" /proc/self/status');
    expect(status).toEqual([
      'CapPrm:\t0000000000000000',
      'CapEff:\t0000000000000000',
      'CapBnd:\t0000000000000000',
      'NoNewPrivs:\t1',
    ]);
  });
  test('an app has the short list of capabilities exactly', async () => {
    const [, effective = ''] =
      (await output('grep CapEff /proc/self/status', { capAdd: [...APP_CAPABILITIES] }))[0]?.split('\t') ?? [];
    // Bits of <linux/capability.h>: CHOWN 0, DAC_OVERRIDE 1, FOWNER 3, KILL 5, SETGID 6, SETUID 7, NET_BIND_SERVICE 10.
    const wanted = [0, 1, 3, 5, 6, 7, 10].reduce((bits, bit) => bits + 2 ** bit, 0);
    expect(Number.parseInt(effective, 16)).toBe(wanted);
  });
  test('an entry point can drop from root to a user of its own, as ordinary images do', async () => {
    const script =
      'mkdir /srv/data && chown 1000:1000 /srv/data && exec perl -e \'$) = "1000 1000"; $( = 1000; $< = $> = 1000; exec "id", "-u"\'';
    expect(await output(script, { capAdd: [...APP_CAPABILITIES] })).toEqual(['1000']);
  });
  test('a read-only root can only be written in its tmpfs, which has half of the memory', async () => {
    const script =
      'touch /etc/x 2>/dev/null && echo root; touch /tmp/x && echo tmp; echo $(df -B1 --output=size /tmp | tail -1)';
    expect(await output(script, { readOnlyRoot: true, tmpfs: ['/tmp'] })).toEqual(['tmp', String(32 * 1024 ** 2)]);
  });
  test('a fork bomb ends at the limit of processes', async () => {
    const lines = await output('for i in $(seq 40); do sleep 1 & done 2>&1', { pidsLimit: 16 });
    expect(lines.join('\n')).toContain('Resource temporarily unavailable');
  });
  test('neighbours are found by alias', async () => {
    const ip = nextAddress();
    await launch('sleep 60', { network: { name: network.name, ip, aliases: ['db'] } });
    expect(await output('getent ahostsv4 db | head -1 | cut -d" " -f1')).toEqual([ip]);
  });
  test('other names resolve as given', async () => {
    expect(await output('getent hosts store', { extraHosts: { store: '10.1.2.3' } })).toEqual([
      '10.1.2.3        store',
    ]);
  });
  test('environment values arrive unchanged, whatever they hold', async () => {
    const value = 'a b=c "quoted" $HOME `id` \\n ü {{.}}';
    expect(await output('printenv VALUE', { env: { VALUE: value } })).toEqual([value]);
  });
});

describe('the end of a container', () => {
  test('that uses too much memory is told as such', async () => {
    const id = await launch('exec perl -e \'$x = "x" x (256 * 1024 * 1024); sleep 60\'');
    await Array.fromAsync(lab.runtime.logs(id, { follow: true }));
    expect(await lab.runtime.inspect(id)).toMatchObject({ status: 'exited', exitCode: 137, oomKilled: true });
  });
  test('that ignores SIGTERM comes after its grace', async () => {
    const id = await launch("trap '' TERM; echo ready; while true; do sleep 0.1; done");
    for await (const { line } of lab.runtime.logs(id, { follow: true })) if (line === 'ready') break;
    const begin = performance.now();
    await lab.runtime.stop(id, 1);
    expect(performance.now() - begin).toBeGreaterThan(900);
    expect(await lab.runtime.inspect(id)).toMatchObject({ status: 'exited', exitCode: 137 });
  });
  test('removes its anonymous volumes, and leaves named ones with their labels', async () => {
    const name = `${lab.prefix}-data`;
    const labels = { 'berth.test': lab.prefix };
    const id = await launch('sleep 60', { volumes: [{ name, target: '/data', labels }] });
    await lab.runtime.remove(id);
    const volume = lab.docker.getVolume(name);
    expect((await volume.inspect()).Labels).toMatchObject(labels);
    await volume.remove();
  });
});

describe('a container that can not start', () => {
  test('because its command is missing is INVALID_INPUT and names the command', async () => {
    const spec = lab.spec(network, nextAddress(), ['/no/such/command']);
    const { id } = await lab.runtime.create({ ...spec, init: false });
    const error = await lab.runtime.start(id).catch((thrown: BerthError) => thrown);
    expect(error).toMatchObject({ kind: 'INVALID_INPUT', retryable: false });
    expect((error as BerthError).message).toContain('/no/such/command');
  });
  test('because its loopback port is taken is a CONFLICT', async () => {
    const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
    const spec = lab.spec(network, nextAddress(), ['sleep', '60']);
    const { id } = await lab.runtime.create({ ...spec, loopbackPorts: [{ host: server.port, container: 80 }] });
    expect(await lab.runtime.start(id).catch((thrown: BerthError) => thrown)).toMatchObject({ kind: 'CONFLICT' });
    server.stop(true);
  });
});

describe('networks', () => {
  test('without traffic between containers keep them apart', async () => {
    const closed = await lab.addNetwork('b', false);
    const at = (address: number): string => closed.gateway.replace(/\.1$/, `.${address}`);
    const listener = `exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 9, LocalPort => 8080); while ($c = $s->accept) { close $c }'`;
    await launch(listener, { network: { name: closed.name, ip: at(2), aliases: [] } });
    const probe = `timeout 1 bash -c '</dev/tcp/${at(2)}/8080' 2>/dev/null && echo open || echo closed`;
    expect(await output(probe, { network: { name: closed.name, ip: at(3), aliases: [] } })).toEqual(['closed']);
  });
  test('have the bridge name that they were given', async () => {
    expect(await Bun.file(`/sys/class/net/${network.bridge}/address`).exists()).toBe(true);
  });
});

describe('a port published on loopback', () => {
  test('answers on 127.0.0.1 and on no other address of the host', async () => {
    const listener = `exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 9, LocalPort => 8080); print "up\\n"; $| = 1; while ($c = $s->accept) { close $c }'`;
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    await launch(listener, { loopbackPorts: [{ host: port, container: 8080 }] });
    const sockets = await Bun.file('/proc/net/tcp').text();
    const hex = port.toString(16).toUpperCase().padStart(4, '0');
    const listening = [...sockets.matchAll(new RegExp(String.raw`: ([0-9A-F]{8}):${hex} [0-9A-F:]+ 0A`, 'g'))];
    expect(listening.map(([, address]) => address)).toEqual(['0100007F']);
  });
});
