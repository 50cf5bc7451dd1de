import { createPrivateKey, createPublicKey } from 'node:crypto';
import { type CallerName, callerNames, Problem, type ServiceName } from '@attribution/contracts';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { clocksApart } from './clocks.ts';
import { createDeviceSigner, createDeviceVerifier, type DeviceSigner, type DeviceVerifier } from './device-tokens.ts';
import { algorithm, generateKeySets, type KeySet } from './key-sets.ts';

/** The lifetime of an internal token, in seconds. */
const ttl = 60;
/** A cached token is replaced this many seconds before it expires. */
const margin = 20;
const issuer = 'attribution-platform';
const type = 'internal+jwt';

/** Generates a signing key for each service, the gateway and the ingress, and the public set that verifies them all. */
export function generateInternalKeys(): { private: Readonly<Record<CallerName, KeySet>>; public: KeySet } {
  const made = callerNames.map((name) => [name, generateKeySets(`${name}.1`)] as const);
  return {
    private: Object.fromEntries(made.map(([name, sets]) => [name, sets.private])) as Record<CallerName, KeySet>,
    public: { keys: made.flatMap(([, sets]) => sets.public.keys) },
  };
}

/** Returns a token of this caller that only the target service accepts. */
export type InternalSigner = (target: ServiceName) => string;

/**
 * Signs as `caller` with the first key of its own set, whose `kid` begins with the caller's name. A token is reused
 * until it is about to expire.
 */
export function createInternalSigner(
  caller: CallerName,
  privateKeys: KeySet,
  now: () => number = Date.now,
): InternalSigner {
  const [first] = privateKeys.keys;
  if (!first) throw new Error('The private key set is empty');
  const key = createPrivateKey({ key: first, format: 'jwk' });
  const kept = new Map<ServiceName, { token: string; until: number }>();
  return (target) => {
    const known = kept.get(target);
    const at = Math.floor(now() / 1000);
    if (known && known.until > at) return known.token;
    const token = jwt.sign({ sub: caller, iat: at, exp: at + ttl }, key, {
      algorithm,
      issuer,
      audience: `internal:${target}`,
      keyid: first.kid,
      header: { alg: algorithm, typ: type },
    });
    kept.set(target, { token, until: at + ttl - margin });
    return token;
  };
}

/** Returns the calling service, `gateway` or `ingress`, from its `Authorization` header. Throws `unauthorized`. */
export type InternalVerifier = (authorization: string | undefined) => CallerName;

/**
 * Accepts tokens for `self` from callers whose clocks differ by up to `clocksApart`, either way. `publicKeys` contains every
 * service's keys; `kid` is `<service>.<anything>`. A verified token is cached until it expires, as callers reuse tokens.
 */
function createInternalVerifier(self: CallerName, publicKeys: KeySet, now: () => number): InternalVerifier {
  const keys = new Map(publicKeys.keys.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]));
  const verified = new LRUCache<string, { caller: CallerName; until: number }>({ max: 100 });

  function verify(token: string): { caller: CallerName; until: number } | undefined {
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
      }) as jwt.JwtPayload;
      const { exp = 0, iat = 0 } = claims;
      if (iat > at + clocksApart) return undefined;
      const caller = callerNames.find((name) => name === claims.sub);
      // A key is valid only for tokens of the service that its `kid` names.
      if (!caller || !header.kid?.startsWith(`${caller}.`)) return undefined;
      return { caller, until: Math.min(exp, iat + ttl) + clocksApart };
    } catch {
      return undefined; // Any error means that the token is invalid.
    }
  }

  return (authorization) => {
    const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization ?? '')?.[1] ?? '';
    const known = verified.get(token) ?? verify(token);
    if (!known || known.until <= Math.floor(now() / 1000))
      throw new Problem('unauthorized', 'The internal token is missing, invalid or expired.');
    verified.set(token, known);
    return known.caller;
  };
}

/** Signs calls to other services, and verifies theirs. */
export interface Internal {
  readonly verify: InternalVerifier;
  readonly sign: InternalSigner;
  /** Verifies what the ingress says about a device. */
  readonly verifyDevice: DeviceVerifier;
  /** For the ingress: its keys alone are believed. */
  readonly signDevice: DeviceSigner;
}

export const internalOf = (
  self: CallerName,
  privateKeys: KeySet,
  publicKeys: KeySet,
  now: () => number = Date.now,
): Internal => ({
  verify: createInternalVerifier(self, publicKeys, now),
  sign: createInternalSigner(self, privateKeys, now),
  verifyDevice: createDeviceVerifier(self, publicKeys, now),
  signDevice: createDeviceSigner(privateKeys, now),
});
