import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { createIptablesFirewall } from '#engines/firewall/iptables';
import { readNameservers } from '#engines/firewall/nameservers';
import type { Firewall } from '#engines/firewall/port';
import { bash, type Lab, type LabNetwork, openLab, quiet } from '../runtime/support.ts';
import { openOutside, type Outside, tool } from './outside.ts';

// A busy machine may take its time.
setDefaultTimeout(60_000);

type Targets = Record<string, { ip: string; port: number }>;

let lab: Lab;
let ours: LabNetwork;
let other: LabNetwork;
let outside: Outside;
let firewall: Firewall;
let targets: Targets;
let hostPort: number;
let entryPort: number;
const servers: { stop(closeActive?: boolean): void }[] = [];

const METADATA = '169.254.169.254';
const LOCAL_LINK = '169.254.77.1';
const inNetwork = ({ gateway }: LabNetwork, last: number): string => gateway.replace(/\.1$/, `.${last}`);

/** Something of the host that listens on all its addresses. */
const listen = (): number => {
  const server = Bun.listen({
    hostname: '0.0.0.0',
    port: 0,
    socket: { open: (socket) => void socket.end('hello'), data: () => undefined },
  });
  servers.push(server);
  return server.port;
};

const LISTENER = bash(
  `exec perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 9, LocalPort => 8080, ReuseAddr => 1); while ($c = $s->accept) { print $c "hello"; close $c }'`,
);

const serve = async (network: LabNetwork, last: number, published: number[] = []): Promise<void> => {
  const spec = lab.spec(network, inNetwork(network, last), LISTENER);
  const loopbackPorts = published.map((host) => ({ host, container: 8080 }));
  const { id } = await lab.runtime.create({ ...spec, loopbackPorts });
  await lab.runtime.start(id);
};

/** Prints `name open` or `name closed` for each target. */
const probeScript = (all: Targets): string =>
  Object.entries(all)
    .map(([name, { ip, port }]) => {
      const attempt = `read -t 2 -n 5 answer < /dev/tcp/${ip}/${port} && [ "$answer" = hello ]`;
      return `(timeout 3 bash -c '${attempt}' 2>/dev/null && echo ${name} open || echo ${name} closed) &`;
    })
    .concat('wait')
    .join('\n');

const linesOf = async (id: string): Promise<string[]> =>
  (await Array.fromAsync(lab.runtime.logs(id, { follow: true }))).map(({ line }) => line);

const runIn = async (network: LabNetwork, script: string): Promise<string[]> => {
  const { id } = await lab.runtime.create(lab.spec(network, inNetwork(network, 200), bash(script)));
  await lab.runtime.start(id);
  const lines = await linesOf(id);
  await lab.runtime.remove(id);
  return lines;
};

/** Names of the targets that answer a container in the network. */
const reachable = async (all: Targets): Promise<string[]> =>
  (await runIn(ours, probeScript(all)))
    .filter((line) => line.endsWith(' open'))
    .map((line) => line.replace(' open', ''))
    .toSorted();

const probeFromHost = async (ip: string, port: number): Promise<string> => {
  const answer = Promise.withResolvers<string>();
  await Bun.connect({
    hostname: ip,
    port,
    socket: { data: (_, data) => answer.resolve(data.toString()), error: (_, error) => answer.reject(error) },
  });
  return await answer.promise;
};

const hostAddress = (): string => {
  const own = Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    name === 'lo' || name.startsWith('br') || name.startsWith('docker') || name.startsWith('bt')
      ? []
      : (addresses ?? []),
  );
  const found = own.find(({ family, internal }) => family === 'IPv4' && !internal);
  if (found === undefined) throw new Error('the host has no address of its own');
  return found.address;
};

const runOnDefaultBridge = async (script: string): Promise<string> => {
  const container = await lab.docker.createContainer({
    Image: 'debian:trixie-slim',
    Cmd: bash(script),
    Labels: { 'berth.installation': lab.prefix.slice(-8) },
  });
  await container.start();
  return container.id;
};

/** The same for a container where build steps run, beside another one. */
const reachableFromDefaultBridge = async (): Promise<string[]> => {
  const other = await runOnDefaultBridge(LISTENER.at(-1) ?? '');
  const { NetworkSettings } = await lab.docker.getContainer(other).inspect();
  const otherStep = { ip: NetworkSettings.Networks['bridge']?.IPAddress ?? '', port: 8080 };
  const lines = await linesOf(await runOnDefaultBridge(probeScript({ ...targets, otherStep })));
  await lab.docker.getContainer(other).remove({ force: true });
  return lines
    .filter((line) => line.endsWith(' open'))
    .map((line) => line.replace(' open', ''))
    .toSorted();
};

