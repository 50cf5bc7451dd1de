import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { chanceFrom } from '@attribution/testing';
import { bits, der, integer, keyKinds, oid, pem } from './support-csr.ts';

const spkiOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' });
const point = keyKinds['p-256']().publicKey.export({ format: 'jwk' });
const [x, y] = [point.x, point.y].map((part) => Buffer.from(part ?? '', 'base64url')) as [Buffer, Buffer];
const curve = (id: string) => der(0x30, oid('2a8648ce3d0201'), oid(id));
const ecKey = (id: string, octets: Buffer) => der(0x30, curve(id), bits(octets));
const p256 = '2a8648ce3d030107';
const rsaKey = (modulus: Buffer, exponent: Buffer) =>
  der(0x30, der(0x30, oid('2a864886f70d010101'), der(0x05)), bits(der(0x30, der(0x02, modulus), der(0x02, exponent))));
/** As many octets that begin and end with a one. */
const modulusOf = (octets: number) => Buffer.concat([Buffer.from([0]), Buffer.alloc(octets, 0xab)]);
const e65537 = Buffer.from([1, 0, 1]);

/** Public keys in DER that no request may be for, and no factory list may have. */
export const hostileKeys: Readonly<Record<string, Buffer>> = {
  'RSA of 512 bits': rsaKey(modulusOf(64), e65537),
  'RSA of 2040 bits': rsaKey(modulusOf(255), e65537),
  'RSA of 4104 bits': rsaKey(modulusOf(513), e65537),
  'RSA of 16,000 bits': rsaKey(modulusOf(2000), e65537),
  'RSA with the modulus 0': rsaKey(Buffer.from([0]), e65537),
  'RSA with the modulus 1': rsaKey(Buffer.from([1]), e65537),
  'RSA with a negative modulus': rsaKey(Buffer.alloc(256, 0xab), e65537),
  ...Object.fromEntries(
    [0, 1, 2, 3, 17].map((exponent) => [
      `RSA with the exponent ${exponent}`,
      rsaKey(modulusOf(256), Buffer.from([exponent])),
    ]),
  ),
  'RSA with the exponent 65,536': rsaKey(modulusOf(256), Buffer.from([1, 0, 0])),
  'RSA with an exponent of 2048 bits': rsaKey(modulusOf(256), modulusOf(256)),
  'RSA without an exponent': der(
    0x30,
    der(0x30, oid('2a864886f70d010101'), der(0x05)),
    bits(der(0x30, der(0x02, modulusOf(256)))),
  ),
  'RSA-PSS': spkiOf(generateKeyPairSync('rsa-pss', { modulusLength: 1024 }).publicKey),
  'a point at infinity': ecKey(p256, Buffer.from([0])),
  'a point that is not on the curve': ecKey(p256, Buffer.concat([Buffer.from([4]), x, x])),
  'a point of zeros': ecKey(p256, Buffer.concat([Buffer.from([4]), Buffer.alloc(64)])),
  'a point beyond the field': ecKey(p256, Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 0xff)])),
  'half a point': ecKey(p256, Buffer.concat([Buffer.from([4]), x])),
  'a point of an unknown form': ecKey(p256, Buffer.concat([Buffer.from([9]), x, y])),
  'a point without octets': ecKey(p256, Buffer.alloc(0)),
  'a point of P-256 on the curve of P-384': ecKey('2b81040022', Buffer.concat([Buffer.from([4]), x, y])),
  'a curve that nobody knows': ecKey('2b8104007f', Buffer.concat([Buffer.from([4]), x, y])),
  'a curve without a name': der(0x30, der(0x30, oid('2a8648ce3d0201'), der(0x05)), bits(Buffer.alloc(65, 4))),
  'no curve': der(0x30, der(0x30, oid('2a8648ce3d0201')), bits(Buffer.alloc(65, 4))),
  ...Object.fromEntries(
    ['secp224r1', 'secp256k1', 'secp384r1', 'secp521r1', 'brainpoolP256r1'].map((namedCurve) => [
      namedCurve,
      spkiOf(generateKeyPairSync('ec', { namedCurve }).publicKey),
    ]),
  ),
  'a curve by its numbers': spkiOf(
    generateKeyPairSync('ec', { namedCurve: 'secp521r1', paramEncoding: 'explicit' }).publicKey,
  ),
  Ed448: spkiOf(generateKeyPairSync('ed448').publicKey),
  X25519: spkiOf(generateKeyPairSync('x25519').publicKey),
  X448: spkiOf(generateKeyPairSync('x448').publicKey),
  'Ed25519 of 31 octets': der(0x30, der(0x30, oid('2b6570')), bits(Buffer.alloc(31, 7))),
  'Ed25519 of 33 octets': der(0x30, der(0x30, oid('2b6570')), bits(Buffer.alloc(33, 7))),
  'an algorithm that nobody knows': der(0x30, der(0x30, oid('2b06010401')), bits(Buffer.alloc(32, 7))),
  'no algorithm': der(0x30, der(0x30), bits(Buffer.alloc(32, 7))),
  'no key': der(0x30, der(0x30, oid('2b6570'))),
  'a key that is no bit string': der(0x30, der(0x30, oid('2b6570')), der(0x04, Buffer.alloc(33, 7))),
  'nothing in a sequence': der(0x30),
  'a number': integer(7),
};

