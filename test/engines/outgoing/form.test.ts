import { describe, expect, test } from 'bun:test';
import { createOutgoing } from '#engines/outgoing/index';
import type { Outgoing } from '#engines/outgoing/port';
import { systemClock } from '#kernel/clock';
import { BerthError } from '#kernel/errors';

const outgoing = (allow = ''): Outgoing =>
  createOutgoing({ clock: systemClock, allow, networkPool: '10.208.0.0/12', ownAddresses: () => [] });

const refusalOf = (check: () => unknown): BerthError => {
  try {
    check();
  } catch (thrown) {
    if (thrown instanceof BerthError) return thrown;
    throw thrown;
  }
  throw new Error('it was accepted');
};

describe('the form of an address that a user gave', () => {
  test.each([
    ['https://github.com/acme/app.git', 'https://github.com/acme/app.git', 'github.com', 443],
    ['HTTPS://GitHub.com:443/Acme/App.git/', 'https://github.com/Acme/App.git', 'github.com', 443],
    ['https://bücher.example/x', 'https://xn--bcher-kva.example/x', 'xn--bcher-kva.example', 443],
    ['https://github.com/a/../b/./c', 'https://github.com/b/c', 'github.com', 443],
    ['https://github.com/a%20b/ü', 'https://github.com/a%20b/%C3%BC', 'github.com', 443],
    ['https://1.1.1.1/x', 'https://1.1.1.1/x', '1.1.1.1', 443],
    ['https://[2606:4700:0:0::1111]/x', 'https://[2606:4700::1111]/x', '2606:4700::1111', 443],
    [
      'https://git.example.com/-x/--upload-pack=sh',
      'https://git.example.com/-x/--upload-pack=sh',
      'git.example.com',
      443,
    ],
  ])('%s is normalised', (given, href, host, port) => {
    expect(outgoing().checkUrl(given)).toEqual({ href, scheme: 'https', host, port });
  });

  test.each([
    ['another scheme', 'ssh://git@github.com/a/b'],
    ['scp notation', 'git@github.com:a/b'],
    ['a transport of git that runs programs', 'ext::sh -c id'],
    ['a transport helper before https', 'foo::https://github.com/a'],
    ['a file', 'file:///etc/passwd'],
    ['a path', '/etc'],
    ['an option', '--upload-pack=id'],
    ['plain http', 'http://github.com/a'],
    ['an odd port', 'https://github.com:22/a'],
    ['another odd port', 'https://github.com:8443/a'],
    ['no path', 'https://github.com/'],
    ['a query', 'https://github.com/a?x=1'],
    ['a fragment', 'https://github.com/a#x'],
    ['a newline', 'https://github.com/a\nhost=evil'],
    ['an encoded newline', 'https://github.com/a%0Ahost=evil'],
    ['an encoded NUL', 'https://github.com/a%00'],
    ['a backslash, which some read as a slash', 'https://github.com\\@127.0.0.1/a'],
    ['a space', 'https://github.com/a b'],
    ['an encoded host', 'https://%6c%6f%63alhost/a'],
    ['a trailing dot', 'https://github.com./a'],
    ['an empty label', 'https://git..com/a'],
    ['too long', `https://github.com/${'a'.repeat(2000)}`],
    ['no URL at all', 'https://[::1/a'],
    ['a name of the machine itself', 'https://localhost/a'],
    ['a name below it', 'https://x.localhost/a'],
  ])('%s is refused', (_what, given) => {
    const refusal = refusalOf(() => outgoing().checkUrl(given));
    expect(refusal.kind).toBe('INVALID_INPUT');
    expect(refusal.hint).not.toBe('');
  });

  test.each([
    'https://2130706433/a',
    'https://0x7f000001/a',
    'https://0x7f.1/a',
    'https://0177.0.0.1/a',
    'https://127.1/a',
    'https://127.0.0.1./a',
    'https://134744072/a',
    'https://8.8.8.08/a',
    'https://127。0。0。1/a',
    'https://１２７.0.0.1/a',
    'https://①②⑦.⓪.⓪.①/a',
    'https://[::ffff:127.0.0.1]/a',
    'https://[::ffff:8.8.8.8]/a',
    'https://[::127.0.0.1]/a',
    'https://[64:ff9b::7f00:1]/a',
    'https://[64:ff9b::a9fe:a9fe]/a',
    'https://[64:ff9b:1::1]/a',
    'https://[2002:7f00:1::]/a',
    'https://[2001:0:7f00:1::]/a',
    'https://[fe80::1%25eth0]/a',
  ])('an IP address in an odd notation is refused: %s', (given) => {
    expect(refusalOf(() => outgoing().checkUrl(given)).kind).toBe('INVALID_INPUT');
  });

  test.each([
    ['0.0.0.0', 'reserved'],
    ['0.1.2.3', 'reserved'],
    ['10.0.0.1', 'a private network'],
    ['100.64.0.1', 'a private network'],
    ['100.127.255.254', 'a private network'],
    ['100.100.100.200', 'metadata'],
    ['127.0.0.1', 'the server itself'],
    ['127.255.255.254', 'the server itself'],
    ['168.63.129.16', 'metadata'],
    ['169.254.169.254', 'metadata'],
    ['169.254.0.1', 'link-local'],
    ['172.16.0.1', 'a private network'],
    ['172.31.255.255', 'a private network'],
    ['192.0.0.8', 'reserved'],
    ['192.0.2.1', 'reserved'],
    ['192.168.1.1', 'a private network'],
    ['198.18.0.1', 'reserved'],
    ['198.51.100.7', 'reserved'],
    ['203.0.113.9', 'reserved'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'reserved'],
    ['[::]', 'reserved'],
    ['[::1]', 'the server itself'],
    ['[fc00::1]', 'a private network'],
    ['[fd00:ec2::254]', 'metadata'],
    ['[fe80::1]', 'link-local'],
    ['[febf::1]', 'link-local'],
    ['[fec0::1]', 'a private network'],
    ['[ff02::1]', 'multicast'],
    ['[2001:db8::1]', 'reserved'],
    ['[3fff::1]', 'reserved'],
    ['[100::1]', 'reserved'],
    ['[5f00::1]', 'reserved'],
    ['[4000::1]', 'reserved'],
  ])('%s is refused as %s', (host, why) => {
    const refusal = refusalOf(() => outgoing().checkUrl(`https://${host}/a`));
    expect(refusal.kind).toBe('INVALID_INPUT');
    expect(refusal.message).toContain(why);
  });

  test.each([
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '172.15.0.1',
    '172.32.0.1',
    '198.20.0.1',
    '[2606:4700::1]',
    '[2a00::1]',
    '[64:ff9b::808:808]',
  ])('the public address %s is fine', (host) => {
    expect(outgoing().checkUrl(`https://${host}/a`).host).toBe(host.replaceAll(/[[\]]/g, ''));
  });

  test('a credential in the URL is refused without repeating it', () => {
    for (const url of [
      'https://user:s3cret@github.com/a',
      'https://s3cret@github.com/a',
      'https://github.com@s3cret:443/a',
    ]) {
      const refusal = refusalOf(() => outgoing().checkUrl(url));
      expect(JSON.stringify(refusal.toBody())).not.toContain('s3cret');
      expect(refusal.hint).toContain('mirror_credential');
    }
  });
});

