import { randomBytes } from 'node:crypto';
import type * as X509 from '@peculiar/x509';
import type { TlsFiles } from './port.ts';

/** A certificate authority: its certificate, and the key that must stay with berth. PEM. */
export interface AuthorityFiles {
  certificatePem: string;
  keyPem: string;
}

const DAY_MS = 86_400_000;
const YEAR_MS = 365.25 * DAY_MS;
const AUTHORITY_MS = 20 * YEAR_MS;
const SERVER_MS = 10 * YEAR_MS;
/** For clients whose clock is behind. */
const SKEW_MS = DAY_MS;
/** What X.520 allows a common name; clients look at the alternative names only. */
const COMMON_NAME_LENGTH = 64;

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** Makes an authority of a fresh key; `now` in milliseconds since the epoch. Valid for 20 years. */
export const createAuthority = async (now: number): Promise<AuthorityFiles> => {
  const x509 = await load();
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerial(),
    // Two installations' authorities in one trust store are told apart.
    name: [{ CN: [`berth datastores ${randomBytes(4).toString('hex')}`] }],
    notBefore: new Date(now - SKEW_MS),
    notAfter: new Date(now + AUTHORITY_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificatePem: pemOf(certificate), keyPem: await keyPemOf(keys.privateKey) };
};

/** A certificate of a fresh key for a server at a host name and an address. Valid for 10 years, but not beyond the authority. */
export const issueCertificate = async (
  authority: AuthorityFiles,
  { host, address, now }: { host: string; address: string; now: number },
): Promise<TlsFiles> => {
  const x509 = await load();
  const issuer = new x509.X509Certificate(authority.certificatePem);
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject: [{ CN: [host.slice(0, COMMON_NAME_LENGTH)] }],
    issuer: issuer.subjectName,
    notBefore: new Date(now - SKEW_MS),
    notAfter: new Date(Math.min(now + SERVER_MS, issuer.notAfter.getTime())),
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await readKey(authority.keyPem),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: host },
        { type: 'ip', value: address },
      ]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return {
    caPem: authority.certificatePem,
    certificatePem: pemOf(certificate),
    keyPem: await keyPemOf(keys.privateKey),
  };
};

/** Only when it is needed: evaluating the library takes longer than all of berth's other modules together. */
const load = async (): Promise<typeof X509> => {
  // Its dependency injection asks for it at once.
  await import('reflect-metadata');
  return await import('@peculiar/x509');
};

const newKeys = (): Promise<CryptoKeyPair> => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

/** Positive, as RFC 5280 wants it. */
const newSerial = (): string => `01${randomBytes(15).toString('hex')}`;

const pemOf = (certificate: X509.X509Certificate): string => `${certificate.toString('pem')}\n`;

const KEY_LABEL = 'PRIVATE KEY';

const keyPemOf = async (key: CryptoKey): Promise<string> => {
  const { PemConverter } = await load();
  return `${PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), KEY_LABEL)}\n`;
};

const readKey = async (pem: string): Promise<CryptoKey> => {
  const { PemConverter } = await load();
  return await crypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), ALGORITHM, false, ['sign']);
};
