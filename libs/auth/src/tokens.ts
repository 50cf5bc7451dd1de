import { createPrivateKey, createPublicKey, type JsonWebKeyInput, type KeyObject } from 'node:crypto';
import { Problem } from '@attribution/contracts';
import jwt from 'jsonwebtoken';
import { LRUCache } from 'lru-cache';
import { AccessClaims, principalOf } from './claims.ts';
import { algorithm, type KeySet, type Keys } from './key-sets.ts';
import type { Principal } from './principal.ts';

/** The `typ` of each kind of token, so that none is accepted as another. */
export type TokenType = 'at+jwt' | 'mfa-challenge+jwt' | 'mfa-setup+jwt';

/** The lifetime of an access token, in seconds (spec §8), of people and of keys. */
export const ACCESS_TOKEN_TTL = 15 * 60;

const issuer = 'attribution-platform';
const audience = 'attribution-platform';

export interface Signer {
  /** Signs claims; `expiresIn` in seconds. */
  sign(type: TokenType, claims: object, expiresIn: number, now?: Date): string;
}

/** Signs with the newest key whose `signs_from` has passed. Only Account has the private keys. */
export function createSigner(privateKeys: Keys): Signer {
  const keysOf = keyObjects(privateKeys, createPrivateKey);
  return {
    sign(type, claims, expiresIn, now = new Date()) {
      const iat = Math.floor(now.getTime() / 1000);
      const { set, keys } = keysOf();
      const chosen = set.keys.find(({ signs_from = 0 }) => signs_from <= iat) ?? set.keys.at(-1);
      const key = chosen && keys.get(chosen.kid);
      if (!key) throw new Error('The private key set is empty');
      return jwt.sign({ ...claims, iat, exp: iat + expiresIn }, key, {
        algorithm,
        issuer,
        audience,
        keyid: chosen.kid,
        header: { alg: algorithm, typ: type },
      });
    },
  };
}

/** The key objects of the current set, by `kid`. They are made once for each set. */
function keyObjects(source: Keys, create: (input: JsonWebKeyInput) => KeyObject) {
  const current = typeof source === 'function' ? source : () => source;
  let made: { set: KeySet; keys: ReadonlyMap<string, KeyObject> } | undefined;
  return () => {
    const set = current();
    if (made?.set !== set)
      made = { set, keys: new Map(set.keys.map((key) => [key.kid, create({ key, format: 'jwk' })])) };
    return made;
  };
}

export interface Verifier {
  /** Returns the caller from an `Authorization` header. Throws `unauthorized`. */
  authenticate(authorization: string | undefined): Principal;
  /** Returns the claims of a token of this type, or undefined if it is invalid. */
  verify(type: TokenType, token: string): jwt.JwtPayload | undefined;
}

/** No valid token is longer, so the signature of a longer one is not checked. */
const maxTokenLength = 8192;

/**
 * Verifies tokens with the public keys. Verified access tokens are cached by the text of the header until they expire:
 * checking a signature takes about 70 µs, a look-up 1 µs.
 */
export function createVerifier(publicKeys: Keys, now: () => number = Date.now): Verifier {
  const keysOf = keyObjects(publicKeys, createPublicKey);
  const verified = new LRUCache<string, { principal: Principal; expires: number }>({ max: 10_000 });
  let judgedBy = keysOf();

  function verify(type: TokenType, token: string): jwt.JwtPayload | undefined {
    if (token.length > maxTokenLength) return undefined;
    try {
      const header = jwt.decode(token, { complete: true })?.header;
      const key = header?.kid ? keysOf().keys.get(header.kid) : undefined;
      if (!key || header?.typ !== type) return undefined;
      const claims = jwt.verify(token, key, {
        algorithms: [algorithm],
        issuer,
        audience,
        clockTimestamp: Math.floor(now() / 1000),
      });
      return typeof claims === 'object' && claims.exp !== undefined ? claims : undefined;
    } catch {
      return undefined; // Any error means that the token is invalid.
    }
  }

  return {
    verify,
    authenticate(authorization) {
      if (authorization === undefined) throw unauthorized();
      const judge = keysOf();
      if (judge !== judgedBy) verified.clear(); // A key may have been removed.
      judgedBy = judge;
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
      // A header with several spaces is not cached, or a caller could fill the cache with one token.
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
