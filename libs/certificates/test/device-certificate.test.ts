import { generateKeyPairSync, randomBytes, randomInt, X509Certificate } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { encodeCertificate, newSerial } from '../src/certificate.ts';
import { deviceExtensions, makeDeviceCertificate } from '../src/device-certificate.ts';
import { issueDeviceCertificate, newAuthority, readSpki, signingOf } from '../src/index.ts';
import { spkiOf } from '../src/public-key.ts';

const signing = signingOf(newAuthority().authority);
const newEcKey = (paramEncoding: 'named' | 'explicit' = 'named') =>
  generateKeyPairSync('ec', { namedCurve: 'prime256v1', paramEncoding }).publicKey;
const newRsaKey = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).publicKey;
const rsaKeys = [2048, 2056, 2047 + 128].map(newRsaKey);
/** As a request brings it. */
function readAgain(key: ReturnType<typeof newEcKey>) {
  const read = readSpki(spkiOf(key));
  if (!read) throw new Error('The key was refused');
  return read;
}

const keys = [
  ...Array.from({ length: 30 }, () => newEcKey()),
  ...rsaKeys.flatMap((key) => Array.from({ length: 8 }, () => key)),
];

/** A whole second between 1990 and 2089: from 2050 on the year has four digits. */
const someTime = () => new Date(randomInt(Date.UTC(1990, 0) / 1000, Date.UTC(2090, 0) / 1000) * 1000);

test('certificates of devices are, octet for octet, those that node-forge encodes', () => {
  for (const key of [...keys, ...keys.map(readAgain), readAgain(newEcKey('explicit'))]) {
    const deviceId = `dev_${randomBytes(randomInt(1, 40)).toString('hex')}`;
    const same = { publicKey: key, notBefore: someTime(), notAfter: someTime() };
    const serial = newSerial();
    const extensions = deviceExtensions(deviceId);
    const expected = encodeCertificate({ ...same, commonName: deviceId, extensions, serial }, signing);
    const { der } = makeDeviceCertificate({ ...same, deviceId }, signing, serial);
    expect(der.toString('hex')).toBe(expected.toString('hex'));
  }
});

test('each authority signs its own certificates, in turn too', () => {
  const other = signingOf(newAuthority().authority);
  for (const issuer of [signing, other, signing]) {
    const { certificate } = issueDeviceCertificate(issuer, 'dev_1', newEcKey(), new Date());
    const [issued, authority] = [certificate, issuer.certificate].map((pem) => new X509Certificate(pem));
    expect(authority && issued?.checkIssued(authority) && issued.verify(authority.publicKey)).toBe(true);
  }
});

test('what is told of a certificate besides it is what it says', () => {
  const issued = issueDeviceCertificate(signing, 'dev_1', newEcKey(), new Date());
  const parsed = new X509Certificate(issued.certificate);
  expect(issued).toMatchObject({
    fingerprint: parsed.fingerprint256.replaceAll(':', '').toLowerCase(),
    serial: parsed.serialNumber.toLowerCase(),
    notBefore: parsed.validFromDate,
    notAfter: parsed.validToDate,
  });
});
