import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { newId, newUuid } from '@attribution/ids';
import { testKeys, testSigner } from './tokens.ts';

/** Invalid tokens, by what is wrong with each. */
export function badTokens(): [string, string | undefined][] {
  const claims = {
    sub: newId('user'),
    account: newId('account'),
    role: 'owner',
    account_type: 'network',
    sid: newUuid(),
  };
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const [header = '', payload = '', signature = ''] = testSigner.sign('at+jwt', claims, 900).split('.');
  const changed = {
    ...(JSON.parse(Buffer.from(payload, 'base64url').toString()) as object),
    account: newId('account'),
  };
  const kid = testKeys.public.keys[0]?.kid;
  const hs256 = `${encode({ alg: 'HS256', typ: 'at+jwt', kid })}.${payload}`;
  const mac = createHmac('sha256', JSON.stringify(testKeys.public.keys[0])).update(hs256).digest('base64url');
  const strangers = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const signed = (head: object) => {
    const text = `${encode(head)}.${payload}`;
    return `${text}.${sign('sha256', Buffer.from(text), { key: strangers, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  };
  return [
    ['no token', undefined],
    ['a token that is no JWT', 'opaque'],
    ['a token that has expired', testSigner.sign('at+jwt', claims, 900, new Date(Date.now() - 901_000))],
    ['a token of typ mfa-challenge+jwt', testSigner.sign('mfa-challenge+jwt', claims, 900)],
    ['a token of typ mfa-setup+jwt', testSigner.sign('mfa-setup+jwt', claims, 900)],
    ['a token of another key with the same kid', signed({ alg: 'ES256', typ: 'at+jwt', kid })],
    ['a token of an unknown kid', signed({ alg: 'ES256', typ: 'at+jwt', kid: 'other' })],
    ['a token of alg none', `${encode({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.`],
    ['a token of HS256 keyed with the public key', `${hs256}.${mac}`],
    ['a token whose claims were changed', `${header}.${encode(changed)}.${signature}`],
  ];
}
