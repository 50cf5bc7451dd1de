import { createPrivateKey } from 'node:crypto';
import { type CallerName, serviceNames, unknownDevice } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, supportToken } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { createVerifier, generateInternalKeys, generateKeySets, internalOf, type KeySet } from '../src/index.ts';

const keys = generateInternalKeys();
const at = (self: CallerName, now?: () => number) => internalOf(self, keys.private[self], keys.public, now);
const { verifyDevice } = at('device');
const refusal = unknownDevice();
const device = { id: newId('device'), accountId: newId('account'), fingerprint: 'a3'.repeat(32) };

const now = () => Math.floor(Date.now() / 1000);

interface Forgery {
  readonly by?: KeySet;
  readonly kid?: string;
  readonly typ?: string;
  readonly claims?: object;
}

/** A token of the ingress for Device, which is valid but for what the test changes. */
function forge({ by = keys.private.ingress, kid, typ = 'device+jwt', claims }: Forgery = {}): string {
  const [key] = by.keys;
  const good = {
    ...{ iss: 'attribution-platform', aud: 'internal:device', iat: now(), exp: now() + 60 },
    ...{ sub: device.id, account: device.accountId, cert: device.fingerprint },
  };
  const options = { algorithm: 'ES256', header: { alg: 'ES256', typ, kid: kid ?? key?.kid } } as const;
  return jwt.sign({ ...good, ...claims }, createPrivateKey({ key: key ?? {}, format: 'jwk' }), options);
}

test('a token of the ingress tells one service which device calls by which certificate, and no other service', () => {
  for (const target of serviceNames) {
    const token = `Bearer ${at('ingress').signDevice(target, device)}`;
    expect(at(target).verifyDevice(token)).toEqual({ kind: 'device', ...device });
    for (const other of serviceNames.filter((name) => name !== target))
      expect(() => at(other).verifyDevice(token)).toThrow(refusal);
  }
  expect(verifyDevice(`bearer ${forge()}`)).toMatchObject(device);
});

test.each<[string, () => string | undefined]>([
  ['no header', () => undefined],
  ['an empty header', () => ''],
  ['another scheme', () => `Basic ${forge()}`],
  ['no token of any kind', () => 'Bearer nothing'],
  ['a person’s token', () => `Bearer ${personToken()}`],
  ['a key’s token', () => `Bearer ${keyToken()}`],
  ['an operator’s token', () => `Bearer ${supportToken()}`],
  ['the token of the ingress itself', () => `Bearer ${at('ingress').sign('device')}`],
  ['a token of another type', () => `Bearer ${forge({ typ: 'internal+jwt' })}`],
  ['a token of another issuer', () => `Bearer ${forge({ claims: { iss: 'another' } })}`],
  ['a token for another service', () => `Bearer ${forge({ claims: { aud: 'internal:events' } })}`],
  ['a token that a service has signed', () => `Bearer ${forge({ by: keys.private.events })}`],
  ['a service in the name of the ingress', () => `Bearer ${forge({ by: keys.private.events, kid: 'ingress.1' })}`],
  ['a foreign key under a valid `kid`', () => `Bearer ${forge({ by: generateKeySets('ingress.1').private })}`],
  ['no device', () => `Bearer ${forge({ claims: { sub: '' } })}`],
  ['no account', () => `Bearer ${forge({ claims: { account: undefined } })}`],
  ['a fingerprint that is none', () => `Bearer ${forge({ claims: { cert: 'A3'.repeat(32) } })}`],
  [
    'a token that has expired, by any clock',
    () => `Bearer ${forge({ claims: { iat: now() - 360, exp: now() - 300 } })}`,
  ],
  ['a token of a time to come', () => `Bearer ${forge({ claims: { iat: now() + 302, exp: now() + 362 } })}`],
])('401: %s', (_what, header) => {
  expect(() => verifyDevice(header())).toThrow(refusal);
});

test('a cached token is refused after its expiry plus the tolerance for clocks', () => {
  let time = Date.parse('2026-11-22T12:00:00Z');
  const clock = () => time;
  const header = `Bearer ${at('ingress', clock).signDevice('device', device)}`;
  const called = at('device', clock);
  time += 359_000;
  expect(called.verifyDevice(header)).toMatchObject(device);
  time += 1000;
  expect(() => called.verifyDevice(header)).toThrow(refusal);
});

test('tokens about devices are no access tokens, and no tokens of services', () => {
  expect(() => createVerifier(keys.public).authenticate(`Bearer ${forge()}`)).toThrow('bearer token');
  expect(() => at('device').verify(`Bearer ${forge()}`)).toThrow('internal token');
});
