import { generateKeyPairSync, sign } from 'node:crypto';
import { hostileKeys, mutationsOf, spoiltPems } from './hostile-keys.ts';
import { bits, csrDer, der, integer, keyKinds, makeCsr, oid, pem } from './support-csr.ts';

/** Parts of a certificate signing request (RFC 2986), in DER, that a case replaces. */
interface Parts {
  readonly version: Buffer;
  readonly subject: Buffer;
  readonly spki: Buffer;
  readonly attributes: Buffer;
  readonly algorithm: Buffer;
  /** Changes the BIT STRING of the signature. */
  readonly seal: (signature: Buffer) => Buffer;
}

const pair = keyKinds['p-256']();
const spki = pair.publicKey.export({ type: 'spki', format: 'der' });
const name = (text: Buffer, kind = 0x0c) => der(0x30, der(0x31, der(0x30, oid('550403'), der(kind, text))));
const ecdsaSha256 = der(0x30, oid('2a8648ce3d040302'));

const usual: Parts = {
  version: integer(0),
  subject: name(Buffer.from('a device')),
  spki,
  attributes: der(0xa0),
  algorithm: ecdsaSha256,
  seal: (signature) => bits(signature),
};

/** A request that its own key has signed, whatever it says. */
function signed(parts: Partial<Parts>): Buffer {
  const { version, subject, spki: key, attributes, algorithm, seal } = { ...usual, ...parts };
  const info = der(0x30, version, subject, key, attributes);
  return der(0x30, info, algorithm, seal(sign('sha256', info, pair.privateKey)));
}

/** An extension request (RFC 2985 §5.4.2) with these extensions. */
const requested = (...extensions: Buffer[]) =>
  der(0x30, oid('2a864886f70d01090e'), der(0x31, der(0x30, ...extensions)));
const extension = (id: string, value: Buffer) => der(0x30, oid(id), der(0x04, value));
const alternative = extension('551d11', der(0x30, der(0x86, Buffer.from('urn:attribution:device:dev_another'))));
const authority = extension('551d13', der(0x30, der(0x01, Buffer.from([0xff]))));

/** Requests that are odd, and still are requests: of each the public key alone is taken. */
export const oddCsrs: Readonly<Record<string, string>> = {
  'the name of another device, and its URI': pem(
    signed({ subject: name(Buffer.from('dev_another')), attributes: der(0xa0, requested(alternative)) }),
  ),
  'a wish to be an authority': pem(signed({ attributes: der(0xa0, requested(authority)) })),
  'the same extension twice': pem(signed({ attributes: der(0xa0, requested(alternative, alternative)) })),
  'the same attribute twice': pem(signed({ attributes: der(0xa0, requested(authority), requested(authority)) })),
  'a NUL in the name': pem(signed({ subject: name(Buffer.from('dev_1\0.example')) })),
  'no name': pem(signed({ subject: der(0x30) })),
  'a name of 4 KiB': pem(signed({ subject: name(Buffer.alloc(4096, 'x')) })),
  'a name that is no UTF-8': pem(signed({ subject: name(Buffer.alloc(20, 0xff)) })),
  'attributes of 4 KiB': pem(signed({ attributes: der(0xa0, requested(extension('551d11', Buffer.alloc(4096)))) })),
  'the label of old programs': pem(signed({}), 'NEW CERTIFICATE REQUEST'),
  'a key with the curve by its numbers': makeCsr(
    generateKeyPairSync('ec', { namedCurve: 'prime256v1', paramEncoding: 'explicit' }),
  ),
  'lines that end with CR and LF': pem(signed({})).replaceAll('\n', '\r\n'),
  'base64 on one line': pem(signed({})).replaceAll(/([A-Za-z0-9+/=])\n(?=[A-Za-z0-9+/=])/g, '$1'),
};

const headOf = (bytes: Buffer) => 2 + ((bytes[1] ?? 0) > 127 ? (bytes[1] ?? 0) - 128 : 0);
const lengthOf = (bytes: Buffer) => (headOf(bytes) === 2 ? (bytes[1] ?? 0) : bytes.readUIntBE(2, headOf(bytes) - 2));

