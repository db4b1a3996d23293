import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface DefaultCertificate {
  certificatePem: string;
  keyPem: string;
}

/** Shown by browsers when they look at the certificate of a host that has no real one (yet). */
const COMMON_NAME = 'berth: no certificate for this host';

/**
 * A self-signed certificate of a fresh key, for requests to hosts without a real one. Without it Traefik makes itself
 * a new one, with an RSA key, at every change of any route: that is the slowest part of taking over a route.
 */
export const makeDefaultCertificate = (): DefaultCertificate => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = certificateBody(publicKey.export({ type: 'spki', format: 'der' }));
  const signature = sign('sha256', body, privateKey);
  const der = sequence(body, ECDSA_WITH_SHA256, tagged(TAG.bitString, Buffer.from([0]), signature));
  return {
    certificatePem: pem('CERTIFICATE', der),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
};

const TAG = {
  integer: 0x02,
  bitString: 0x03,
  utf8: 0x0c,
  utcTime: 0x17,
  time: 0x18,
  sequence: 0x30,
  set: 0x31,
  v: 0xa0,
};

const tagged = (tag: number, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(content.length)]), content]);
};

const lengthOf = (length: number): number[] => {
  if (length < 0x80) return [length];
  return length < 0x1_00 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
};

const sequence = (...parts: Buffer[]): Buffer => tagged(TAG.sequence, ...parts);

/** Object identifiers 1.2.840.10045.4.3.2 and 2.5.4.3. */
const ECDSA_WITH_SHA256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'));
const COMMON_NAME_ID = Buffer.from('0603550403', 'hex');

/** The part that is signed (RFC 5280, TBSCertificate), version 3, with the date that stands for "does not expire". */
const certificateBody = (publicKey: Buffer): Buffer => {
  const name = sequence(tagged(TAG.set, sequence(COMMON_NAME_ID, tagged(TAG.utf8, Buffer.from(COMMON_NAME)))));
  const validity = sequence(
    tagged(TAG.utcTime, Buffer.from('250101000000Z')),
    tagged(TAG.time, Buffer.from('99991231235959Z')),
  );
  const version = tagged(TAG.v, tagged(TAG.integer, Buffer.from([2])));
  const serial = tagged(TAG.integer, Buffer.concat([Buffer.from([1]), randomBytes(15)]));
  return sequence(version, serial, ECDSA_WITH_SHA256, name, validity, name, publicKey);
};

const pem = (label: string, der: Buffer): string => {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
};