/** Forms of one key, as PEM, by its kind. */
export function oddKeys(): Readonly<Record<string, readonly string[]>> {
  const forms = (...points: Buffer[]) => points.map((octets) => pem(ecKey(p256, octets), 'PUBLIC KEY'));
  const odd = (y.at(-1) ?? 0) & 1;
  const explicit = generateKeyPairSync('ec', { namedCurve: 'prime256v1', paramEncoding: 'explicit' }).publicKey;
  const named = createPublicKey({ key: explicit.export({ format: 'jwk' }), format: 'jwk' });
  return {
    'the point whole, compressed and in both forms': forms(
      ...[[4], [2 + odd], [6 + odd]].map(([form = 0]) =>
        Buffer.concat([Buffer.from([form]), x, form < 4 ? Buffer.alloc(0) : y]),
      ),
    ),
    'the curve by its numbers and by its name': [explicit, named].map((key) => pem(spkiOf(key), 'PUBLIC KEY')),
  };
}

/** Texts that are no PEM of what is in them, for any kind of content. */
export function spoiltPems(good: string, label: string): Readonly<Record<string, string>> {
  const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`];
  const base64 = good.slice(begin.length, good.indexOf('-----END')).trim();
  const block = (content: string) => `${begin}\n${content}\n${end}\n`;
  return {
    'an empty text': '',
    spaces: '   \n ',
    'the lines of PEM alone': `${begin}\n${end}\n`,
    'base64 without the lines of PEM': base64,
    'a block without its end': good.replace(end, ''),
    'a block without its beginning': good.replace(begin, ''),
    'an end before the beginning': `${end}\n${base64}\n${begin}\n`,
    'two blocks': good + good,
    'text in front': `a key:\n${good}`,
    'text behind': `${good}a key`,
    'another label at the end': good.replace(end, '-----END CERTIFICATE-----'),
    'another label': good.replaceAll(label, 'CERTIFICATE'),
    'a label in lower case': good.replaceAll(label, label.toLowerCase()),
    'four hyphens': good.replaceAll('-----', '----'),
    'headers of encryption': good.replace('\n', '\nProc-Type: 4,ENCRYPTED\nDEK-Info: DES-EDE3-CBC,00\n\n'),
    'a byte order mark': `\uFEFF-${good}`,
    'letters of other alphabets': block(base64.replace(/[A-Z]/, 'Ä')),
    base64url: block(`-_${base64.slice(2)}`),
    'one letter too few': block(base64.slice(0, -1)),
    'one letter too many': block(`${base64}A`),
    'padding in the middle': block(`${base64.slice(0, 8)}==${base64.slice(8)}`),
    'nothing but padding': block('===='),
    'exclamation marks': block('!!!!'),
    'spaces between all letters, and one letter too many': block([...`${base64}A`].join(' ')),
    'a hundred thousand lines': block('\n'.repeat(100_000)),
  };
}

/** DER with an octet changed, cut off, or with some of it again, at a random place. */
export function mutationsOf(good: Buffer, count: number, seed = 7): Buffer[] {
  const chance = chanceFrom(seed);
  return Array.from({ length: count }, (_, at) => {
    const bytes = Buffer.from(good);
    const place = chance.int(0, bytes.length - 1);
    if (at % 3 === 0) bytes[place] = (bytes[place] ?? 0) ^ chance.int(1, 255);
    if (at % 3 === 1) return bytes.subarray(0, place);
    if (at % 3 === 2) return Buffer.concat([bytes, bytes.subarray(place)]);
    return bytes;
  });
}
