import { createPrivateKey } from 'node:crypto';
import { type CallerName, callerNames, Problem, type ServiceName, serviceNames } from '@attribution/contracts';
import { keyToken, personToken, supportToken } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { createVerifier, generateInternalKeys, generateKeySets, internalOf, type KeySet } from '../src/index.ts';

const keys = generateInternalKeys();
const internal = (self: CallerName) => internalOf(self, keys.private[self], keys.public);
const { verify } = internal('account');
const refusal = new Problem('unauthorized', 'The internal token is missing, invalid or expired.');

const now = () => Math.floor(Date.now() / 1000);

interface Forgery {
  readonly by?: KeySet;
  readonly kid?: string;
  readonly typ?: string | undefined;
  readonly claims?: object;
}

/** A token of billing for account, which is valid but for what the test changes. */
function forge({ by = keys.private.billing, kid, typ = 'internal+jwt', claims }: Forgery = {}): string {
  const [key] = by.keys;
  const good = { iss: 'attribution-platform', aud: 'internal:account', sub: 'billing', iat: now(), exp: now() + 60 };
  const options = { algorithm: 'ES256', header: { alg: 'ES256', typ, kid: kid ?? key?.kid } } as const;
  return jwt.sign({ ...good, ...claims }, createPrivateKey({ key: key ?? {}, format: 'jwk' }), options);
}

test('a token identifies the calling service to its target service, and to no other', () => {
  for (const caller of callerNames) {
    const token = `Bearer ${internal(caller).sign('account')}`;
    expect(verify(token)).toBe(caller);
    for (const other of serviceNames.filter((name) => name !== 'account'))
      expect(() => internal(other).verify(token)).toThrow(refusal);
  }
  expect(verify(`bearer  ${forge()}`)).toBe('billing');
});

test.each<[string, () => string | undefined]>([
  ['no header', () => undefined],
  ['an empty header', () => ''],
  ['another scheme', () => `Basic ${forge()}`],
  ['no token of any kind', () => 'Bearer nothing'],
  ['a person’s token', () => `Bearer ${personToken()}`],
  ['a key’s token', () => `Bearer ${keyToken()}`],
  ['an operator’s token', () => `Bearer ${supportToken()}`],
  ['a token of another type', () => `Bearer ${forge({ typ: 'at+jwt' })}`],
  ['a token of another issuer', () => `Bearer ${forge({ claims: { iss: 'another' } })}`],
  ['a token for another service', () => `Bearer ${forge({ claims: { aud: 'internal:campaign' } })}`],
  ['a token for callers of the API', () => `Bearer ${forge({ claims: { aud: 'attribution-platform' } })}`],
  ['an unknown service', () => `Bearer ${forge({ claims: { sub: 'gateway' } })}`],
  ['a service in the name of another', () => `Bearer ${forge({ claims: { sub: 'campaign' } })}`],
  ['a key of another service', () => `Bearer ${forge({ by: keys.private.campaign, kid: 'billing.1' })}`],
  ['a foreign key under a valid `kid`', () => `Bearer ${forge({ by: generateKeySets('billing.1').private })}`],
  ['an unknown key', () => `Bearer ${forge({ kid: 'billing.2' })}`],
  [
    'a token that has expired, by any clock',
    () => `Bearer ${forge({ claims: { iat: now() - 360, exp: now() - 300 } })}`,
  ],
  [
    'a token older than its minute and five of clocks that differ, whatever its end',
    () => `Bearer ${forge({ claims: { iat: now() - 361, exp: now() + 900 } })}`,
  ],
  [
    'a token of a time that no clock of ours can have',
    () => `Bearer ${forge({ claims: { iat: now() + 302, exp: now() + 362 } })}`,
  ],
])('401: %s', (_what, header) => {
  expect(() => verify(header())).toThrow(refusal);
});

test('a token is reused until it is about to expire, for the same target only', () => {
  const { sign } = internal('billing');
  expect(sign('account')).toBe(sign('account'));
  expect(sign('campaign')).not.toBe(sign('account'));
  const { iat = 0, exp = 0 } = jwt.decode(sign('account')) as jwt.JwtPayload;
  expect(exp - iat).toBe(60);
});

test('internal tokens are not accepted as access tokens', () => {
  const verifier = createVerifier(keys.public);
  expect(() => verifier.authenticate(`Bearer ${internal('billing').sign('account')}`)).toThrow('bearer token');
});

test.each([-300, -150, 150, 300])(
  'services whose clocks are %d s apart accept each other’s tokens for as long as these are used',
  (apart) => {
    let time = Date.parse('2026-11-22T12:00:00Z');
    const at = (self: ServiceName, ahead: number) =>
      internalOf(self, keys.private[self], keys.public, () => time + ahead * 1000);
    const [caller, keeping] = [at('billing', 0), at('account', apart)];
    for (let second = 0; second < 60; second++, time += 1000) {
      const header = `Bearer ${caller.sign('account')}`;
      expect(keeping.verify(header)).toBe('billing');
      expect(at('account', apart).verify(header)).toBe('billing');
    }
  },
);

test('a cached token is refused after its expiry plus the tolerance for clocks', () => {
  let time = Date.parse('2026-11-22T12:00:00Z');
  const clock = () => time;
  const header = `Bearer ${internalOf('billing', keys.private.billing, keys.public, clock).sign('account')}`;
  const called = internalOf('account', keys.private.account, keys.public, clock);
  time += 359_000;
  expect(called.verify(header)).toBe('billing');
  time += 1000;
  expect(() => called.verify(header)).toThrow(refusal);
});
