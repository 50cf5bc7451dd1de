import { createHash, type KeyObject } from 'node:crypto';
import { kindOf, readPem, readSpki } from '@attribution/certificates';
import { readLabelCode, Serial } from '@attribution/contracts';
import { readItem } from '@attribution/http';
import { z } from 'zod';

const maxKeyBytes = 4 * 1024;

const Item = z.object({
  serial: Serial,
  public_key: z.string().max(maxKeyBytes, `must have at most ${maxKeyBytes} bytes`),
  model: z.string().max(100).nullish(),
  hardware_revision: z.string().max(100).nullish(),
  claim_code: z.string().max(100).nullish(),
});

/** A device of a factory list. */
export interface ListedDevice {
  readonly serial: string;
  /** SubjectPublicKeyInfo in PEM. */
  readonly publicKey: string;
  /** The same for every encoding of one key. */
  readonly keyId: string;
  readonly model: string | null;
  readonly hardwareRevision: string | null;
  /** The code on the label, in its plain form. */
  readonly claimCode: string | null;
}

/** Reads an item of a factory list; a text says why it is none. */
export function readListed(value: unknown): ListedDevice | string {
  const read = readItem(Item, value);
  if ('fault' in read) return read.fault;
  const { item } = read;
  const key = readFactoryKey(item.public_key);
  if (!key)
    return 'public_key: must be PEM of an RSA key (2048 to 4096 bits, exponent 65537), a P-256 or an Ed25519 key.';
  const claimCode = item.claim_code == null ? null : readLabelCode(item.claim_code);
  if (claimCode === undefined) return "claim_code: must have 16 symbols of Crockford's base32.";
  return {
    serial: item.serial,
    publicKey: key.export({ type: 'spki', format: 'pem' }).toString(),
    keyId: keyIdOf(key),
    model: item.model ?? null,
    hardwareRevision: item.hardware_revision ?? null,
    claimCode,
  };
}

function readFactoryKey(pem: string): KeyObject | undefined {
  const der = readPem(pem, 'PUBLIC KEY');
  const key = der && readSpki(der);
  return key && kindOf(key) ? key : undefined;
}

/** The thumbprint of the key (RFC 7638), in hex: the members that make it, in the order of their names. */
function keyIdOf(key: KeyObject): string {
  const { crv, e, kty, n, x, y } = key.export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, e, kty, n, x, y })).digest('hex');
}
