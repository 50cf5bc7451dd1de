import { der, tag } from './der.ts';

/** RSA in bits, exponent 65537; the curve of EC keys. */
export type KeyKind = 'rsa' | 'p-256' | 'ed25519';

/** What the bytes of a key say. */
export interface KeyForm {
  readonly kind: KeyKind;
  /** The content of its BIT STRING. */
  readonly bits: Buffer;
  /** Of an RSA key, without a leading zero octet. */
  readonly modulus?: Buffer;
}

const fromHex = (hex: string) => Buffer.from(hex, 'hex');
const noUnusedBits = Buffer.of(0);
const rsaAlgorithm = fromHex('300d06092a864886f70d0101010500');
const exponent = fromHex('0203010001');
/** SubjectPublicKeyInfos of these kinds differ in their last octets alone (RFC 5480, RFC 8410). */
const beginnings = [
  { kind: 'p-256', head: fromHex('3059301306072a8648ce3d020106082a8648ce3d03010703420004'), atBits: 26, length: 91 },
  { kind: 'ed25519', head: fromHex('302a300506032b6570032100'), atBits: 12, length: 44 },
] as const;

/** Where the content of the BIT STRING of an RSA key of 2048 to 4096 bits begins, and its modulus. */
const [atRsaBits, atModulus] = [24, 32];

function rsaSpki(modulus: Buffer): Buffer {
  const numbers = der(tag.sequence, der(tag.integer, modulus), exponent);
  return der(tag.sequence, rsaAlgorithm, der(tag.bitString, noUnusedBits, numbers));
}

/**
 * The form of a DER SubjectPublicKeyInfo that is written as OpenSSL would write its key, which holds for nearly all;
 * undefined if that has to be asked. Says nothing about the numbers in it: a point may lie beside its curve. Asking OpenSSL
 * for the same takes longer than checking a signature.
 */
export function formOf(spki: Buffer): KeyForm | undefined {
  const known = beginnings.find(
    ({ head, length }) => spki.length === length && spki.subarray(0, head.length).equals(head),
  );
  if (known) return { kind: known.kind, bits: spki.subarray(known.atBits) };
  const integer = spki.subarray(atModulus, -exponent.length);
  const [first = 0, second = 0] = integer;
  // DER: positive, and no octet more than it takes.
  if (first >= 0x80 || (first === 0 && second < 0x80) || !rsaSpki(integer).equals(spki)) return undefined;
  const modulus = first === 0 ? integer.subarray(1) : integer;
  const size = modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24;
  return size >= 2048 && size <= 4096 ? { kind: 'rsa', bits: spki.subarray(atRsaBits), modulus } : undefined;
}
