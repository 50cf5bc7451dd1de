import { testKeys } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { createVerifier } from '../src/index.ts';
import { forge, goodClaims, now } from './support.ts';

test('a verified token is kept: the second look gives the very same caller', () => {
  const verifier = createVerifier(testKeys.public, () => now * 1000);
  const token = forge();
  const caller = verifier.authenticate(`Bearer ${token}`);
  expect(verifier.authenticate(`Bearer ${token}`)).toBe(caller);
  expect(verifier.authenticate(`Bearer ${forge()}`)).not.toBe(caller);
});

test('what is kept ends with the token, to the second, and stays ended', () => {
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

test('a token is kept by its whole text: one changed character is another token, and refused', () => {
  const verifier = createVerifier(testKeys.public, () => now * 1000);
  const token = forge();
  verifier.authenticate(`Bearer ${token}`);
  const at = token.indexOf('.') + 20;
  const changed = token.slice(0, at) + (token[at] === 'A' ? 'B' : 'A') + token.slice(at + 1);
  expect(() => verifier.authenticate(`Bearer ${changed}`)).toThrow('unauthorized');
});

test('a refused token is not kept: what comes after it is judged by itself', () => {
  let time = now - 3600;
  const verifier = createVerifier(testKeys.public, () => time * 1000);
  const header = `Bearer ${forge({}, { nbf: now - 60 })}`;
  expect(() => verifier.authenticate(header)).toThrow('unauthorized');
  time = now;
  expect(verifier.authenticate(header).id).toBe(goodClaims.sub);
});

test('no more than 10 000 are kept: the one looked at longest ago goes first', () => {
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
