import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { buildVariant, copyExecutable } from '#test/support/executables.ts';
import { Machine, Network, type Ran } from '#test/support/machine.ts';
import { until } from '#test/support/until.ts';
import { ARCH, Authority, DOMAIN, IMAGES, makeRelease, NAMES, publish, type Publisher } from './lab.ts';

const NEXT = '90.1.0';

const folder = mkdtempSync(join(tmpdir(), 'berth-install-'));
let network: Network;
let authority: Authority;
let publisher: Publisher;
/** Bare: Debian and systemd. */
let server: Machine;
/** With a Docker that somebody installed. */
let other: Machine;
let laptop: Machine;

beforeAll(async () => {
  network = await Network.make();
  const executables = { now: join(folder, 'now/berth'), next: join(folder, 'next/berth') };
  copyExecutable(executables.now);
  await buildVariant(executables.next, NEXT);
  publisher = publish(network, executables);
  [authority, server, other, laptop] = await Promise.all([
    Authority.start(network),
    Machine.boot({ name: 'server', network, aliases: NAMES, images: IMAGES }),
    Machine.boot({ name: 'other', network, images: IMAGES, withDocker: true }),
    Machine.boot({ name: 'laptop', network }),
  ]);
  await Promise.all([server, laptop].map((machine) => authority.introduceTo(machine)));
  await laptop.copy(join(import.meta.dir, '../../../examples/static-site'), '/root/site');
}, 180_000);

