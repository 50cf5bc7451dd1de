import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  X509Certificate,
} from 'node:crypto';
import { z } from 'zod';
import { makeCertificate, type Signing } from './certificate.ts';
import { makeDeviceCertificate } from './device-certificate.ts';
import { writePem } from './public-key.ts';

const pem = (label: string) => z.string().regex(new RegExp(`-----BEGIN ${label}-----`), `must be PEM: ${label}`);

/**
 * The authority of the platform's devices: the root's certificate, and the issuing authority below it, with its key. Devices
 * trust the root, and show their issuer's certificate, so only the issuer of today is kept.
 */
export const Authority = z.object({
  root: pem('CERTIFICATE'),
  certificate: pem('CERTIFICATE'),
  private_key: pem('PRIVATE KEY'),
});
export type Authority = z.output<typeof Authority>;

const dayMs = 24 * 60 * 60 * 1000;
const hourMs = 60 * 60 * 1000;
const rootYears = 20;
const issuerYears = 5;
const rsaBits = 2048;

const certifies = [
  { name: 'basicConstraints', cA: true, critical: true },
  { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
];
const certifiesLeaves = [{ ...certifies[0], pathLenConstraint: 0 }, certifies[1]] as typeof certifies;

const newKeys = () => generateKeyPairSync('rsa', { modulusLength: rsaBits });
const inPem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** Makes a root and an issuing authority. The root's key is for rotations alone, and is kept apart. */
export function newAuthority(now = new Date()): { readonly authority: Authority; readonly rootKey: string } {
  const { publicKey, privateKey } = newKeys();
  const root = makeCertificate(
    {
      commonName: 'Attribution Platform Device Root',
      publicKey,
      notBefore: new Date(now.getTime() - hourMs),
      notAfter: new Date(now.getTime() + rootYears * 365 * dayMs),
      extensions: certifies,
    },
    { selfKey: privateKey },
  );
  const rootKey = inPem(privateKey);
  return { authority: { root, ...newIssuer(root, rootKey, now) }, rootKey };
}

/** Makes an issuing authority below the root. It ends no later than the root. */
export function newIssuer(root: string, rootKey: string, now = new Date()): Omit<Authority, 'root'> {
  const { publicKey, privateKey } = newKeys();
  const signing: Signing = { certificate: root, key: createPrivateKey(rootKey) };
  if (!new X509Certificate(root).checkPrivateKey(signing.key)) throw new Error("The key is not the root's");
  const end = Math.min(now.getTime() + issuerYears * 365 * dayMs, new X509Certificate(root).validToDate.getTime());
  const certificate = makeCertificate(
    {
      commonName: `Attribution Platform Device Issuer ${now.toISOString().slice(0, 10)}`,
      publicKey,
      notBefore: new Date(now.getTime() - hourMs),
      notAfter: new Date(end),
      extensions: certifiesLeaves,
    },
    signing,
  );
  return { certificate, private_key: inPem(privateKey) };
}

type ReadySigning = Signing & { readonly chain: readonly string[] };
const readied = new WeakMap<Authority, ReadySigning>();

/** The issuing authority, ready to sign, and the chain that is sent with what it signs. The key is read once. */
export function signingOf(authority: Authority): ReadySigning {
  const known = readied.get(authority);
  if (known) return known;
  const { root, certificate, private_key } = authority;
  const signing = { certificate, key: createPrivateKey(private_key), chain: [certificate, root] };
  readied.set(authority, signing);
  return signing;
}

/** How long a device's certificate is good: from an hour before its issue, for slow clocks, to 30 days after it. */
const deviceValidity = { beforeMs: hourMs, afterMs: 30 * dayMs } as const;

/** Certificates have whole seconds. */
const wholeSecond = (ms: number) => new Date(Math.floor(ms / 1000) * 1000);

/** Issues a certificate to a device, in PEM, with the SHA-256 of its DER and its serial number, both in lower-case hex. */
export function issueDeviceCertificate(signing: Signing, deviceId: string, publicKey: KeyObject, now: Date) {
  const notBefore = wholeSecond(now.getTime() - deviceValidity.beforeMs);
  const notAfter = wholeSecond(now.getTime() + deviceValidity.afterMs);
  const { der, serial } = makeDeviceCertificate({ deviceId, publicKey, notBefore, notAfter }, signing);
  return { certificate: writePem(der, 'CERTIFICATE'), fingerprint: hash('sha256', der), serial, notBefore, notAfter };
}

/** Issues a certificate to the ingress, for these host names and IP addresses; with its key, both in PEM. */
export function issueServerCertificate(signing: Signing, hosts: readonly string[], now = new Date()) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const isAddress = (host: string) => /^[\d.]+$|:/.test(host);
  const certificate = makeCertificate(
    {
      commonName: hosts[0] ?? 'localhost',
      publicKey: createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
      notBefore: wholeSecond(now.getTime() - hourMs),
      notAfter: wholeSecond(now.getTime() + 365 * dayMs),
      extensions: [
        { name: 'basicConstraints', cA: false, critical: true },
        { name: 'keyUsage', digitalSignature: true, critical: true },
        { name: 'extKeyUsage', serverAuth: true },
        {
          name: 'subjectAltName',
          altNames: hosts.map((host) => (isAddress(host) ? { type: 7, ip: host } : { type: 2, value: host })),
        },
      ],
    },
    signing,
  );
  return { certificate, private_key: inPem(privateKey) };
}
