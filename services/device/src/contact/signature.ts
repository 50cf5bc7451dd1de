import { createHash, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { formOfKey, type KeyKind, kindOf, readPem, readSpki } from '@attribution/certificates';

/** The algorithm follows from the recorded key alone. Ed25519 hashes by itself. */
const digestOf: Readonly<Record<KeyKind, string | null>> = { rsa: 'sha256', 'p-256': 'sha256', ed25519: null };

/** Base64 with padding (RFC 4648 §4), on one line. */
const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** The orders of the groups of P-256 and of Ed25519: what a signature has to stay below. */
const orderOfP256 = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const orderOfEd25519 = 0x1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3edn;

/** A key that nobody has, and a signature by it of something else, which takes as long to refuse as a wrong one. */
interface Decoy {
  /** PEM. */
  readonly publicKey: string;
  readonly signature: Buffer;
}

const newDecoy = (pair: { readonly publicKey: KeyObject; readonly privateKey: KeyObject }, kind: KeyKind): Decoy => ({
  publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  signature: sign(digestOf[kind], Buffer.from('decoy'), pair.privateKey),
});

export interface SignatureJudge {
  /**
   * Whether the header has the signature of the bytes by this key (PEM). It takes as long whether or not there is a key, and
   * whatever the header is: a signature that is none in form is replaced by one that is merely wrong.
   */
  accepts(publicKey: string | undefined, serial: string, bytes: Buffer, header: string | undefined): boolean;
}

/** Generates keys for serials that nobody has, of each kind, so that they answer as those that somebody has. */
export function createSignatureJudge(): SignatureJudge {
  const decoys = {
    rsa: newDecoy(generateKeyPairSync('rsa', { modulusLength: 2048 }), 'rsa'),
    'p-256': newDecoy(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }), 'p-256'),
    ed25519: newDecoy(generateKeyPairSync('ed25519'), 'ed25519'),
  } as const satisfies Record<KeyKind, Decoy>;
  const kinds = Object.keys(decoys) as KeyKind[];
  const salt = createHash('sha256').update(decoys.rsa.signature).digest();

  /** The same kind each time for one serial, as if it were that of its key. */
  function kindFor(serial: string): KeyKind {
    const [octet = 0] = createHash('sha256').update(salt).update(serial).digest();
    return kinds[octet % kinds.length] ?? 'rsa';
  }

  return {
    accepts(publicKey, serial, bytes, header) {
      const key = readRecorded(publicKey ?? decoys[kindFor(serial)].publicKey);
      const kind = kindOf(key) ?? 'rsa';
      const given = readSignature(header, kind, key);
      const right = verifies(kind, key, bytes, given ?? decoys[kind].signature);
      return right && publicKey !== undefined && given !== undefined;
    },
  };
}

/** A key that was imported. It is read for each request: a cache would show by the time it takes which serials exist. */
function readRecorded(pem: string): KeyObject {
  const der = readPem(pem, 'PUBLIC KEY');
  const key = der && readSpki(der);
  if (!key) throw new Error('A recorded key is none');
  return key;
}

function verifies(kind: KeyKind, key: KeyObject, bytes: Buffer, signature: Buffer): boolean {
  try {
    return verify(digestOf[kind], bytes, key, signature);
  } catch {
    return false;
  }
}

/** The signature in a header, if it has the form of one by this key. */
function readSignature(header: string | undefined, kind: KeyKind, key: KeyObject): Buffer | undefined {
  if (header === undefined || header.length > 1024 || !base64.test(header)) return undefined;
  const signature = Buffer.from(header, 'base64');
  // Bits that the padding leaves over are zero, so that a signature has one spelling.
  if (signature.toString('base64') !== header) return undefined;
  return hasForm[kind](signature, key) ? signature : undefined;
}

const numberOf = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex') || '0'}`);

const hasForm: Readonly<Record<KeyKind, (signature: Buffer, key: KeyObject) => boolean>> = {
  rsa(signature, key) {
    const modulus = formOfKey(key)?.modulus;
    return modulus !== undefined && signature.length === modulus.length && signature.compare(modulus) < 0;
  },
  'p-256': (signature) => {
    const numbers = readEcdsa(signature);
    return numbers?.every((number) => number > 0n && number < orderOfP256) ?? false;
  },
  ed25519: (signature) =>
    signature.length === 64 && numberOf(Buffer.from(signature.subarray(32)).reverse()) < orderOfEd25519,
};

/** The numbers of a DER `SEQUENCE { r, s }`, which for P-256 is shorter than 128 octets. */
function readEcdsa(der: Buffer): readonly bigint[] | undefined {
  if (der[0] !== 0x30 || der[1] !== der.length - 2 || der.length > 72) return undefined;
  const numbers: bigint[] = [];
  let at = 2;
  while (at < der.length && numbers.length < 2) {
    const length = der[at + 1] ?? 0;
    const value = der.subarray(at + 2, at + 2 + length);
    if (der[at] !== 0x02 || length === 0 || value.length !== length) return undefined;
    const [first = 0, second = 0] = value;
    // DER: positive, and no octet more than it takes.
    if (first >= 0x80 || (length > 1 && first === 0 && second < 0x80)) return undefined;
    numbers.push(numberOf(value));
    at += 2 + length;
  }
  return at === der.length && numbers.length === 2 ? numbers : undefined;
}
