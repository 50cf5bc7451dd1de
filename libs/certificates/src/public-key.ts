import { createPublicKey, type KeyObject } from 'node:crypto';
import forge from 'node-forge';
import { formOf, type KeyForm, type KeyKind } from './key-forms.ts';

const { asn1 } = forge;

/** The kind of a public key that may sign; undefined for any other. */
export function kindOf(key: KeyObject): KeyKind | undefined {
  const form = formOfKey(key);
  if (form) return form.kind;
  const { modulusLength = 0, publicExponent, namedCurve } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'rsa')
    return modulusLength >= 2048 && modulusLength <= 4096 && publicExponent === 65_537n ? 'rsa' : undefined;
  if (key.asymmetricKeyType === 'ec') return namedCurve === 'prime256v1' ? 'p-256' : undefined;
  return key.asymmetricKeyType === 'ed25519' ? 'ed25519' : undefined;
}

/** What keys were read from: OpenSSL takes longer to write a key than to check a signature with it. */
const readFrom = new WeakMap<KeyObject, Buffer>();

export const spkiOf = (key: KeyObject): Buffer => readFrom.get(key) ?? key.export({ type: 'spki', format: 'der' });

/** The form of a key that `readSpki` has read, if it is a usual one. */
export function formOfKey(key: KeyObject): KeyForm | undefined {
  const spki = readFrom.get(key);
  return spki && formOf(spki);
}

/**
 * The public key of a DER SubjectPublicKeyInfo; undefined if it is none. OpenSSL reads more than keys: bytes behind one, a
 * negative modulus, a point at infinity. What does not come out as it went in is refused.
 */
export function readSpki(der: Buffer): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: der, format: 'der', type: 'spki' });
    if (formOf(der)) {
      readFrom.set(key, der);
      return key;
    }
    if (!spkiOf(key).equals(der)) return undefined;
    // Certificates name the curve (RFC 5480 §2.1.1), however the key that they are for was written.
    return key.asymmetricKeyType === 'ec'
      ? createPublicKey({ key: key.export({ format: 'jwk' }), format: 'jwk' })
      : key;
  } catch {
    return undefined;
  }
}

/** The content of the BIT STRING of a key. */
export function bitsOf(key: KeyObject): Buffer {
  const known = formOfKey(key);
  // The first octet counts the unused bits of the last one.
  return known ? known.bits : bytesOf(partsOf(parseDer(spkiOf(key)))[1]?.value as string).subarray(1);
}

/** The DER in a PEM text with exactly one block of this label, and nothing else; undefined if it is none. */
export function readPem(text: string, label: string): Buffer | undefined {
  const found = new RegExp(`^\\s*-----BEGIN ${label}-----([A-Za-z0-9+/=\\s]+)-----END ${label}-----\\s*$`).exec(text);
  const base64 = found?.[1]?.replaceAll(/\s/g, '');
  if (!base64 || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64) || base64.length % 4 !== 0) return undefined;
  return Buffer.from(base64, 'base64');
}

export const writePem = (der: Buffer, label: string): string =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;

/** forge keeps bytes as binary strings. */
export const bytesOf = (binary: string): Buffer => Buffer.from(binary, 'binary');
export const toBinary = (bytes: Buffer): string => bytes.toString('binary');

/** Parses DER without looking into bit strings. Throws for what is none. */
export const parseDer = (der: Buffer): forge.asn1.Asn1 =>
  asn1.fromDer(toBinary(der), { strict: true, parseAllBytes: true, decodeBitStrings: false } as never);

export const writeDer = (node: forge.asn1.Asn1): Buffer => bytesOf(asn1.toDer(node).getBytes());

/** The nodes within a constructed node; none within a primitive one. */
export const partsOf = (node: forge.asn1.Asn1 | undefined): forge.asn1.Asn1[] =>
  node && Array.isArray(node.value) ? node.value : [];
