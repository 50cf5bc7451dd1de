import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { Problem } from '@attribution/contracts';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { AccessClaims, principalOf } from './claims.ts';
import type { Principal } from './principal.ts';

/** The `typ` of each kind of token: none passes for another. */
export type TokenType = 'at+jwt' | 'mfa-challenge+jwt' | 'mfa-setup+jwt';

/** Lifetime of an access token, seconds (spec §8; decision: people's too). */
export const ACCESS_TOKEN_TTL = 15 * 60;

const issuer = 'attribution-platform';
const audience = 'attribution-platform';
const algorithm = 'ES256';

const Jwk = z.looseObject({ kty: z.literal('EC'), crv: z.literal('P-256'), kid: z.string().min(1) });
/** A JSON Web Key Set (RFC 7517) of P-256 keys, each with a `kid`. */
export const KeySet = z.object({ keys: z.array(Jwk).min(1) });
export type KeySet = z.output<typeof KeySet>;

/** A new signing key: the private set, and the public one that verifies it. */
export function generateKeySets(kid: string): { private: KeySet; public: KeySet } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const set = (key: KeyObject) => KeySet.parse({ keys: [{ ...key.export({ format: 'jwk' }), kid, alg: algorithm }] });
  return { private: set(pair.privateKey), public: set(pair.publicKey) };
}

export interface Signer {
  /** Signs claims; `expiresIn` in seconds. */
  sign(type: TokenType, claims: object, expiresIn: number, now?: Date): string;
}

/** Signs with the first key of the set. Account alone holds it. */
export function createSigner(privateKeys: KeySet): Signer {
  const [first] = privateKeys.keys;
  if (!first) throw new Error('The private key set is empty');
  const key = createPrivateKey({ key: first, format: 'jwk' });
  return {
    sign(type, claims, expiresIn, now = new Date()) {
      const iat = Math.floor(now.getTime() / 1000);
      return jwt.sign({ ...claims, iat, exp: iat + expiresIn }, key, {
        algorithm,
        issuer,
        audience,
        keyid: first.kid,
        header: { alg: algorithm, typ: type },
      });
    },
  };
}

export interface Verifier {
  /** The caller of an `Authorization` header. Throws `unauthorized`. */
  authenticate(authorization: string | undefined): Principal;
  /** The claims of a token of one type, or undefined. */
  verify(type: TokenType, token: string): jwt.JwtPayload | undefined;
}

/** Longer than any token of ours; more is not worth a signature check. */
const maxTokenLength = 8192;

/**
 * Verifies tokens with the public keys. A verified access token is kept by the whole text of its header until it
 * expires: checking a signature costs some 70 µs, a look-up 1.
 */
export function createVerifier(publicKeys: KeySet, now: () => number = Date.now): Verifier {
  const keys = new Map(publicKeys.keys.map((key) => [key.kid, createPublicKey({ key, format: 'jwk' })]));
  const verified = new LRUCache<string, { principal: Principal; expires: number }>({ max: 10_000 });

  function verify(type: TokenType, token: string): jwt.JwtPayload | undefined {
    if (token.length > maxTokenLength) return undefined;
    try {
      const header = jwt.decode(token, { complete: true })?.header;
      const key = header?.kid ? keys.get(header.kid) : undefined;
      if (!key || header?.typ !== type) return undefined;
      const claims = jwt.verify(token, key, {
        algorithms: [algorithm],
        issuer,
        audience,
        clockTimestamp: Math.floor(now() / 1000),
      });
      return typeof claims === 'object' && claims.exp !== undefined ? claims : undefined;
    } catch {
      return undefined; // Whatever is wrong with it, it is no token of ours.
    }
  }

  return {
    verify,
    authenticate(authorization) {
      if (authorization === undefined) throw unauthorized();
      const known = verified.get(authorization);
      if (known) {
        if (known.expires > now()) return known.principal;
        verified.delete(authorization);
        throw unauthorized();
      }
      const token = bearerToken(authorization);
      if (!token) throw unauthorized();
      const claims = verify('at+jwt', token);
      const access = AccessClaims.safeParse(claims);
      if (!claims?.exp || !access.success) throw unauthorized();
      const principal = principalOf(access.data);
      // With more spaces than one it is not kept: a caller could fill the cache with one token.
      if (authorization.length === 'Bearer '.length + token.length)
        verified.set(authorization, { principal, expires: claims.exp * 1000 });
      return principal;
    },
  };
}

/** The token of a `Bearer` header (RFC 6750 §2.1). */
function bearerToken(authorization: string): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization)?.[1];
}

const unauthorized = () => new Problem('unauthorized', 'The bearer token is missing, invalid or expired.');