beforeAll(async () => {
  lab = openLab();
  ours = await lab.addNetwork('a');
  other = await lab.addNetwork('b');
  outside = await openOutside(METADATA);
  await tool('ip', 'address', 'replace', `${LOCAL_LINK}/32`, 'dev', 'lo');
  hostPort = listen();
  entryPort = listen();
  const published = 20_000 + Math.floor(Math.random() * 10_000);
  await serve(ours, 10);
  await serve(other, 10, [published]);
  firewall = createIptablesFirewall({
    chains: chains(),
    bridges: ours.bridge.slice(0, -1),
    entryPorts: [entryPort],
    nameservers: await readNameservers(),
    log: quiet,
  });
  targets = {
    neighbour: { ip: inNetwork(ours, 10), port: 8080 },
    foreignContainer: { ip: inNetwork(other, 10), port: 8080 },
    foreignPublished: { ip: other.gateway, port: published },
    foreignPublishedOnOwnGateway: { ip: ours.gateway, port: published },
    foreignPublishedOnHost: { ip: hostAddress(), port: published },
    hostOnOwnGateway: { ip: ours.gateway, port: hostPort },
    hostOnForeignGateway: { ip: other.gateway, port: hostPort },
    hostOnItsAddress: { ip: hostAddress(), port: hostPort },
    hostOnDefaultBridge: { ip: '172.17.0.1', port: hostPort },
    entryOnOwnGateway: { ip: ours.gateway, port: entryPort },
    entryOnHostAddress: { ip: hostAddress(), port: entryPort },
    metadataBehindARoute: { ip: METADATA, port: outside.port },
    linkLocalOfTheHost: { ip: LOCAL_LINK, port: hostPort },
    linkLocalOfTheHostAtAnEntryPort: { ip: LOCAL_LINK, port: entryPort },
    outside: { ip: outside.address, port: outside.port },
  };
});

afterAll(async () => {
  await firewall.remove();
  for (const server of servers) server.stop(true);
  await tool('ip', 'address', 'del', `${LOCAL_LINK}/32`, 'dev', 'lo');
  await outside.close();
  await lab.cleanUp();
});

/** What steps of builds reach without this firewall: less than everything where another berth runs on the machine. */
let unguarded: string[];

test('without the firewall, containers reach the host and the metadata address, but never another network', async () => {
  unguarded = await reachableFromDefaultBridge();
  expect(unguarded).toContain('outside');
  expect(await reachable(targets)).toEqual(
    [
      'neighbour',
      'hostOnOwnGateway',
      'hostOnForeignGateway',
      'hostOnItsAddress',
      'hostOnDefaultBridge',
      'entryOnOwnGateway',
      'entryOnHostAddress',
      'metadataBehindARoute',
      'linkLocalOfTheHost',
      'linkLocalOfTheHostAtAnEntryPort',
      'outside',
    ].toSorted(),
  );
  expect((await firewall.status()).state).toBe('inactive');
});
test('with the firewall, they reach their neighbours, the entry points and the outside only', async () => {
  expect(await firewall.ensure()).toEqual({ state: 'active' });
  expect(await reachable(targets)).toEqual(['entryOnHostAddress', 'entryOnOwnGateway', 'neighbour', 'outside']);
});
test('the host still reaches containers', async () => {
  expect(await probeFromHost(inNetwork(ours, 10), 8080)).toBe('hello');
  expect(await probeFromHost(inNetwork(other, 10), 8080)).toBe('hello');
});
test('containers resolve names as the host does', async () => {
  const host = await lookup('example.com', 4).then(
    () => true,
    () => false,
  );
  const lines = await runIn(ours, 'getent ahostsv4 example.com > /dev/null && echo true || echo false');
  expect(lines).toEqual([String(host)]);
});
test('build steps on the default bridge are kept off the host, the metadata address and each other', async () => {
  expect(await reachableFromDefaultBridge()).toEqual(['entryOnHostAddress', 'entryOnOwnGateway', 'outside']);
});
const chains = (): string => `BT${lab.prefix.slice(-8).toUpperCase()}`;
/** In their order. Another berth on this machine may move its own between them at any time. */
const ownRules = async (): Promise<string[]> =>
  (await tool('iptables', '-S')).split('\n').filter((line) => line.includes(chains()));

test('setting it again changes nothing, and heals what was flushed', async () => {
  const before = await ownRules();
  expect(before.length).toBeGreaterThan(5);
  expect(await firewall.ensure()).toEqual({ state: 'active' });
  expect(await ownRules()).toEqual(before);
  const jump = before.find((line) => line.startsWith('-A INPUT -i bt')) ?? '';
  await tool('iptables', ...jump.replace('-A', '-D').split(' '));
  expect((await firewall.status()).state).toBe('inactive');
  expect(await firewall.ensure()).toEqual({ state: 'active' });
  expect(await ownRules()).toEqual(before);
});
test('removing it leaves no trace, twice', async () => {
  await firewall.remove();
  await firewall.remove();
  expect(await tool('iptables', '-S')).not.toContain('-j BT');
  expect(await tool('ip6tables', '-S')).not.toContain('-j BT');
  expect(await reachable({ host: { ip: ours.gateway, port: hostPort } })).toEqual(['host']);
  expect(await reachableFromDefaultBridge()).toEqual(unguarded);
});
test('where iptables is missing, the status says so', async () => {
  const without = createIptablesFirewall({
    chains: 'NONE',
    bridges: 'none',
    entryPorts: [],
    nameservers: [],
    log: { ...quiet, warn: () => undefined },
    toolPath: '/nonexistent',
  });
  expect(await without.ensure()).toMatchObject({ state: 'unavailable', reason: 'iptables is not installed' });
  expect(await without.status()).toMatchObject({ state: 'unavailable' });
});
test('where it is forbidden, the status says so', async () => {
  const asNobody = `
      import { createIptablesFirewall } from '#engines/firewall/iptables';
      const log = { debug() {}, info() {}, warn() {}, error() {} };
      process.setgid(65534); process.setuid(65534);
      const firewall = createIptablesFirewall({ chains: 'NONE', bridges: 'none', entryPorts: [], nameservers: [], log });
      console.log(JSON.stringify(await firewall.ensure()));`;
  const child = Bun.spawn([process.execPath, '-e', asNobody], { stdout: 'pipe', cwd: process.cwd() });
  const told = JSON.parse(await new Response(child.stdout).text()) as { state: string; reason: string };
  expect(told.state).toBe('unavailable');
  expect(told.reason).toContain('root');
});
