import { testKeys } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { createVerifier } from '../src/index.ts';
import { forge, goodClaims, now } from './support.ts';

test('a verified token is cached: the second call returns the same object', () => {
  const verifier = createVerifier(testKeys.public, () => now * 1000);
  const token = forge();
  const caller = verifier.authenticate(`Bearer ${token}`);
  expect(verifier.authenticate(`Bearer ${token}`)).toBe(caller);
  expect(verifier.authenticate(`Bearer ${forge()}`)).not.toBe(caller);
});

test('a cached token expires to the second, and stays expired', () => {
  let time = now;
  const verifier = createVerifier(testKeys.public, () => time * 1000);
  const header = `Bearer ${forge()}`;
  const look = () => verifier.authenticate(header);
  look();
  time = goodClaims.exp - 1;
  expect(look().id).toBe(goodClaims.sub);
  time = goodClaims.exp;
  expect(look).toThrow('unauthorized');
  expect(look).toThrow('unauthorized');
});

test('the cache uses the whole text of a token: with one changed character it is refused', () => {
  const verifier = createVerifier(testKeys.public, () => now * 1000);
  const token = forge();
  verifier.authenticate(`Bearer ${token}`);
  const at = token.indexOf('.') + 20;
  const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
  expect(() => verifier.authenticate(`Bearer ${changed}`)).toThrow('unauthorized');
});

test('a refused token is not cached', () => {
  let time = now - 3600;
  const verifier = createVerifier(testKeys.public, () => time * 1000);
  const header = `Bearer ${forge({}, { nbf: now - 60 })}`;
  expect(() => verifier.authenticate(header)).toThrow('unauthorized');
  time = now;
  expect(verifier.authenticate(header).id).toBe(goodClaims.sub);
});

test('at most 10 000 tokens are cached: the least recently used is removed first', () => {
  const verifier = createVerifier(testKeys.public, () => now * 1000);
  const look = (token: string) => verifier.authenticate(`Bearer ${token}`);
  const [used, unused] = [forge({}, { sub: 'usr_used' }), forge({}, { sub: 'usr_unused' })];
  const callers = { used: look(used), unused: look(unused) };
  for (let n = 0; n < 9_999; n++) {
    if (n === 5_000) expect(look(used)).toBe(callers.used);
    look(forge({}, { sub: `usr_${n}` }));
  }
  expect(look(used)).toBe(callers.used);
  expect(look(unused)).not.toBe(callers.unused);
});
