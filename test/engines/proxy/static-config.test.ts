import { X509Certificate } from 'node:crypto';
import { expect, test } from 'bun:test';
import { proxyContainer } from '#engines/proxy/container';
import { makeDefaultCertificate } from '#engines/proxy/default-certificate';
import { parseListenTable } from '#engines/proxy/ports';
import { staticArguments } from '#engines/proxy/traefik-config-builder/index';

const ENTRY_POINT = (name: string, port: number): string[] => [
  `--entryPoints.${name}.address=:${port}`,
  `--entryPoints.${name}.transport.respondingTimeouts.readTimeout=0s`,
  `--entryPoints.${name}.transport.respondingTimeouts.writeTimeout=0s`,
  `--entryPoints.${name}.transport.respondingTimeouts.idleTimeout=180s`,
  `--entryPoints.${name}.transport.lifeCycle.graceTimeOut=10s`,
  `--entryPoints.${name}.http.sanitizePath=true`,
  `--entryPoints.${name}.http.encodedCharacters.allowEncodedSlash=true`,
  `--entryPoints.${name}.http.encodedCharacters.allowEncodedBackSlash=true`,
  `--entryPoints.${name}.http.encodedCharacters.allowEncodedNullCharacter=false`,
  `--entryPoints.${name}.http.encodedCharacters.allowEncodedSemicolon=true`,
  `--entryPoints.${name}.http.encodedCharacters.allowEncodedPercent=true`,
  `--entryPoints.${name}.http.encodedCharacters.allowEncodedQuestionMark=true`,
  `--entryPoints.${name}.http.encodedCharacters.allowEncodedHash=true`,
  `--entryPoints.${name}.http.encodeQuerySemicolons=true`,
];

const COMMON = [
  '--global.checkNewVersion=false',
  '--global.sendAnonymousUsage=false',
  '--log.level=ERROR',
  '--log.format=json',
  '--providers.file.directory=/etc/berth/dynamic',
  '--providers.file.watch=true',
  '--providers.providersThrottleDuration=0s',
  '--entryPoints.traefik.address=127.0.0.1:8081',
  '--api.insecure=true',
  '--api.dashboard=false',
  '--metrics.prometheus=true',
  '--metrics.prometheus.entryPoint=traefik',
  '--metrics.prometheus.addEntryPointsLabels=false',
  '--metrics.prometheus.addRoutersLabels=false',
  '--metrics.prometheus.addServicesLabels=true',
  '--metrics.prometheus.buckets=0.002,0.005,0.01,0.025,0.05,0.1,0.25,0.5,1,2.5,5,10',
  '--serversTransport.forwardingTimeouts.dialTimeout=1s',
  '--serversTransport.forwardingTimeouts.responseHeaderTimeout=0s',
  '--serversTransport.forwardingTimeouts.idleConnTimeout=1500ms',
  '--serversTransport.maxIdleConnsPerHost=200',
  ...ENTRY_POINT('web', 80),
];

const PORTS = { httpPort: 80, httpsPort: 443, apiPort: 8081 };

test('without TLS there is one public entry point', () => {
  expect(staticArguments({ ...PORTS, acme: null })).toEqual(COMMON);
});

test('with ACME there are two, a redirect, and a certificate resolver', () => {
  const acme = { email: 'ops@example.com', server: 'https://acme.example.com/dir', privateCa: true };
  expect(staticArguments({ ...PORTS, acme })).toEqual([
    ...COMMON,
    ...ENTRY_POINT('websecure', 443),
    '--entryPoints.web.http.redirections.entryPoint.to=websecure',
    '--entryPoints.web.http.redirections.entryPoint.scheme=https',
    '--entryPoints.web.http.redirections.entryPoint.permanent=true',
    '--certificatesResolvers.acme.acme.email=ops@example.com',
    '--certificatesResolvers.acme.acme.caServer=https://acme.example.com/dir',
    '--certificatesResolvers.acme.acme.storage=/var/lib/acme/acme.json',
    '--certificatesResolvers.acme.acme.keyType=EC256',
    '--certificatesResolvers.acme.acme.httpChallenge.entryPoint=web',
    '--certificatesResolvers.acme.acme.caCertificates=/etc/berth/acme-ca.pem',
  ]);
});

