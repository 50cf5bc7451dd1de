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
    ['8 characters of two UTF-16 units each', '🏮🏔'.repeat(4), undefined],
    ['128 characters of two UTF-16 units each', '🏮🏔'.repeat(64), undefined],
    ['128 characters', 'ab'.repeat(64), undefined],
    ['129 characters', `${'ab'.repeat(64)}c`, tooLong],
    ['spaces, as any characters', `${' '.repeat(7)}a`, undefined],
    ['one kind of character alone', 'quietlyquietly', undefined],
  ])('counts code points: %s', (_what, password, refusal) => {
    expect(refusePassword(password, 8)).toBe(refusal);
  });

  test.each([
    ['4 ligatures are 8 letters', 'ﬁ'.repeat(4), undefined],
    ['8 letters with their accents apart are 8', 'e\u0301o\u0301'.repeat(4), undefined],
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

  test.each(['aaaaaaaa', 'aAaAaAaA', '........', ' '.repeat(9), '🏮'.repeat(8), 'e\u0301é'.repeat(4), 'ａa'.repeat(4)])(
    'refuses one character over and over, however written: %s',
    (password) => {
      expect(refusePassword(password, 8)).toBe('is one character over and over');
    },
  );

  test.each(['Attribution Platform', 'attributionplatform', 'ATTRIBUTION-PLATFORM', 'ａttribution.platform!'])(
    'refuses the name of the platform, however written: %s',
    (password) => {
      expect(refusePassword(password, 8)).toBe('is the name of this platform');
    },
  );

  test.each([
    'Ada.Lovelace+work@Example.com',
    'ADA.LOVELACE+WORK@EXAMPLE.COM',
    'ada.lovelace+work',
    'ada.lovelace',
    'AdaLovelace',
    'ada lovelace',
    'ａda_lovelace',
  ])('refuses the address of the user, and its local part, however written: %s', (password) => {
    expect(refusePassword(password, 8, 'Ada.Lovelace+work@Example.com')).toBe('is your e-mail address');
    expect(refusePassword(password, 8, 'grace@example.com')).toBeUndefined();
  });

  test.each(['ada.lovelace walks', 'example.com', 'lovelace.ada', '!!!!????'])(
    'accepts what only resembles it: %s',
    (password) => {
      expect(refusePassword(password, 8, 'ada.lovelace@example.com')).toBeUndefined();
    },
  );

  test('reads the minimum length from the configuration', () => {
    expect(refusePassword('elevenchars', 12)).toBe('must have at least 12 characters');
    expect(refusePassword('twelve chars', 12)).toBeUndefined();
  });
});

describe('the hash of a password', () => {
  const parties = ['client 198.51.100.1'];
  const hasher = createHasher({ pepper: 'a pepper for tests, of no worth at all', cost: 4 });

  test('covers the whole password: passwords that differ after 72 bytes, or after a NUL, have different hashes', async () => {
    const [long, nul] = await Promise.all([
      hasher.hashPassword(`${'x'.repeat(72)}a`, parties),
      hasher.hashPassword('before\0one', parties),
    ]);
    expect(await hasher.verifyPassword(`${'x'.repeat(72)}a`, long, parties)).toBe(true);
    expect(await hasher.verifyPassword(`${'x'.repeat(72)}b`, long, parties)).toBe(false);
    expect(await hasher.verifyPassword('before\0one', nul, parties)).toBe(true);
    expect(await hasher.verifyPassword('before\0two', nul, parties)).toBe(false);
  });

  test('is salted, and does not match under another pepper', async () => {
    const [first, second] = await Promise.all([
      hasher.hashPassword('the same one', parties),
      hasher.hashPassword('the same one', parties),
    ]);
    expect(first).not.toBe(second);
    const other = createHasher({ pepper: 'another pepper, just as long as the first', cost: 4 });
    expect(await other.verifyPassword('the same one', first, parties)).toBe(false);
  });

  test('of an unknown user matches nothing, not even the dummy password', async () => {
    expect(await hasher.verifyPassword('nobody has this password', undefined, parties)).toBe(false);
  });

  test('of a code is bound to the purpose of the code', async () => {
    const hash = await hasher.hashCode('123456', 'verify_email\nada@example.com', parties);
    expect(await hasher.verifyCode('123456', 'verify_email\nada@example.com', hash, parties)).toBe(true);
    expect(await hasher.verifyCode('123456', 'reset_password\nada@example.com', hash, parties)).toBe(false);
    expect(await hasher.verifyCode('123456', 'verify_email\nbob@example.com', hash, parties)).toBe(false);
  });
});
