import { afterEach, describe, expect, test } from 'bun:test';
import { readFile, stat } from 'node:fs/promises';
import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { route } from '#test/contracts/proxy.ts';
import { type Pebble, startPebble } from './pebble.ts';
import { startTraefik, type Traefik } from './support.ts';
import { startUpstream, type TestUpstream } from './upstreams.ts';

const HOST = 'web--shop.example.com';
const DAY = 86_400;

let traefik: Traefik;
let pebble: Pebble;
let app: TestUpstream;
let proxy: Traefik['proxy'];

const start = async (validitySeconds: number): Promise<void> => {
  traefik = await startTraefik();
  pebble = await startPebble({ runtime: traefik.runtime, httpPort: traefik.ports.http, validitySeconds });
  proxy = traefik.reopen({ acme: { email: 'ops@example.com', server: pebble.directory, caFile: pebble.caFile } });
  app = startUpstream((incoming) => new Response(`${incoming.method} ${incoming.headers.get('x-forwarded-proto')}`));
  await proxy.ensure();
};
afterEach(async () => {
  await app.kill();
  await traefik.dispose();
  await pebble.dispose();
}, 120_000);

/** The certificate that a client sees, and whether it trusts it by pebble's root. */
const certificate = (servername: string): Promise<{ trusted: boolean; peer: PeerCertificate }> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: traefik.ports.https, servername, ca: pebble.rootPem };
    const socket = connect({ ...options, rejectUnauthorized: false }, () => {
      resolve({ trusted: socket.authorized, peer: socket.getPeerCertificate() });
      socket.destroy();
    });
    socket.on('error', reject);
  });

const untilTrusted = async (servername: string): Promise<PeerCertificate> => {
  for (;;) {
    const { trusted, peer } = await certificate(servername);
    if (trusted) return peer;
    await Bun.sleep(50);
  }
};

const httpsGet = (host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: traefik.ports.https, servername: host, headers: { Host: host } };
    const call = request({ ...options, ca: pebble.rootPem }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(`${response.statusCode} ${Buffer.concat(chunks).toString()}`));
    });
    call.on('error', reject);
    call.end();
  });

const http2Get = (host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { ca: pebble.rootPem, servername: host };
    const session = connectHttp2(`https://127.0.0.1:${traefik.ports.https}`, options);
    session.on('error', reject);
    const call = session.request({ ':path': '/', ':authority': host });
    const chunks: Buffer[] = [];
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.on('end', () => {
      resolve(`${session.alpnProtocol} ${Buffer.concat(chunks).toString()}`);
      session.close();
    });
    call.end();
  });

describe('HTTPS by ACME', () => {
  test('a certificate comes by HTTP-01; HTTPS, HTTP/2 and the redirect work; a restart asks for no other', async () => {
    await start(90 * DAY);
    await proxy.apply(route({ hosts: [HOST], upstreams: [app] }));
    const peer = await untilTrusted(HOST);
    expect(peer.subjectaltname).toBe(`DNS:${HOST}`);
    expect(await httpsGet(HOST)).toBe('200 GET https');
    expect(await http2Get(HOST)).toBe('h2 GET https');

    const plain = { headers: { Host: HOST }, redirect: 'manual' as const };
    const redirected = await fetch(`http://127.0.0.1:${traefik.ports.http}/a?b=c`, plain);
    expect(redirected.status).toBe(301);
    expect(redirected.headers.get('location')).toBe(`https://${HOST}:${traefik.ports.https}/a?b=c`);
    const posted = await fetch(`http://127.0.0.1:${traefik.ports.http}/`, { ...plain, method: 'POST', body: 'x' });
    expect(posted.status).toBe(308);

    await traefik.crash();
    await proxy.ensure();
    expect((await untilTrusted(HOST)).serialNumber).toBe(peer.serialNumber);
    expect((await stat(join(traefik.dataDir, 'proxy/acme/acme.json'))).mode & 0o777).toBe(0o600);
  }, 120_000);

  test('a host without DNS does not hold up the certificate of the other, and gets the default one', async () => {
    await start(90 * DAY);
    await pebble.breakDns('broken.example.com');
    await proxy.apply(route({ hosts: ['broken.example.com', HOST], upstreams: [app] }));
    await untilTrusted(HOST);
    const { trusted, peer } = await certificate('broken.example.com');
    expect(trusted).toBe(false);
    expect(peer.subject.CN).toBe('berth: no certificate for this host');
  }, 120_000);

  test('a certificate near its end is renewed, also when Traefik was restarted meanwhile', async () => {
    await start(10 * DAY);
    await proxy.apply(route({ hosts: [HOST], upstreams: [app] }));
    const first = await untilTrusted(HOST);
    const stored = join(traefik.dataDir, 'proxy/acme/acme.json');
    const before = await readFile(stored, 'utf8');
    await traefik.crash();
    await proxy.ensure();
    while ((await readFile(stored, 'utf8')) === before) await Bun.sleep(50);
    while ((await untilTrusted(HOST)).serialNumber === first.serialNumber) await Bun.sleep(50);
    expect(await httpsGet(HOST)).toBe('200 GET https');
  }, 120_000);
});