const CONTAINER = {
  ...PORTS,
  image: 'traefik:v3.6',
  acme: null,
  instanceLabels: { 'berth.installation': 'i1' },
  containerName: 'berth-proxy',
  directories: { dynamic: '/data/proxy/dynamic', acme: '/data/proxy/acme' },
  owner: { uid: 0, gid: 0 },
  cpus: 2,
};

test('is closed but for the host network, its two directories and one capability', () => {
  const spec = proxyContainer(CONTAINER);
  expect(spec).toEqual({
    name: 'berth-proxy',
    image: 'traefik:v3.6',
    command: COMMON,
    env: { GOMEMLIMIT: '200MiB' },
    labels: {
      'berth.installation': 'i1',
      'berth.role': 'proxy',
      'berth.spec': expect.stringMatching(/^[0-9a-f]{32}$/),
    },
    network: 'host',
    loopbackPorts: [],
    mounts: [
      { hostPath: '/data/proxy/dynamic', target: '/etc/berth/dynamic', readOnly: true },
      { hostPath: '/data/proxy/acme', target: '/var/lib/acme', readOnly: false },
    ],
    volumes: [],
    memoryBytes: 268_435_456,
    cpus: 2,
    pidsLimit: 256,
    capAdd: ['NET_BIND_SERVICE'],
    readOnlyRoot: true,
    tmpfs: ['/tmp'],
    restart: 'unless-stopped',
    init: false,
    stopGraceSeconds: 15,
  });
});

test('has another label when anything of it changes, and the same when nothing does', () => {
  const label = (changes: Partial<typeof CONTAINER>): string | undefined =>
    proxyContainer({ ...CONTAINER, ...changes }).labels['berth.spec'];
  expect(label({})).toBe(label({}));
  expect(new Set([label({}), label({ httpPort: 81 }), label({ image: 'traefik:v3.7' }), label({ cpus: 4 })]).size).toBe(
    4,
  );
});

test('runs as the user of berth on high ports, and as root that reads its files on low ones', () => {
  const owner = { uid: 1000, gid: 1001 };
  expect(proxyContainer({ ...CONTAINER, owner, httpPort: 8080 })).toMatchObject({ user: '1000:1001', capAdd: [] });
  const low = proxyContainer({ ...CONTAINER, owner });
  expect(low.user).toBeUndefined();
  expect(low.capAdd).toEqual(['NET_BIND_SERVICE', 'DAC_OVERRIDE']);
});

test('the default certificate is well-formed, signed by its own key, and fresh every time', () => {
  const made = makeDefaultCertificate();
  const certificate = new X509Certificate(made.certificatePem);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.subject).toBe('CN=berth: no certificate for this host');
  expect(makeDefaultCertificate().keyPem).not.toBe(made.keyPem);
});

test('the tables of the kernel tell who listens where', () => {
  const table = parseListenTable([
    [
      '  sl  local_address rem_address   st tx_queue rx_queue',
      '   0: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1',
      '   1: 0100007F:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 2',
      '   2: 0A00000A:1F92 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 3',
      '   3: 0100007F:1F93 0100007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 4',
      '',
    ].join('\n'),
    '  sl  local_address\n   0: 00000000000000000000000000000000:01BB 00000000000000000000000000000000:0000 0A 0:0\n',
  ]);
  expect([80, 443, 0x1f91, 0x1f92, 0x1f93].map((port) => table.any(port))).toEqual([true, true, true, true, false]);
  expect([80, 443, 0x1f91, 0x1f92, 0x1f93].map((port) => table.loopback(port))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});