describe('what the operator listed in mirror_allow', () => {
  test.each([
    ['gitea.lan', 'http://gitea.lan/a', 'http', 80],
    ['gitea.lan', 'https://gitea.lan:3000/a', 'https', 3000],
    ['gitea.lan:3000', 'http://gitea.lan:3000/a', 'http', 3000],
    ['GITEA.lan', 'http://gitea.lan/a', 'http', 80],
    ['localhost', 'http://localhost:8080/a', 'http', 8080],
    ['10.1.0.0/16', 'https://10.1.2.3/a', 'https', 443],
    ['10.1.0.0/16', 'http://10.1.2.3:3000/a', 'http', 3000],
    ['127.0.0.1:3000', 'http://127.0.0.1:3000/a', 'http', 3000],
    ['a.example, [fd00::5]:3000 ,', 'http://[fd00::5]:3000/a', 'http', 3000],
    ['fd00::/8', 'https://[fd12::1]/a', 'https', 443],
    ['169.254.169.254', 'https://169.254.169.254/a', 'https', 443],
  ] as const)('%s opens %s', (allow, url, scheme, port) => {
    expect(outgoing(allow).checkUrl(url)).toMatchObject({ scheme, port });
  });

  test.each([
    ['gitea.lan:3000', 'http://gitea.lan/a'],
    ['gitea.lan:3000', 'https://gitea.lan:3001/a'],
    ['gitea.lan', 'http://x.gitea.lan/a'],
    ['10.1.0.0/16', 'https://10.2.0.1/a'],
    ['127.0.0.1:3000', 'http://127.0.0.1:4400/a'],
    ['10.1.0.0/16', 'http://gitea.lan/a'],
    ['8.8.8.8', 'http://134744072/a'],
  ])('%s does not open %s', (allow, url) => {
    expect(refusalOf(() => outgoing(allow).checkUrl(url)).kind).toBe('INVALID_INPUT');
  });

  test.each([
    '*',
    '*.example.com',
    'http://x',
    '10.0.0.0/33',
    '10.0.0/8',
    'x:0',
    'x:70000',
    'a b',
    '1.2.3',
    'x/8',
    '[x]:y',
    '-x',
  ])('the server does not start with %s', (allow) => {
    expect(refusalOf(() => outgoing(allow)).message).toContain('mirror_allow');
  });
});
