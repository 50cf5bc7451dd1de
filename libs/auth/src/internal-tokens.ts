import { createPrivateKey, createPublicKey } from 'node:crypto';
import { Problem, type ServiceName, serviceNames } from '@attribution/contracts';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { clocksApart } from './clocks.ts';
import { algorithm, generateKeySets, type KeySet } from './key-sets.ts';

/** The lifetime of an internal token, in seconds. */
const ttl = 60;
/** A cached token is replaced this many seconds before it expires. */
const margin = 20;
const issuer = 'attribution-platform';
const type = 'internal+jwt';

/** Generates a signing key for each service, and the public set that verifies them all. */
export function generateInternalKeys(): { private: Readonly<Record<ServiceName, KeySet>>; public: KeySet } {
  const made = serviceNames.map((name) => [name, generateKeySets(`${name}.1`)] as const);
  return {
    private: Object.fromEntries(made.map(([name, sets]) => [name, sets.private])) as Record<ServiceName, KeySet>,
    public: { keys: made.flatMap(([, sets]) => sets.public.keys) },
  };
}

/** Returns a token of this service that only the target service accepts. */
type InternalSigner = (target: ServiceName) => string;

/**
 * Signs as `caller` with the first key of its own set, whose `kid` begins with the caller's name. A token is reused
 * until it is about to expire.
 */
function createInternalSigner(caller: ServiceName, privateKeys: KeySet, now: () => number): InternalSigner {
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

/** Returns the calling service, from its `Authorization` header. Throws `unauthorized`. */
export type InternalVerifier = (authorization: string | undefined) => ServiceName;

/**
 * Accepts tokens for `self` from callers whose clocks differ by up to `clocksApart`, either way. `publicKeys` contains every
 * service's keys; `kid` is `<service>.<anything>`. A verified token is cached until it expires, as callers reuse tokens.
 */
function createInternalVerifier(self: ServiceName, publicKeys: KeySet, now: () => number): InternalVerifier {
  const keys = new Map(publicKeys.keys.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]));
  const verified = new LRUCache<string, { caller: ServiceName; until: number }>({ max: 100 });

  function verify(token: string): { caller: ServiceName; until: number } | undefined {
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
      const caller = serviceNames.find((name) => name === claims.sub);
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
}

export const internalOf = (
  self: ServiceName,
  privateKeys: KeySet,
  publicKeys: KeySet,
  now: () => number = Date.now,
): Internal => ({
  verify: createInternalVerifier(self, publicKeys, now),
  sign: createInternalSigner(self, privateKeys, now),
});
