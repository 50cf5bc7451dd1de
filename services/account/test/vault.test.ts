import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createVault } from '../src/vault.ts';

const newKey = () => randomBytes(32).toString('base64');
const [old, next] = [newKey(), newKey()];
const secret = 'seven quiet lanterns ✓';

test('what was encrypted comes back, and differs each time', () => {
  const vault = createVault([old]);
  const [first, second] = [vault.encrypt(secret, 'test'), vault.encrypt(secret, 'test')];
  expect(vault.decrypt(first, 'test')).toBe(secret);
  expect(Buffer.from(first).equals(Buffer.from(second))).toBe(false);
  expect(Buffer.from(first).includes('lanterns')).toBe(false);
  expect(vault.decrypt(vault.encrypt('', 'test'), 'test')).toBe('');
});

test('keys are rotated: a new one in front encrypts, the old one still decrypts', () => {
  const before = createVault([old]);
  const during = createVault([next, old]);
  const after = createVault([next]);
  const [early, late] = [before.encrypt(secret, 'test'), during.encrypt(secret, 'test')];
  expect(during.decrypt(early, 'test')).toBe(secret);
  expect(after.decrypt(late, 'test')).toBe(secret);
  expect(() => after.decrypt(early, 'test')).toThrow('Encrypted with a key that is not configured');
  expect(() => before.decrypt(late, 'test')).toThrow('Encrypted with a key that is not configured');
});

test('what was encrypted for one purpose cannot be read for another', () => {
  const vault = createVault([old]);
  expect(() => vault.decrypt(vault.encrypt(secret, 'queued mail'), 'totp secret')).toThrow();
});

test('a single changed bit anywhere is found, and so is a cut', () => {
  const vault = createVault([old]);
  const sealed = vault.encrypt(secret, 'test');
  for (let at = 0; at < sealed.length; at++) {
    const changed = Uint8Array.from(sealed, (byte, i) => (i === at ? byte ^ 1 : byte));
    expect(() => vault.decrypt(changed, 'test')).toThrow();
  }
  for (const length of [0, 3, 16, 31, sealed.length - 1])
    expect(() => vault.decrypt(sealed.slice(0, length), 'test')).toThrow();
});

test.each([
  ['no key', [], 'SECRET_KEYS: is empty'],
  ['a key of 16 bytes', [randomBytes(16).toString('base64')], 'SECRET_KEYS: each must be 32 bytes in base64'],
  ['a bad key behind a good one', [newKey(), 'AAAA'], 'SECRET_KEYS: each must be 32 bytes in base64'],
])('refuses %s, without showing it', (_what, keys, message) => {
  const attempt = () => createVault(keys);
  expect(attempt).toThrow(new Error(message));
});
