import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { X509Certificate, createPrivateKey } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer } from 'node:tls';
import { type AuthorityFiles, createAuthority, issueCertificate } from '#engines/datastores/certificates';
import type { TlsFiles } from '#engines/datastores/port';

const NOW = Date.now();
const HOST = 'main-db.db.internal';
const ADDRESS = '127.0.0.1';

let authority: AuthorityFiles;
let server: TlsFiles;
let dir: string;
beforeAll(async () => {
  authority = await createAuthority(NOW);
  server = await issueCertificate(authority, { host: HOST, address: ADDRESS, now: NOW });
  dir = await mkdtemp(join(tmpdir(), 'berth-certificates-'));
  await writeFile(join(dir, 'ca.pem'), authority.certificatePem);
  await writeFile(join(dir, 'server.pem'), server.certificatePem);
});
afterAll(() => rm(dir, { recursive: true }));

const openssl = async (argv: string[]): Promise<{ code: number; said: string }> => {
  const child = Bun.spawn(['openssl', ...argv], { cwd: dir, stdout: 'pipe', stderr: 'pipe' });
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, said: out + error };
};

describe('a certificate of the authority', () => {
  const verify = (...more: string[]): Promise<{ code: number; said: string }> =>
    openssl(['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', 'ca.pem', ...more, 'server.pem']);

  test('holds before the strictest rules of OpenSSL, for its host and its address', async () => {
    expect(await verify('-verify_hostname', HOST)).toEqual({ code: 0, said: 'server.pem: OK\n' });
    expect(await verify('-verify_ip', ADDRESS)).toEqual({ code: 0, said: 'server.pem: OK\n' });
  });
  test('does not hold for another host, address or purpose, nor before another authority', async () => {
    expect((await verify('-verify_hostname', 'other.db.internal')).said).toContain('hostname mismatch');
    expect((await verify('-verify_ip', '127.0.0.2')).said).toContain('IP address mismatch');
    const client = ['verify', '-purpose', 'sslclient', '-CAfile', 'ca.pem', 'server.pem'];
    expect((await openssl(client)).code).not.toBe(0);
    await writeFile(join(dir, 'other.pem'), (await createAuthority(NOW)).certificatePem);
    expect((await openssl(['verify', '-CAfile', 'other.pem', 'server.pem'])).code).not.toBe(0);
  });
  test('is an authority for nobody', async () => {
    const { certificatePem, keyPem } = server;
    const forged = await issueCertificate({ certificatePem, keyPem }, { host: HOST, address: ADDRESS, now: NOW });
    await writeFile(join(dir, 'forged.pem'), forged.certificatePem);
    const argv = ['verify', '-CAfile', 'ca.pem', '-untrusted', 'server.pem', 'forged.pem'];
    expect((await openssl(argv)).said).toMatch(/invalid CA certificate|key usage does not include/);
  });
  test('is valid from yesterday for ten years, and never longer than its authority', async () => {
    const made = new X509Certificate(server.certificatePem);
    expect(NOW - Date.parse(made.validFrom)).toBeGreaterThan(86_000_000);
    const years = (Date.parse(made.validTo) - NOW) / (365.25 * 86_400_000);
    expect(years).toBeCloseTo(10, 2);
    const later = NOW + 15 * 365.25 * 86_400_000;
    const last = await issueCertificate(authority, { host: HOST, address: ADDRESS, now: later });
    expect(new X509Certificate(last.certificatePem).validTo).toBe(
      new X509Certificate(authority.certificatePem).validTo,
    );
  });
  test('has a key, a name and a serial number of its own', async () => {
    const other = await issueCertificate(authority, { host: HOST, address: ADDRESS, now: NOW });
    const [first, second] = [server, other].map(({ certificatePem }) => new X509Certificate(certificatePem));
    expect(first?.serialNumber).not.toBe(second?.serialNumber ?? '');
    expect(first?.checkPrivateKey(createPrivateKey(server.keyPem))).toBe(true);
    expect(first?.checkPrivateKey(createPrivateKey(other.keyPem))).toBe(false);
    expect(first?.subjectAltName).toBe(`DNS:${HOST}, IP Address:${ADDRESS}`);
    expect(server.caPem).toBe(authority.certificatePem);
  });
  test('takes the longest host that a datastore can have', async () => {
    const host = `${'a'.repeat(63)}.db.internal`;
    const made = await issueCertificate(authority, { host, address: ADDRESS, now: NOW });
    expect(new X509Certificate(made.certificatePem).checkHost(host)).toBe(host);
  });
});

describe('a TLS server with it', () => {
  const greet = async (ca: string, servername: string): Promise<string> => {
    const listener = createServer({ key: server.keyPem, cert: server.certificatePem }, (socket) => socket.end('hello'));
    listener.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => void listener.listen(0, ADDRESS, resolve));
    const { port } = listener.address() as AddressInfo;
    try {
      return await new Promise((resolve, reject) => {
        const socket = connect({ host: ADDRESS, port, ca, servername });
        socket.on('data', (data) => resolve(data.toString()));
        socket.on('error', reject);
      });
    } finally {
      listener.close();
    }
  };

  test('is trusted by a client that knows the authority', async () => {
    expect(await greet(authority.certificatePem, HOST)).toBe('hello');
  });
  test('is not trusted under another name, or by a client of another authority', async () => {
    expect(await greet(authority.certificatePem, 'other.db.internal').catch(String)).toMatch(/altnames|ALTNAME/);
    expect(await greet((await createAuthority(NOW)).certificatePem, HOST).catch(String)).toMatch(/certificate/);
  });
});
