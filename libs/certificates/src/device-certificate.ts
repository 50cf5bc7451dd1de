import { type KeyObject, sign } from 'node:crypto';
import { encodeCertificate, keyIdOf, newSerial, type Signing, tbsOf } from './certificate.ts';
import { der, tag } from './der.ts';
import { partsOf, spkiOf, writeDer } from './public-key.ts';

interface Wanted {
  readonly deviceId: string;
  readonly publicKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** What certificates of devices are for, by its names in node-forge. */
const purposes = [
  { name: 'basicConstraints', cA: false, critical: true },
  { name: 'keyUsage', digitalSignature: true, critical: true },
  { name: 'extKeyUsage', clientAuth: true },
];
export const deviceExtensions = (deviceId: string) => [
  ...purposes,
  { name: 'subjectAltName', altNames: [{ type: 6, value: uriOf(deviceId) }] },
];
const uriOf = (deviceId: string) => `urn:attribution:device:${deviceId}`;

/** What all certificates of devices by one issuer have in common, in DER. */
interface Frame {
  readonly version: Buffer;
  readonly algorithm: Buffer;
  readonly issuer: Buffer;
  readonly purposes: Buffer;
  readonly authorityKeyId: Buffer;
}

const frames = new WeakMap<Signing, Frame>();

/** Taken once for each issuer from a certificate that node-forge has encoded. */
function frameOf(issuer: Signing, wanted: Wanted): Frame {
  const known = frames.get(issuer);
  if (known) return known;
  const { deviceId, ...same } = wanted;
  const made = encodeCertificate({ ...same, commonName: deviceId, extensions: deviceExtensions(deviceId) }, issuer);
  const [version, , algorithm, issuerName, , , , extensions] = tbsOf(made);
  const all = partsOf(partsOf(extensions)[0]).map(writeDer);
  if (!version || !algorithm || !issuerName) throw new Error('node-forge has left out parts of a certificate');
  const frame = {
    version: writeDer(version),
    algorithm: writeDer(algorithm),
    issuer: writeDer(issuerName),
    purposes: Buffer.concat(all.slice(0, purposes.length)),
    authorityKeyId: Buffer.concat(all.slice(-1)),
  };
  frames.set(issuer, frame);
  return frame;
}

const oid = (hex: string) => der(tag.oid, Buffer.from(hex, 'hex'));
const commonName = oid('550403');
const subjectAltName = oid('551d11');
const subjectKeyId = oid('551d0e');
const noUnusedBits = Buffer.of(0);

const subjectOf = (name: string) =>
  der(tag.sequence, der(tag.set, der(tag.sequence, commonName, der(tag.printableString, Buffer.from(name)))));

/** Until 2049 with two digits of the year, from then on with four (RFC 5280 §4.1.2.5). */
function timeOf(date: Date): Buffer {
  const digits = `${date.toISOString().replaceAll(/\.\d+|\D/g, '')}Z`;
  return date.getUTCFullYear() < 2050
    ? der(tag.utcTime, Buffer.from(digits.slice(2)))
    : der(tag.generalizedTime, Buffer.from(digits));
}

const extension = (id: Buffer, value: Buffer) => der(tag.sequence, id, der(tag.octetString, value));

/**
 * Makes the certificate of a device, octet for octet as `encodeCertificate` would, which takes longer than to sign it. Here
 * only what differs from device to device is written anew.
 */
export function makeDeviceCertificate(wanted: Wanted, issuer: Signing, serial = newSerial()) {
  const { deviceId, publicKey, notBefore, notAfter } = wanted;
  const frame = frameOf(issuer, wanted);
  const extensions = der(
    tag.sequence,
    frame.purposes,
    extension(subjectAltName, der(tag.sequence, der(tag.implicit6, Buffer.from(uriOf(deviceId))))),
    extension(subjectKeyId, der(tag.octetString, Buffer.from(keyIdOf(publicKey), 'hex'))),
    frame.authorityKeyId,
  );
  const tbs = der(
    tag.sequence,
    frame.version,
    der(tag.integer, Buffer.from(serial, 'hex')),
    frame.algorithm,
    frame.issuer,
    der(tag.sequence, timeOf(notBefore), timeOf(notAfter)),
    subjectOf(deviceId),
    spkiOf(publicKey),
    der(tag.explicit3, extensions),
  );
  const signature = der(tag.bitString, noUnusedBits, sign('sha256', tbs, issuer.key));
  return { der: der(tag.sequence, tbs, frame.algorithm, signature), serial };
}
