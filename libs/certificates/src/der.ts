/** Tags of ASN.1 (X.690 §8.1.2). */
export const tag = {
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** [3], constructed. */
  explicit3: 0xa3,
  /** [6], primitive. */
  implicit6: 0x86,
} as const;

/**
 * A value in DER whose content is these parts. It writes what differs between two certificates of devices. node-forge encodes
 * all else; it is slow.
 */
export function der(ofTag: number, ...parts: readonly Uint8Array[]): Buffer {
  let length = 0;
  for (const part of parts) length += part.length;
  const head = headOf(ofTag, length);
  const written = Buffer.allocUnsafe(head.length + length);
  written.set(head);
  let at = head.length;
  for (const part of parts) {
    written.set(part, at);
    at += part.length;
  }
  return written;
}

/** Tag and length of a value shorter than 64 KiB. */
function headOf(ofTag: number, length: number): readonly number[] {
  if (length < 0x80) return [ofTag, length];
  if (length < 0x100) return [ofTag, 0x81, length];
  if (length < 0x10000) return [ofTag, 0x82, length >> 8, length & 0xff];
  throw new RangeError('Too long to be a part of a certificate');
}
