import { generateKeyPairSync, randomUUID } from 'node:crypto';
import {
  type Authority,
  issueDeviceCertificate,
  issueServerCertificate,
  makeCertificate,
  newAuthority,
  signingOf,
} from '@attribution/certificates';

/** A certificate, with those below the root behind it, and its private key, as PEM. */
export interface Certified {
  readonly cert: string;
  readonly key: string;
}

interface Wording {
  /** Default: a device that nobody knows. */
  readonly deviceId?: string;
  /** Of the issue: the certificate is good from an hour before it to 30 days after it. Default: now. */
  readonly issuedAt?: Date;
}

export interface TestAuthority {
  readonly authority: Authority;
  /** As PEM. */
  readonly root: string;
  /** A device's certificate. */
  issue(wording?: Wording): Certified;
  /** A server's certificate. */
  issueServer(hosts?: readonly string[]): Certified;
}

const newKeyPair = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const unknownDevice = () => `dev_${randomUUID()}`;

/** An authority that nobody but a test knows. Making one takes some tenths of a second. */
export function createTestAuthority(authority: Authority = newAuthority().authority): TestAuthority {
  const signing = signingOf(authority);
  return {
    authority,
    root: authority.root,
    issue({ deviceId = unknownDevice(), issuedAt = new Date() } = {}) {
      const { publicKey, privateKey } = newKeyPair();
      const { certificate } = issueDeviceCertificate(signing, deviceId, publicKey, issuedAt);
      return {
        cert: certificate + authority.certificate,
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      };
    },
    issueServer(hosts = ['127.0.0.1', 'localhost']) {
      const { certificate, private_key: key } = issueServerCertificate(signing, hosts);
      return { cert: certificate + authority.certificate, key };
    },
  };
}

/** A certificate that says what a device's says, and that its own key has signed: for an RSA key, as authorities have. */
export function selfSigned({ deviceId = unknownDevice(), issuedAt = new Date() }: Wording = {}): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const cert = makeCertificate(
    {
      commonName: deviceId,
      publicKey,
      notBefore: new Date(issuedAt.getTime() - 3_600_000),
      notAfter: new Date(issuedAt.getTime() + 86_400_000),
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', clientAuth: true },
        { name: 'subjectAltName', altNames: [{ type: 6, value: `urn:attribution:device:${deviceId}` }] },
      ],
    },
    { selfKey: privateKey },
  );
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}
