import { hash, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { bitsOf, parseDer, partsOf, spkiOf, toBinary, writeDer, writePem } from './public-key.ts';

const { asn1, pki } = forge;

/** A certificate authority that can sign: RSA, certificate in PEM. */
export interface Signing {
  readonly certificate: string;
  readonly key: KeyObject;
}

/** An extension by its name in node-forge. */
type Extension = Readonly<Record<string, unknown>> & { readonly name: string };

interface Wanted {
  readonly commonName: string;
  readonly publicKey: KeyObject;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly extensions: readonly Extension[];
  /** In hex. Default: a new one. */
  readonly serial?: string;
}

/** What node-forge encodes in place of the key, because it knows no EC keys. */
const placeholder = pki.setRsaPublicKey(new forge.jsbn.BigInteger('3'), new forge.jsbn.BigInteger('3'));
const sha256WithRsa = '1.2.840.113549.1.1.11';
/** The positions in a TBSCertificate with a version (RFC 5280 §4.1). */
const at = { issuer: 3, subject: 5, key: 6 } as const;

/** 127 bits, positive, without a leading zero digit. */
export function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString('hex');
}

/** Subject key identifier: SHA-1 of the bits of the key (RFC 5280 §4.2.1.2, method 1), in hex. */
export const keyIdOf = (publicKey: KeyObject): string => hash('sha1', bitsOf(publicKey), 'hex');

/** The types of node-forge lack it. */
const encodeTbs = (certificate: forge.pki.Certificate): forge.asn1.Asn1 =>
  (pki as unknown as { getTBSCertificate(of: forge.pki.Certificate): forge.asn1.Asn1 }).getTBSCertificate(certificate);

const octets = (hex: string) =>
  asn1.create(asn1.Class.UNIVERSAL, asn1.Type.OCTETSTRING, false, toBinary(Buffer.from(hex, 'hex')));

/** The fields of the TBSCertificate in a certificate. */
export const tbsOf = (der: Buffer) => partsOf(partsOf(parseDer(der))[0]);

/** Makes an X.509 v3 certificate, in PEM, like `encodeCertificate`. */
export const makeCertificate = (...wanted: Parameters<typeof encodeCertificate>): string =>
  writePem(encodeCertificate(...wanted), 'CERTIFICATE');

/**
 * Makes an X.509 v3 certificate, in DER. node-forge encodes, Node signs with sha256WithRSAEncryption. Without an issuer the
 * certificate signs itself with `selfKey`.
 */
export function encodeCertificate(wanted: Wanted, issuer: Signing | { readonly selfKey: KeyObject }): Buffer {
  const { commonName, publicKey, notBefore, notAfter, extensions, serial = newSerial() } = wanted;
  const certificate = pki.createCertificate();
  certificate.publicKey = placeholder;
  certificate.serialNumber = serial;
  certificate.validity.notBefore = notBefore;
  certificate.validity.notAfter = notAfter;
  certificate.signatureOid = sha256WithRsa;
  certificate.siginfo.algorithmOid = sha256WithRsa;
  const name = [{ name: 'commonName', value: commonName }];
  certificate.setSubject(name);
  certificate.setIssuer(name);
  certificate.setExtensions([
    ...extensions,
    // With the value: by its name alone node-forge would make the identifier of the placeholder.
    { name: 'subjectKeyIdentifier', value: octets(keyIdOf(publicKey)) },
    { name: 'authorityKeyIdentifier', keyIdentifier: toBinary(Buffer.from(issuerKeyId(issuer, publicKey), 'hex')) },
  ]);
  const tbs = encodeTbs(certificate);
  const fields = partsOf(tbs);
  fields[at.key] = parseDer(spkiOf(publicKey));
  if ('certificate' in issuer) {
    const subject = tbsOf(new X509Certificate(issuer.certificate).raw)[at.subject];
    if (subject) fields[at.issuer] = subject;
  }
  const signature = sign('sha256', writeDer(tbs), 'key' in issuer ? issuer.key : issuer.selfKey);
  const { Class, Type } = asn1;
  const algorithm = asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, [
    asn1.create(Class.UNIVERSAL, Type.OID, false, asn1.oidToDer(sha256WithRsa).getBytes()),
    asn1.create(Class.UNIVERSAL, Type.NULL, false, ''),
  ]);
  const bits = asn1.create(Class.UNIVERSAL, Type.BITSTRING, false, `\0${toBinary(signature)}`);
  return writeDer(asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, [tbs, algorithm, bits]));
}

const issuerKeyId = (issuer: Signing | { readonly selfKey: KeyObject }, own: KeyObject) =>
  keyIdOf('certificate' in issuer ? new X509Certificate(issuer.certificate).publicKey : own);
