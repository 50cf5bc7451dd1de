import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

/** A pair of each kind. RSA pairs take long, so there is one. */
let rsa: Pair | undefined;
export const keyKinds = {
  rsa: (): Pair => (rsa ??= generateKeyPairSync('rsa', { modulusLength: 2048 })),
  'p-256': (): Pair => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  ed25519: (): Pair => generateKeyPairSync('ed25519'),
} as const;

/** A tag, a length and a content in DER. */
export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

export const integer = (...octets: number[]) => der(0x02, Buffer.from(octets));
export const bits = (bytes: Buffer, unused = 0) => der(0x03, Buffer.from([unused]), bytes);
export const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
export const pem = (bytes: Buffer, label = 'CERTIFICATE REQUEST') =>
  `-----BEGIN ${label}-----\n${bytes.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;

const algorithms = {
  rsa: der(0x30, oid('2a864886f70d01010b'), der(0x05)),
  ec: der(0x30, oid('2a8648ce3d040302')),
  ed25519: der(0x30, oid('2b6570')),
};

/** A certificate signing request in DER (RFC 2986), written by hand, so that tests can write wrong ones too. */
export function csrDer(pair: Pair, subject = 'a device', signedBy: KeyObject = pair.privateKey): Buffer {
  const name = der(0x30, der(0x31, der(0x30, oid('550403'), der(0x0c, Buffer.from(subject)))));
  const spki = pair.publicKey.export({ type: 'spki', format: 'der' });
  const info = der(0x30, der(0x02, Buffer.from([0])), name, spki, der(0xa0));
  const type = pair.publicKey.asymmetricKeyType as keyof typeof algorithms;
  const signature = sign(type === 'ed25519' ? null : 'sha256', info, signedBy);
  return der(0x30, info, algorithms[type], der(0x03, Buffer.from([0]), signature));
}

export const makeCsr = (pair: Pair, subject?: string, signedBy?: KeyObject) => pem(csrDer(pair, subject, signedBy));
