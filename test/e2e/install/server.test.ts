import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { Machine, Network, type Ran } from '#test/support/machine.ts';
import { until } from '#test/support/until.ts';
import { Authority, DOMAIN, EXECUTABLE, IMAGES, NAMES, publish, type Publisher } from './lab.ts';

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
  publisher = await publish(network);
  [authority, server, other, laptop] = await Promise.all([
    Authority.start(network),
    Machine.boot({ name: 'server', network, aliases: NAMES, images: IMAGES }),
    Machine.boot({ name: 'other', network, images: IMAGES, withDocker: true }),
    Machine.boot({ name: 'laptop', network }),
  ]);
  await Promise.all([server, laptop].map((machine) => authority.introduceTo(machine)));
  await laptop.copy(EXECUTABLE, '/usr/local/bin/berth');
  await laptop.copy(join(import.meta.dir, '../../../examples/static-site'), '/root/site');
}, 180_000);

afterAll(async () => {
  await Promise.all([server, other, laptop, authority].map((each) => each?.dispose()));
  await network?.dispose();
  await publisher?.stop();
}, 60_000);

/** What the documentation says, at this laboratory's address. */
const oneLine = (flags: string): string =>
  `curl -fsSL ${publisher.url}/install.sh | sh -s -- --from ${publisher.url}/ --sha256 ${publisher.sha256} ${flags}`;

const install = (machine: Machine, flags: string): Promise<Ran> => machine.run(['sh', '-c', oneLine(flags)]);

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

const berth = (line: string, folder = '/root'): Promise<string> =>
  laptop.sh(`cd ${folder}; berth ${line}`, { NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt' });

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
  const log = await server.sh('journalctl -u berth --no-pager -o cat');
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
