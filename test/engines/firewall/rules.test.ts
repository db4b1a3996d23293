import { describe, expect, test } from 'bun:test';
import { assertSpec, ensureScript, type FirewallSpec, missingRules, removeScript } from '#engines/firewall/rules';
import { parseNameservers } from '#engines/firewall/nameservers';

const SPEC: FirewallSpec = { chains: 'BERTH', bridges: 'brth', entryPorts: [80, 443], nameservers: ['10.0.0.2'] };
const DOCKER = ['-P INPUT ACCEPT', '-P FORWARD DROP', '-N DOCKER-USER', '-A FORWARD -j DOCKER-USER', ''];

describe('firewall rules', () => {
  test('IPv4 rules keep containers off the host, except for entry points and name servers', () => {
    expect(ensureScript(SPEC, 'ipv4', DOCKER).split('\n')).toEqual([
      '*filter',
      ':BERTH-INPUT - [0:0]',
      ':BERTH-FORWARD - [0:0]',
      '-A BERTH-INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
      '-A BERTH-INPUT -d 10.0.0.2/32 -p udp -m udp --dport 53 -j ACCEPT',
      '-A BERTH-INPUT -d 10.0.0.2/32 -p tcp -m tcp --dport 53 -j ACCEPT',
      '-A BERTH-INPUT -d 169.254.0.0/16 -j REJECT',
      '-A BERTH-INPUT -d 168.63.129.16/32 -j REJECT',
      '-A BERTH-INPUT -d 100.100.100.200/32 -j REJECT',
      '-A BERTH-INPUT -p tcp -m tcp --dport 80 -j ACCEPT',
      '-A BERTH-INPUT -p tcp -m tcp --dport 443 -j ACCEPT',
      '-A BERTH-INPUT -j REJECT',
      '-A BERTH-FORWARD -d 10.0.0.2/32 -p udp -m udp --dport 53 -j RETURN',
      '-A BERTH-FORWARD -d 10.0.0.2/32 -p tcp -m tcp --dport 53 -j RETURN',
      '-A BERTH-FORWARD -d 169.254.0.0/16 -j REJECT',
      '-A BERTH-FORWARD -d 168.63.129.16/32 -j REJECT',
      '-A BERTH-FORWARD -d 100.100.100.200/32 -j REJECT',
      '-A BERTH-FORWARD -i docker0 -o docker0 -m conntrack --ctstate NEW -j REJECT',
      '-I INPUT 1 -i brth+ -j BERTH-INPUT',
      '-I INPUT 1 -i docker0 -j BERTH-INPUT',
      '-I DOCKER-USER 1 -i brth+ -j BERTH-FORWARD',
      '-I DOCKER-USER 1 -i docker0 -j BERTH-FORWARD',
      'COMMIT',
      '',
    ]);
  });
  test('IPv6 rules let nothing in: the networks have none', () => {
    expect(ensureScript(SPEC, 'ipv6', []).split('\n')).toEqual([
      '*filter',
      ':BERTH-INPUT - [0:0]',
      '-A BERTH-INPUT -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT',
      '-A BERTH-INPUT -j REJECT',
      '-I INPUT 1 -i brth+ -j BERTH-INPUT',
      '-I INPUT 1 -i docker0 -j BERTH-INPUT',
      'COMMIT',
      '',
    ]);
  });
  test('jumps that are there already, also with an older prefix, are replaced', () => {
    const listing = [...DOCKER, '-A INPUT -i old+ -j BERTH-INPUT', '-A FORWARD -i old+ -j BERTH-FORWARD'];
    expect(
      ensureScript(SPEC, 'ipv4', listing)
        .split('\n')
        .filter((line) => line.startsWith('-D')),
    ).toEqual(['-D INPUT -i old+ -j BERTH-INPUT', '-D FORWARD -i old+ -j BERTH-FORWARD']);
  });
  test('without a chain of Docker, the rules hang in FORWARD', () => {
    expect(ensureScript(SPEC, 'ipv4', [])).toContain('-I FORWARD 1 -i brth+ -j BERTH-FORWARD');
  });
});

describe('firewall rules that are there', () => {
  test('removing takes away what is ours and nothing else', () => {
    const listing = [
      ...DOCKER,
      '-N BERTH-INPUT',
      '-N BERTH-INPUTS',
      '-A INPUT -i brth+ -j BERTH-INPUT',
      '-A INPUT -j BERTH-INPUTS',
    ];
    expect(removeScript(SPEC, 'ipv4', listing)).toBe(
      '*filter\n-D INPUT -i brth+ -j BERTH-INPUT\n-F BERTH-INPUT\n-X BERTH-INPUT\nCOMMIT\n',
    );
    expect(removeScript(SPEC, 'ipv4', DOCKER)).toBeUndefined();
  });
  test('missing rules are named', () => {
    expect(missingRules(SPEC, 'ipv6', ['-N BERTH-INPUT', '-A INPUT -i brth+ -j BERTH-INPUT'])).toEqual([
      '-A INPUT -i docker0 -j BERTH-INPUT',
      'the rules of BERTH-INPUT',
    ]);
  });
  test.each<[string, Partial<FirewallSpec>]>([
    ['chains', { chains: 'BERTH -j ACCEPT' }],
    ['chains', { chains: 'B\nCOMMIT' }],
    ['bridges', { bridges: '' }],
    ['bridges', { bridges: 'brth+ -j' }],
    ['ports', { entryPorts: [80.5] }],
    ['ports', { entryPorts: [0] }],
    ['name servers', { nameservers: ['10.0.0.2 -j ACCEPT'] }],
    ['name servers', { nameservers: ['10.0.0.2\n'] }],
  ])('%s of another form never reach a rule: %j', (_, wrong) => {
    expect(() => assertSpec({ ...SPEC, ...wrong })).toThrow();
  });
});

describe('name servers', () => {
  test('are read from resolv.conf, without loopback, IPv6, comments and repetitions', () => {
    const text =
      '# nameserver 1.1.1.1\nnameserver 127.0.0.53\nnameserver fd00::1\n nameserver\t10.0.0.2 \nnameserver 10.0.0.2\nsearch x';
    expect(parseNameservers(text)).toEqual(['10.0.0.2']);
  });
});
