import { describe, expect, test } from '@jest/globals';
import { createHasher, refusePassword } from '../src/passwords/index.ts';

const tooShort = 'must have at least 8 characters';
const tooLong = 'must have at most 128 characters';
const common = 'is one of the most common passwords';

describe('refusePassword', () => {
  test.each([
    ['7 characters', 'lantern', tooShort],
    ['8 characters', 'lanterns', undefined],
    ['7 characters of two UTF-16 units each', '🏮'.repeat(7), tooShort],
    ['8 characters of two UTF-16 units each', '🏮'.repeat(8), undefined],
    ['128 characters of two UTF-16 units each', '🏮'.repeat(128), undefined],
    ['128 characters', 'ab'.repeat(64), undefined],
    ['129 characters', `${'ab'.repeat(64)}c`, tooLong],
    ['spaces alone, as any characters', ' '.repeat(8), undefined],
    ['one kind of character alone', 'quietlyquietly', undefined],
  ])('counts code points: %s', (_what, password, refusal) => {
    expect(refusePassword(password, 8)).toBe(refusal);
  });

  test.each([
    ['4 ligatures are 8 letters', 'ﬁ'.repeat(4), undefined],
    ['8 letters with their accents apart are 8', 'e\u0301'.repeat(8), undefined],
    ['7 letters with their accents apart are 7', 'e\u0301'.repeat(7), tooShort],
    ['one character that stands for 18, 8 times, is 144', '\uFDFA'.repeat(8), tooLong],
  ])('counts in the normal form NFKC: %s', (_what, password, refusal) => {
    expect(refusePassword(password, 8)).toBe(refusal);
  });

  test.each(['password1', 'PassWord1', 'ｐａｓｓｗｏｒｄ１', 'iloveyou', 'football'])(
    'refuses a common one, however written: %s',
    (password) => {
      expect(refusePassword(password, 8)).toBe(common);
    },
  );

  test('reads the minimum length from the configuration', () => {
    expect(refusePassword('elevenchars', 12)).toBe('must have at least 12 characters');
    expect(refusePassword('twelve chars', 12)).toBeUndefined();
  });
});

describe('the hash of a password', () => {
  const hasher = createHasher({ pepper: 'a pepper for tests, of no worth at all', cost: 4 });

  test('covers the whole password: passwords that differ after 72 bytes, or after a NUL, have different hashes', async () => {
    const [long, nul] = await Promise.all([
      hasher.hashPassword(`${'x'.repeat(72)}a`),
      hasher.hashPassword('before\0one'),
    ]);
    expect(await hasher.verifyPassword(`${'x'.repeat(72)}a`, long)).toBe(true);
    expect(await hasher.verifyPassword(`${'x'.repeat(72)}b`, long)).toBe(false);
    expect(await hasher.verifyPassword('before\0one', nul)).toBe(true);
    expect(await hasher.verifyPassword('before\0two', nul)).toBe(false);
  });

  test('is salted, and does not match under another pepper', async () => {
    const [first, second] = await Promise.all([
      hasher.hashPassword('the same one'),
      hasher.hashPassword('the same one'),
    ]);
    expect(first).not.toBe(second);
    const other = createHasher({ pepper: 'another pepper, just as long as the first', cost: 4 });
    expect(await other.verifyPassword('the same one', first)).toBe(false);
  });

  test('of an unknown user matches nothing, not even the dummy password', async () => {
    expect(await hasher.verifyPassword('nobody has this password', undefined)).toBe(false);
  });

  test('of a code is bound to the purpose of the code', async () => {
    const hash = await hasher.hashCode('123456', 'verify_email\nada@example.com');
    expect(await hasher.verifyCode('123456', 'verify_email\nada@example.com', hash)).toBe(true);
    expect(await hasher.verifyCode('123456', 'reset_password\nada@example.com', hash)).toBe(false);
    expect(await hasher.verifyCode('123456', 'verify_email\nbob@example.com', hash)).toBe(false);
  });
});
