import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Machine, Network } from '#test/support/machine.ts';
import { copyExecutable } from '#test/support/executables.ts';
import { DOMAIN, IMAGES, publish, type Publisher } from './lab.ts';

const folder = mkdtempSync(join(tmpdir(), 'berth-install-'));
const executable = join(folder, 'berth');
let network: Network;
let publisher: Publisher;
let machine: Machine;

/** Notes what it is asked; what Red Hat's packages are called in Debian, it takes from there. */
const DNF = `#!/bin/sh
echo "$*" >>/root/asked
[ ! -e /root/no-network ] || { echo 'Error: cannot download repomd.xml' >&2; exit 1; }
for name; do
  case "$name" in
    -*|install|docker-ce-cli|containerd.io) ;;
    moby-engine|docker-ce) apt-get install -y docker.io ;;
    *) apt-get install -y "$name" ;;
  esac
done
`;

beforeAll(async () => {
  network = await Network.make();
  copyExecutable(executable);
  publisher = publish(network, { now: executable });
  machine = await Machine.boot({ name: 'other-system', network, images: IMAGES });
  await machine.run(['sh', '-c', 'cat >/usr/bin/dnf && chmod +x /usr/bin/dnf && apt-get -q update'], { input: DNF });
}, 180_000);

afterAll(async () => {
  await machine?.dispose();
  await network?.dispose();
  await publisher?.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

const install = (flags = ''): ReturnType<Machine['run']> =>
  machine.run([
    'sh',
    '-c',
    `curl -fsSL ${publisher.url}/install.sh | sh -s -- ${publisher.from('now')} --yes ${flags}`,
  ]);

const be = (release: string): Promise<string> => machine.sh(`printf '${release}' >/etc/os-release; rm -f /root/asked`);

test("where the distribution has no Docker, Docker's own packages are taken; one that cannot be had is told", async () => {
  await be('ID=rocky\\nID_LIKE="rhel centos fedora"\\nPRETTY_NAME="Rocky Linux 9"\\n');
  await machine.sh('touch /root/no-network');
  const { code, out, error } = await install();
  expect([code, out]).toEqual([1, expect.stringContaining('› Rocky Linux 9, ')]);
  expect(error).toContain(
    'cannot download repomd.xml\n✗ cannot install git iptables ca-certificates\n  → correct what is said',
  );
  await machine.sh('rm /root/no-network');
  await machine.sh('dnf install git iptables; touch /root/no-network');
  expect((await install()).error).toContain('cannot install docker-ce docker-ce-cli containerd.io');
  expect(await machine.sh('cat /etc/yum.repos.d/docker-ce.repo')).toContain(
    'baseurl=https://download.docker.com/linux/centos/$releasever/$basearch/stable\nenabled=1\ngpgcheck=1\n',
  );
  expect(await machine.sh('ls /usr/local/bin/berth 2>/dev/null || echo nothing')).toBe('nothing');
  await machine.sh('rm /root/no-network /etc/yum.repos.d/docker-ce.repo');
}, 60_000);

test('a system like Fedora becomes a berth by dnf, with its data labelled for SELinux', async () => {
  await be('ID=fedora\\n');
  const tools = `printf '#!/bin/sh\\n' >/usr/bin/selinuxenabled; printf '#!/bin/sh\\necho chcon "$@" >>/root/asked\\n' >/usr/bin/chcon`;
  await machine.sh(`${tools}; chmod +x /usr/bin/selinuxenabled /usr/bin/chcon`);
  const { code, out, error } = await install();
  expect([code, error, out]).toEqual([0, expect.any(String), expect.stringContaining('berth is installed')]);
  expect(await machine.sh('cat /root/asked')).toBe(
    '-q -y install moby-engine\nchcon -R -t container_file_t /var/lib/berth',
  );
  expect(await machine.sh('systemctl is-active berth')).toBe('active');
}, 90_000);

test('a server that does not start is told soon, with what to look at; correcting it and running again is enough', async () => {
  await machine.sh('echo "http_prot = 80" >>/var/lib/berth/berth.toml');
  const begun = performance.now();
  const { code, error } = await install(`--base-domain ${DOMAIN}`);
  expect([code, error]).toEqual([1, expect.stringContaining('the server is not well')]);
  expect(error).toContain('http_prot');
  expect(error).toContain(`create a record: *.${DOMAIN} A ${machine.address}`);
  expect(error).toContain('journalctl -u berth');
  expect(performance.now() - begun).toBeLessThan(30_000);
  await machine.sh('sed -i /http_prot/d /var/lib/berth/berth.toml');
  expect((await install()).code).toBe(0);
}, 90_000);
