import { expect, test } from '@jest/globals';
import { newTotpSecret, otpauthUri, totpStep } from '../src/mfa/totp.ts';
import { codeAt } from './support-mfa.ts';

/** RFC 6238, appendix B, SHA-1; its codes have 8 digits, of which authenticators show the last 6. */
const rfcSecret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

test.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('the code of RFC 6238 at %i s is %s', (seconds, code) => {
  expect(totpStep(rfcSecret, code, new Date(seconds * 1000))).toBe(Math.floor(seconds / 30));
});

const stepStart = 1_900_000_020; // A multiple of 30.

test.each([
  ['at the beginning of a step', 0],
  ['in the middle', 15],
  ['at its end', 29.999],
])('%s, the code of one step early or late is accepted, and of two is not', (_when, into) => {
  const secret = newTotpSecret();
  const now = new Date((stepStart + into) * 1000);
  const step = stepStart / 30;
  expect([-2, -1, 0, 1, 2].map((steps) => totpStep(secret, codeAt(secret, now, steps), now))).toEqual([
    undefined,
    step - 1,
    step,
    step + 1,
    undefined,
  ]);
});

test.each(['', '12345', '1234567', '12 456', 'abcdef', '１２３４５６', '+12345', '0x1234'])(
  '%j is not a code',
  (code) => {
    expect(totpStep(rfcSecret, code, new Date())).toBeUndefined();
  },
);

test('a secret has 160 random bits, in base32', () => {
  const secrets = Array.from({ length: 50 }, newTotpSecret);
  for (const secret of secrets) expect(secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(new Set(secrets).size).toBe(50);
});

test('the URI has everything that an authenticator needs, whatever the address is', () => {
  const uri = new URL(otpauthUri(rfcSecret, "o'neil+shop@example.com"));
  expect([uri.protocol, uri.host]).toEqual(['otpauth:', 'totp']);
  expect(decodeURIComponent(uri.pathname)).toBe("/Attribution Platform:o'neil+shop@example.com");
  expect(uri.searchParams.get('secret')).toBe(rfcSecret);
  expect(uri.searchParams.get('issuer')).toBe('Attribution Platform');
  // These parameters are omitted, because authenticators assume them by default.
  expect(uri.searchParams.get('algorithm') ?? 'SHA1').toBe('SHA1');
  expect(uri.searchParams.get('digits') ?? '6').toBe('6');
  expect(uri.searchParams.get('period') ?? '30').toBe('30');
});
