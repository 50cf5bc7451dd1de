import { type KeyObject, verify } from 'node:crypto';
import forge from 'node-forge';
import { bytesOf, kindOf, parseDer, partsOf, readPem, readSpki, writeDer } from './public-key.ts';

/** Why a certificate signing request is refused; for people. */
export class UnusableCsr extends Error {
  override readonly name = 'UnusableCsr';
}

/** Digests of the algorithms that may sign a request, by object identifier and kind of key. */
const algorithms: Readonly<Record<string, { readonly kind: string; readonly digest: string }>> = {
  '1.2.840.113549.1.1.11': { kind: 'rsa', digest: 'sha256' },
  '1.2.840.113549.1.1.12': { kind: 'rsa', digest: 'sha384' },
  '1.2.840.113549.1.1.13': { kind: 'rsa', digest: 'sha512' },
  '1.2.840.10045.4.3.2': { kind: 'p-256', digest: 'sha256' },
  '1.2.840.10045.4.3.3': { kind: 'p-256', digest: 'sha384' },
  '1.2.840.10045.4.3.4': { kind: 'p-256', digest: 'sha512' },
};

/**
 * The public key that a PKCS#10 request (RFC 2986) in PEM is for. Throws `UnusableCsr` unless the request is signed by that
 * key, which is RSA of 2048 to 4096 bits or P-256. node-forge reads the structure; it knows no EC keys, so Node checks.
 */
export function readCsr(pem: string): KeyObject {
  const { spki, signed, algorithm, signature } = structureOf(pem);
  const key = readSpki(spki);
  const kind = key && kindOf(key);
  if (!key || (kind !== 'rsa' && kind !== 'p-256'))
    throw new UnusableCsr('its key is neither RSA of 2048 to 4096 bits nor P-256');
  const known = algorithms[algorithm];
  if (known?.kind !== kind) throw new UnusableCsr('is signed by an algorithm that is not accepted');
  if (!verifies(known.digest, signed, key, signature)) throw new UnusableCsr('is not signed by its own key');
  return key;
}

function structureOf(pem: string) {
  const der = readPem(pem, 'CERTIFICATE REQUEST') ?? readPem(pem, 'NEW CERTIFICATE REQUEST');
  if (!der) throw new UnusableCsr('is no certificate signing request in PEM');
  try {
    const [info, algorithm, signature, ...more] = partsOf(parseDer(der));
    const [version, subject, spki] = partsOf(info);
    const oid = partsOf(algorithm)[0];
    if (!info || !version || !subject || !spki || !oid || !signature || more.length > 0) throw new Error('incomplete');
    if (signature.type !== forge.asn1.Type.BITSTRING || oid.type !== forge.asn1.Type.OID) throw new Error('mistyped');
    return {
      spki: writeDer(spki),
      signed: writeDer(info),
      algorithm: forge.asn1.derToOid(oid.value as string),
      // The first octet counts the unused bits of the last one.
      signature: bytesOf(signature.value as string).subarray(1),
    };
  } catch {
    throw new UnusableCsr('does not parse as a certificate signing request');
  }
}

function verifies(digest: string, bytes: Buffer, key: KeyObject, signature: Buffer): boolean {
  try {
    return verify(digest, bytes, key, signature);
  } catch {
    return false;
  }
}
