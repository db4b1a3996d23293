import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { createDockerRuntime } from '#engines/runtime/docker';
import { systemClock } from '#kernel/clock';
import { createLog } from '#kernel/log';
import { startPebble, type Pebble } from '#test/engines/proxy/pebble.ts';
import { helloApp } from '#test/support/apps.ts';
import { Berth } from '#test/support/berth.ts';
import { docker } from '#test/support/docker.ts';
import { until } from '#test/support/until.ts';

const DOMAIN = 'apps.example.com';
const HOST = `web--shop.${DOMAIN}`;
const VALIDITY_SECONDS = 90 * 86_400;

let berth: Berth;
let pebble: Pebble;

beforeAll(async () => {
  const log = createLog('error', () => undefined, Date.now);
  const runtime = createDockerRuntime({ socketPath: '/var/run/docker.sock', clock: systemClock, log });
  berth = await Berth.boot(['--base-domain', DOMAIN, '--acme-email', 'ops@example.com'], {
    prepare: async ({ ports }) => {
      pebble = await startPebble({ runtime, httpPort: ports.http, validitySeconds: VALIDITY_SECONDS });
      return { flags: ['--acme-server', pebble.directory, '--acme-ca-file', pebble.caFile], cleanUp: pebble.dispose };
    },
  });
  await berth.project('shop');
}, 120_000);

afterAll(async () => {
  await berth.destroy();
}, 60_000);

/** The certificate that a client is shown, and whether it trusts it by pebble's root alone. */
const certificate = (host: string): Promise<{ trusted: boolean; peer: PeerCertificate }> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: berth.ports.https, servername: host, ca: pebble.rootPem };
    const socket = connect({ ...options, rejectUnauthorized: false }, () => {
      resolve({ trusted: socket.authorized, peer: socket.getPeerCertificate() });
      socket.destroy();
    });
    socket.on('error', reject);
  });

const trusted = async (host: string): Promise<PeerCertificate> => {
  await until(
    () =>
      certificate(host).then(
        (shown) => shown.trusted,
        () => false,
      ),
    60,
  );
  return (await certificate(host)).peer;
};

/** A request as a browser would send it, if the name led here. */
const get = (url: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const { hostname, port, pathname } = new URL(url);
    const options = { host: '127.0.0.1', port, path: pathname, servername: hostname, ca: pebble.rootPem };
    const call = request({ ...options, headers: { ...headers, host: `${hostname}:${port}` } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
    });
    call.on('error', reject);
    call.end();
  });

const protocolOf = (host: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const options = { ca: pebble.rootPem, servername: host };
    const session = connectHttp2(`https://127.0.0.1:${berth.ports.https}`, options, () => {
      resolve(session.alpnProtocol);
      session.close();
    });
    session.on('error', reject);
  });

const proxyContainer = async (): Promise<string> =>
  (await docker(['ps', '-q', '--filter', `name=berth-${berth.instance()}-proxy`])).trim();

/** The account and the certificates that Traefik keeps. */
const stored = (): string => readFileSync(join(berth.dataDir, 'proxy/acme/acme.json'), 'utf8');

test('a deploy ends with an https URL at which the app answers with a certificate by ACME', async () => {
  const operation = await berth.deploy('shop', 'web', helloApp('over TLS'));
  expect(operation).toMatchObject({ status: 'succeeded', error: null });
  expect(operation.service_url).toBe(`https://${HOST}:${berth.ports.https}`);
  const peer = await trusted(HOST);
  expect(peer.subjectaltname).toBe(`DNS:${HOST}`);
  expect(await get(operation.service_url ?? '')).toEqual({ status: 200, text: 'over TLS' });
  expect(await protocolOf(HOST)).toBe('h2');
}, 120_000);

test('plain HTTP is redirected to it, with method, path and query kept', async () => {
  const plain = (init: RequestInit): Promise<Response> =>
    fetch(`http://127.0.0.1:${berth.ports.http}/a/b?c=d`, { headers: { host: HOST }, redirect: 'manual', ...init });
  const redirected = await plain({});
  expect(redirected.status).toBe(301);
  expect(redirected.headers.get('location')).toBe(`https://${HOST}:${berth.ports.https}/a/b?c=d`);
  expect((await plain({ method: 'POST', body: 'x' })).status).toBe(308);
});

test('the control API is served at the base domain with a certificate too', async () => {
  await trusted(DOMAIN);
  const url = `https://${DOMAIN}:${berth.ports.https}/v1/projects`;
  expect((await get(url)).status).toBe(401);
  expect((await get(url, { authorization: `Bearer ${berth.token}` })).status).toBe(200);
}, 90_000);

test('what the certificate authority gave is kept for berth alone, and asked for once only', async () => {
  const { serialNumber } = await trusted(HOST);
  const before = stored();
  expect(statSync(join(berth.dataDir, 'proxy/acme/acme.json')).mode & 0o777).toBe(0o600);

  await docker(['kill', await proxyContainer()]);
  await berth.stop('SIGKILL');
  await berth.start();
  expect((await trusted(HOST)).serialNumber).toBe(serialNumber);

  expect(await berth.deploy('shop', 'web', helloApp('still over TLS'))).toMatchObject({ status: 'succeeded' });
  expect(await get(`https://${HOST}:${berth.ports.https}/`)).toEqual({ status: 200, text: 'still over TLS' });
  expect((await trusted(HOST)).serialNumber).toBe(serialNumber);
  expect(stored()).toBe(before);
}, 120_000);

test('a host that no service has gets no certificate of the authority', async () => {
  const { trusted: isTrusted, peer } = await certificate(`nobody--shop.${DOMAIN}`);
  expect(isTrusted).toBe(false);
  expect(peer.subject.CN).toBe('berth: no certificate for this host');
  expect(stored()).not.toContain('nobody--shop');
});
