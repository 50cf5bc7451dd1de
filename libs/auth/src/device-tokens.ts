import { createPrivateKey, createPublicKey } from 'node:crypto';
import { type CallerName, type ServiceName, unknownDevice } from '@attribution/contracts';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { clocksApart } from './clocks.ts';
import { algorithm, type KeySet } from './key-sets.ts';

/** The lifetime of a token about a device, in seconds. */
const ttl = 60;
/** A cached token is replaced this many seconds before it expires. */
const margin = 20;
const issuer = 'attribution-platform';
const type = 'device+jwt';
/** The only signer that is believed: the keys whose `kid` is `ingress.<anything>`. */
const signer = 'ingress';

/** A device that has shown its certificate to the ingress. */
export interface DeviceIdentity {
  readonly kind: 'device';
  /** dev_ */
  readonly id: string;
  /** The account that the device belonged to when the ingress asked. */
  readonly accountId: string;
  /** SHA-256 of the certificate's DER, 64 lower-case hex digits. */
  readonly fingerprint: string;
}

const Claims = z.object({
  sub: z.string().min(1),
  account: z.string().min(1),
  cert: z.string().regex(/^[0-9a-f]{64}$/),
  iat: z.int(),
  exp: z.int(),
});

/** Returns the token, for the `Authorization` header as a bearer, that tells the target service which device calls. */
export type DeviceSigner = (target: ServiceName, device: Omit<DeviceIdentity, 'kind'>) => string;

/** Signs with the first key. Tokens are reused while a device keeps calling. */
export function createDeviceSigner(privateKeys: KeySet, now: () => number): DeviceSigner {
  const [first] = privateKeys.keys;
  if (!first) throw new Error('The private key set is empty');
  const key = createPrivateKey({ key: first, format: 'jwk' });
  const kept = new LRUCache<string, { token: string; until: number }>({ max: 20_000 });
  return (target, { id, accountId, fingerprint }) => {
    const name = `${target} ${fingerprint} ${id} ${accountId}`;
    const at = Math.floor(now() / 1000);
    const known = kept.get(name);
    if (known && known.until > at) return known.token;
    const claims = { sub: id, account: accountId, cert: fingerprint, iat: at, exp: at + ttl };
    const token = jwt.sign(claims, key, {
      algorithm,
      issuer,
      audience: `internal:${target}`,
      keyid: first.kid,
      header: { alg: algorithm, typ: type },
    });
    kept.set(name, { token, until: at + ttl - margin });
    return token;
  };
}

/** Returns the device, from the `Authorization` header. Throws `unauthorized`, as the ingress does. */
export type DeviceVerifier = (authorization: string | undefined) => DeviceIdentity;

/** Accepts tokens of the ingress for `self`, with clocks that differ by up to `clocksApart`, either way. */
export function createDeviceVerifier(self: CallerName, publicKeys: KeySet, now: () => number): DeviceVerifier {
  const own = publicKeys.keys.filter(({ kid }) => kid.startsWith(`${signer}.`));
  const keys = new Map(own.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]));
  const verified = new LRUCache<string, { device: DeviceIdentity; until: number }>({ max: 20_000 });

  function verify(token: string): { device: DeviceIdentity; until: number } | undefined {
    const at = Math.floor(now() / 1000);
    try {
      const header = jwt.decode(token, { complete: true })?.header;
      const key = header?.kid ? keys.get(header.kid) : undefined;
      if (!key || header?.typ !== type) return undefined;
      const claims = jwt.verify(token, key, {
        algorithms: [algorithm],
        issuer,
        audience: `internal:${self}`,
        maxAge: ttl,
        clockTimestamp: at,
        clockTolerance: clocksApart,
      });
      const { sub, account, cert, iat, exp } = Claims.parse(claims);
      if (iat > at + clocksApart) return undefined;
      const device = { kind: 'device', id: sub, accountId: account, fingerprint: cert } as const;
      return { device, until: Math.min(exp, iat + ttl) + clocksApart };
    } catch {
      return undefined; // Any error means that the token is invalid.
    }
  }

  return (authorization) => {
    const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization ?? '')?.[1] ?? '';
    const remembered = verified.get(token);
    const known = remembered ?? verify(token);
    if (!known || known.until <= Math.floor(now() / 1000)) throw unknownDevice();
    if (!remembered) verified.set(token, known);
    return known.device;
  };
}