/** The parts of a sequence whose length takes two octets behind the tag. */
function partsOf(sequence: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = headOf(sequence); at < sequence.length; ) {
    const rest = sequence.subarray(at);
    const [head, length] = [headOf(rest), lengthOf(rest)];
    parts.push(rest.subarray(0, head + length));
    at += head + length;
  }
  return parts;
}

const deep = (levels: number): Buffer => (levels === 0 ? der(0x05) : der(0x30, deep(levels - 1)));
const whole = signed({});

/** Requests of which none may be accepted. */
export const hostileCsrs: Readonly<Record<string, string>> = {
  ...spoiltPems(pem(whole), 'CERTIFICATE REQUEST'),
  ...Object.fromEntries(Object.entries(hostileKeys).map(([what, key]) => [`for ${what}`, pem(signed({ spki: key }))])),
  'for a key that is good for Ed25519 alone': makeCsr(keyKinds.ed25519()),
  'signed by another key': makeCsr(pair, 'x', keyKinds['p-256']().privateKey),
  'signed by nobody': pem(signed({ seal: () => bits(Buffer.alloc(0)) })),
  'a signature of zeros': pem(signed({ seal: () => bits(der(0x30, integer(0), integer(0))) })),
  'a signature that is no bit string': pem(signed({ seal: (signature) => der(0x04, signature) })),
  'a signature behind an octet that counts 255 bits': pem(signed({ seal: (signature) => bits(signature.subarray(1)) })),
  'a signature of 4 KiB': pem(signed({ seal: (signature) => bits(Buffer.concat([signature, Buffer.alloc(4096)])) })),
  ...Object.fromEntries(
    Object.entries({
      'no algorithm': der(0x30),
      'an algorithm that is no object identifier': der(0x30, integer(1)),
      'an object identifier without octets': der(0x30, der(0x06)),
      'an object identifier that does not end': der(0x30, oid('2a8648ce3d8484')),
      'an algorithm of RSA': der(0x30, oid('2a864886f70d01010b'), der(0x05)),
      'SHA-1': der(0x30, oid('2a8648ce3d0401')),
      'SHA-384, when it was SHA-256': der(0x30, oid('2a8648ce3d040303')),
      'MD5 with RSA': der(0x30, oid('2a864886f70d010104'), der(0x05)),
      'RSA-PSS': der(0x30, oid('2a864886f70d01010a')),
      Ed25519: der(0x30, oid('2b6570')),
    }).map(([what, algorithm]) => [`signed by ${what}`, pem(signed({ algorithm }))]),
  ),
  'more behind the signature': pem(der(0x30, ...partsOf(whole), der(0x05))),
  'bytes behind the request': pem(Buffer.concat([whole, Buffer.from([0])])),
  'no signature': pem(der(0x30, ...partsOf(whole).slice(0, 2))),
  'a certificate in its place': pem(der(0x30, der(0x30, der(0xa0, integer(2))), ecdsaSha256, bits(Buffer.alloc(8)))),
  'a sequence of fifteen hundred levels': pem(deep(1500)),
  'a length of four gigabytes': pem(Buffer.from('3084ffffffff', 'hex')),
  'a length of 127 octets': pem(Buffer.concat([Buffer.from([0x30, 0xff]), Buffer.alloc(127, 0xff)])),
  'an indefinite length without an end': pem(Buffer.from('3080', 'hex')),
  'an indefinite length with an end': pem(
    Buffer.concat([Buffer.from('3080', 'hex'), whole.subarray(4), Buffer.alloc(2)]),
  ),
  'a tag of many octets': pem(Buffer.concat([Buffer.from([0x3f]), Buffer.alloc(64, 0xff)])),
  'four thousand zeros': pem(Buffer.alloc(4000)),
  'four thousand ones': pem(Buffer.alloc(4000, 0xff)),
};

export const mutatedCsrs = (count: number): string[] => mutationsOf(csrDer(pair), count).map((bytes) => pem(bytes));