afterAll(async () => {
  await Promise.all([server, other, laptop, authority].map((each) => each?.dispose()));
  await network?.dispose();
  await publisher?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** What the documentation says, at this laboratory's address. */
const oneLine = (flags: string, version = 'now'): string =>
  `curl -fsSL ${publisher.url}/install.sh | sh -s -- ${publisher.from(version)} ${flags}`;

const install = (machine: Machine, flags: string, version?: string): Promise<Ran> =>
  machine.run(['sh', '-c', oneLine(flags, version)]);

const versionOf = async (url: string): Promise<string> => JSON.parse(await page(`${url}/v1/health`)).version;

const FLAGS = `--base-domain ${DOMAIN} --acme-email ops@example.com --yes`;

/** What the laptop gets at a URL, by certificates that it trusts. */
const page = async (url: string): Promise<string> => {
  let text = '';
  await until(async () => {
    const { code, out } = await laptop.run(['curl', '-fsS', '--max-time', '5', url]);
    text = out;
    return code === 0;
  });
  return text;
};

const berth = (line: string, at = '/root'): Promise<string> =>
  laptop.sh(`PATH=$HOME/.local/bin:$PATH; cd ${at}; berth ${line}`, {
    NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
  });

test('a run that the power cut off is repeated, and makes a bare Debian a berth with HTTPS', async () => {
  const cutOff = install(server, FLAGS);
  await until(() => server.run(['pgrep', '-x', 'dpkg']).then(({ code }) => code === 0));
  await server.crash();
  expect((await cutOff).code).not.toBe(0);
  const { code, out, error } = await install(server, FLAGS);
  expect([code, error, out]).toEqual([0, expect.any(String), expect.stringContaining('berth is installed')]);
  expect(out).toContain('Docker      will be installed');
  expect(await server.sh('systemctl is-active berth docker')).toBe('active\nactive');
  expect(JSON.parse(await page(`https://${DOMAIN}/v1/health`))).toMatchObject({ status: 'ok' });
}, 120_000);

test('the service has a sandbox that systemd calls good, and state that only root can read', async () => {
  const said = await server.sh('systemd-analyze security berth --no-pager');
  const [, exposure = '10'] = /exposure level for berth.service: ([\d.]+)/.exec(said) ?? [];
  expect(Number(exposure)).toBeLessThan(5);
  expect(await server.sh('stat -c "%a %U" /var/lib/berth /var/lib/berth/admin-token /usr/local/lib/berth/berth')).toBe(
    '700 root\n600 root\n755 root',
  );
});

test('the client comes from the server by one line', async () => {
  await laptop.sh(`curl -fsSL https://${DOMAIN}/install.sh | sh`);
  expect(await laptop.sh('PATH="$HOME/.local/bin:$PATH"; berth --version')).toBe(await server.sh('berth --version'));
});

test('in it deploys, limits of builds, firewall, datastores and git work', async () => {
  await berth(`login https://${DOMAIN} --token-stdin <<END
${await server.sh('cat /var/lib/berth/admin-token')}
END`);
  await berth('deploy /root/site -p shop -s web');
  expect(await page(`https://web--shop.${DOMAIN}/`)).toContain('<html');
  // A step of the build ran, so Docker has made its control group.
  const group = 'docker/buildkit/memory.limit_in_bytes';
  const limit = await server.sh(
    `cat /sys/fs/cgroup/memory/${group} 2>/dev/null || cat /sys/fs/cgroup/docker/buildkit/memory.max`,
  );
  expect(Number(limit)).toBeLessThan(2 ** 40);
  expect(await server.sh('iptables -S')).toMatch(/-j BERTH-\w{4}-INPUT/);
  await berth('db add redis -p shop');
  await until(async () => JSON.parse(await berth('db ls -p shop --json')).datastores[0].status === 'ready');
  await berth('repos create site -p shop --deploy web');
  await berth('repos commit site -p shop -m first index.html', '/root/site');
  expect(await server.sh('readlink /proc/$(cut -d" " -f1 /var/lib/berth/server.lock)/fd/2')).toMatch(/^socket:/);
  const log = await server.sh('journalctl _SYSTEMD_UNIT=berth.service --no-pager -o cat');
  expect(log.split('\n').filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([]);
}, 120_000);

test('doctor finds nothing wrong on it', async () => {
  const { checks } = JSON.parse(await server.sh('berth doctor --json || true'));
  expect(checks.filter(({ status }: { status: string }) => status === 'fail')).toEqual([]);
});

test('a second run keeps state and settings, and disturbs no app', async () => {
  const settings = await server.sh('cat /var/lib/berth/berth.toml');
  const proxy = await server.sh('docker ps -q --filter label=berth.role=proxy');
  const { code, out, error } = await install(server, '--yes');
  expect([code, error, out]).toEqual([0, expect.any(String), expect.stringContaining('This will upgrade berth')]);
  expect(out).not.toContain('installing');
  expect(await server.sh('cat /var/lib/berth/berth.toml')).toBe(settings);
  expect(await server.sh('docker ps -q --filter label=berth.role=proxy')).toBe(proxy);
  expect(await berth('projects ls --json')).toContain('"shop"');
  expect(await page(`https://web--shop.${DOMAIN}/`)).toContain('<html');
}, 60_000);

test('the apps are back after a power cut', async () => {
  await server.crash();
  expect(await page(`https://web--shop.${DOMAIN}/`)).toContain('<html');
}, 60_000);

test('a version that is not well is taken back', async () => {
  await server.sh('echo late-migration >/usr/local/lib/berth/behaviour');
  const { code, error } = await install(server, '--yes', 'next');
  expect([code, error]).toEqual([1, expect.stringContaining('the server was not upgraded, and goes on as it was')]);
  expect(await versionOf(`https://${DOMAIN}`)).toBe(manifest.version);
}, 90_000);

test('an upgrade that the power cuts off is ended by the server itself, inside its sandbox', async () => {
  const cutOff = install(server, '--yes', 'next');
  const trial = '/var/lib/berth/upgrade.trial.json';
  await until(() => server.run(['test', '-e', trial]).then(({ code }) => code === 0));
  await server.crash();
  expect((await cutOff).code).not.toBe(0);
  await until(
    () => server.run(['test', '-e', '/var/lib/berth/upgrade.reverted.json']).then(({ code }) => code === 0),
    60,
  );
  await server.sh('rm /usr/local/lib/berth/behaviour');
  expect(await versionOf(`https://${DOMAIN}`)).toBe(manifest.version);
  expect(await page(`https://web--shop.${DOMAIN}/`)).toContain('<html');
}, 120_000);

test('a run with a newer version upgrades it on trial; no request to an app fails', async () => {
  const loop = `while [ ! -e /tmp/enough ]; do curl -fsS -o /dev/null https://web--shop.${DOMAIN}/ && echo ok || echo failed; done`;
  const traffic = laptop.run(['sh', '-c', loop]);
  const { code, out, error } = await install(server, '--yes', 'next');
  await laptop.sh('touch /tmp/enough');
  expect([code, error, out]).toEqual([0, expect.any(String), expect.stringContaining('berth is installed')]);
  expect(await versionOf(`https://${DOMAIN}`)).toBe(NEXT);
  const answers = (await traffic).out.trim().split('\n');
  expect(answers.length).toBeGreaterThan(20);
  expect(answers).not.toContain('failed');
}, 60_000);

test('a release with all platforms leaves the server with the clients of its version to hand out', async () => {
  await makeRelease(join(folder, 'next/berth'), NEXT, join(folder, 'release'));
  await server.sh('mkdir -p /usr/local/lib/berth/downloads');
  await server.sh(
    'echo "{}" >/usr/local/lib/berth/downloads/manifest.json; echo old >/usr/local/lib/berth/downloads/former',
  );
  await server.copy(join(folder, 'release'), '/root/release');
  const lone = await install(server, '--yes', 'next');
  expect([lone.code, lone.error]).toEqual([0, expect.stringContaining('no clients of other platforms were taken')]);
  expect(await laptop.sh(`curl -s https://${DOMAIN}/dl/berth-darwin-arm64`)).toContain('berth server downloads FROM');
  const line = `curl -fsSL ${publisher.url}/install.sh | sh -s -- --yes --from /root/release/berth-linux-${ARCH}`;
  const { code, out, error } = await server.run(['sh', '-c', line]);
  expect([code, error, out]).toEqual([0, expect.any(String), expect.stringContaining('taking the clients of other')]);
  const { version, executables } = JSON.parse(await page(`https://${DOMAIN}/dl/manifest.json`));
  expect([version, executables.map(({ platform }: { platform: string }) => platform).sort()]).toEqual([
    NEXT,
    ['darwin-amd64', 'darwin-arm64', 'linux-amd64', 'linux-arm64'],
  ]);
  expect(await page(`https://${DOMAIN}/dl/berth-darwin-arm64`)).toBe(`for darwin-arm64, ${NEXT}`);
  expect(await server.sh('ls /usr/local/lib/berth /usr/local/lib/berth/downloads')).not.toMatch(/former|new/);
  expect((await server.run(['sh', '-c', line])).error).not.toContain('platform');
}, 90_000);

test('on a machine with Docker and the images it takes less than 30 s, asks at the terminal, and shows the token once', async () => {
  const begun = performance.now();
  const typed = ['Next.Example', 'next.example.test', 'nobody', '', 'y', ''].join('\n');
  const line = oneLine('').replaceAll("'", '');
  const { code, out } = await other.run(['script', '-qec', line, '/dev/null'], { input: typed });
  expect([code, out]).toEqual([0, expect.stringContaining('berth is installed')]);
  expect(performance.now() - begun).toBeLessThan(30_000);
  expect(out).toContain('"Next.Example" is not a domain in lower case');
  expect(out).toContain('"nobody" is not an e-mail address');
  expect(out).toContain('next.example.test is not known to DNS');
  expect(out).toMatch(/Docker +stays: /);
  const token = await other.sh('cat /var/lib/berth/admin-token');
  expect(out.split(token)).toHaveLength(2);
  expect(await other.sh('cat /var/lib/berth/berth.toml')).toBe('base_domain = "next.example.test"');
  const again = await other.run(['script', '-qec', oneLine('--yes'), '/dev/null']);
  expect([again.code, again.out.includes(token)]).toEqual([0, false]);
}, 90_000);

test('the server moves to another machine by the backup of its state', async () => {
  await server.sh('berth state backup /root/state.tar.gz');
  await server.sh('systemctl stop berth');
  await server.copyTo('/root/state.tar.gz', other);
  expect((await install(other, '--uninstall --purge --yes')).code).toBe(0);
  await authority.introduceTo(other);
  const { code, out, error } = await install(other, '--restore /root/state.tar.gz --yes', 'next');
  expect([code, error, out]).toEqual([0, expect.any(String), expect.stringContaining('restoring /root/state.tar.gz')]);
  await laptop.sh(`echo ${other.address} ${NAMES.join(' ')} >>/etc/hosts`);
  expect(await page(`https://web--shop.${DOMAIN}/`)).toContain('<html');
  expect(await berth('projects ls --json')).toContain('"shop"');
}, 120_000);

test('uninstalling keeps what a new installation goes on with; purging leaves nothing', async () => {
  const left = (): Promise<string> =>
    server.sh('docker ps -aq; docker network ls -q --filter type=custom; iptables -S | grep BERTH || true');
  const gone = await install(server, '--uninstall --yes');
  expect([gone.code, gone.out]).toEqual([0, expect.stringMatching(/removed: \d+ containers[^]*kept: 1 volumes/)]);
  expect(await left()).toBe('');
  expect((await server.run(['systemctl', 'status', 'berth'])).code).toBe(4);
  expect(
    await server.sh('ls -d /usr/local/bin/berth /usr/local/lib/berth /etc/systemd/system/berth.service || true'),
  ).toBe('');
  const purged = await install(server, '--uninstall --purge --yes');
  expect([purged.code, purged.out]).toEqual([0, expect.stringContaining('removed: 1 volumes')]);
  expect(await server.sh('docker volume ls -q; ls -d /var/lib/berth 2>/dev/null || true')).toBe('');
  expect(await server.sh('docker images --format "{{.Repository}}"')).not.toMatch(/shop|base/);
  expect((await install(server, '--uninstall --yes')).out).toContain('berth is not installed here');
}, 60_000);
