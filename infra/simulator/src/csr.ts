import { createPublicKey, type KeyObject, sign } from 'node:crypto';

/** One element of DER: its tag, its length, its content. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const octets = Buffer.from(length.toString(16).padStart(length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | octets.length]), octets, content]);
}

const tag = {
  integer: 0x02,
  bits: 0x03,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
  attributes: 0xa0,
};
const oid = {
  commonName: Buffer.from('550403', 'hex'),
  ecdsaWithSha256: Buffer.from('2a8648ce3d040302', 'hex'),
  sha256WithRsa: Buffer.from('2a864886f70d01010b', 'hex'),
};

/** A certificate signing request (PKCS#10, RFC 2986) in PEM, of an RSA or P-256 key, for a name. */
export function makeCsr(key: KeyObject, commonName: string): string {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const name = der(
    tag.sequence,
    der(tag.set, der(tag.sequence, der(tag.oid, oid.commonName), der(tag.utf8, Buffer.from(commonName)))),
  );
  const info = der(tag.sequence, der(tag.integer, Buffer.from([0])), name, publicKey, der(tag.attributes));
  const algorithm =
    key.asymmetricKeyType === 'ec'
      ? der(tag.sequence, der(tag.oid, oid.ecdsaWithSha256))
      : der(tag.sequence, der(tag.oid, oid.sha256WithRsa), der(tag.null));
  const signature = der(tag.bits, Buffer.from([0]), sign('sha256', info, key));
  const lines =
    der(tag.sequence, info, algorithm, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`;
}
