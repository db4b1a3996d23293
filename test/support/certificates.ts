import 'reflect-metadata';
import * as x509 from '@peculiar/x509';

export interface Identity {
  key: string;
  cert: string;
}

interface CertificateOptions {
  /** Host names and addresses. */
  names?: string[];
  from?: Date;
  to?: Date;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY = 86_400_000;

const pair = (): Promise<CryptoKeyPair> => crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);

const exported = async (key: CryptoKey): Promise<string> =>
  x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');

const validity = ({ from, to }: CertificateOptions): { notBefore: Date; notAfter: Date } => ({
  notBefore: from ?? new Date(Date.now() - DAY),
  notAfter: to ?? new Date(Date.now() + DAY),
});

const namesOf = (names: readonly string[]): x509.SubjectAlternativeNameExtension =>
  new x509.SubjectAlternativeNameExtension(
    names.map((value) => ({ type: /^[\d.]+$/.test(value) ? 'ip' : 'dns', value }) as const),
  );

/** A certificate that only vouches for itself. */
export const selfSigned = async (options: CertificateOptions = {}): Promise<Identity> => {
  const keys = await pair();
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(options),
    name: 'CN=test',
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [namesOf(options.names ?? ['localhost'])],
  });
  return { key: await exported(keys.privateKey), cert: cert.toString('pem') };
};

/** A certificate authority of its own. */
export const createAuthority = async (): Promise<{
  cert: string;
  issue(options?: CertificateOptions): Promise<Identity>;
}> => {
  const keys = await pair();
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity({}),
    name: 'CN=Test Authority',
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new x509.BasicConstraintsExtension(true, undefined, true)],
  });
  return {
    cert: authority.toString('pem'),
    issue: async (options = {}) => {
      const own = await pair();
      const cert = await x509.X509CertificateGenerator.create({
        ...validity(options),
        subject: 'CN=test',
        issuer: authority.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [namesOf(options.names ?? ['localhost'])],
      });
      return { key: await exported(own.privateKey), cert: cert.toString('pem') };
    },
  };
};
